package stream

import (
	"fmt"
	"strings"
	"testing"

	"weir/serving"
)

func event(data string) string { return "data: " + data + "\n\n" }

// finished is the end of an answer for a reason, and [DONE].
func finished(reason string) string {
	return event(`{"choices":[{"delta":{},"finish_reason":`+reason+`}]}`) + end
}

// An answer that a server breaks off with status 200 has failed, whatever ends the stream, and says why.
func TestErrorsInsideOfStreams(t *testing.T) {
	for name, c := range map[string]struct {
		piece   string // between two tokens and a good end
		outcome serving.Outcome
		text    string
	}{
		"an event of its own": {
			"event: error\n" + event(`{"code":500,"message":"worker lost"}`), serving.Status, "says: worker lost",
		},
		"an event of its own, with a comment": {
			"event: error\n: worker lost\n\n", serving.Status, "says: worker lost",
		},
		"an event of its own, no JSON": {"event: Error\n" + event("oops"), serving.Status, "says: oops"},
		"an event of its own, nothing": {"event: error\n\n", serving.Status, "says: error"},
		"an event of its own, a chunk": {"event: error\n" + token, serving.Status, `says: {"choices"`},
		"an event of an exception": {
			"event: exception\n" + event(`{"a":1}`), serving.Status, `says: {"a":1}`,
		},
		"error": {
			event(`{"error":{"message":"oom","code":500}}`), serving.Status, "says: oom",
		},
		"error, a text": {event(`{"error":"oom"}`), serving.Status, "says: oom"},
		"error, true":   {event(`{"error":true}`), serving.Status, "says: true"},
		"errors":        {event(`{"errors":[{"message":"oom"}]}`), serving.Status, "oom"},
		"error beside choices": {
			event(`{"choices":[],"error":{"message":"oom"}}`), serving.Status, "says: oom",
		},
		"error in a choice": {
			event(`{"choices":[{"error":{"message":"oom"}}]}`), serving.Status, "says: oom",
		},
		"error in a delta": {
			event(`{"choices":[{"delta":{"error":"oom"}}]}`), serving.Status, "says: oom",
		},
		"object": {
			event(`{"object":"error","message":"oom"}`), serving.Status, "says: oom",
		},
		"object, choices": {
			event(`{"object":"error","choices":[]}`), serving.Status, "says: error",
		},
		"type": {
			event(`{"type":"error","message":"oom"}`), serving.Status, "says: oom",
		},
		"detail": {
			event(`{"detail":"Internal Server Error"}`), serving.Status, "says: Internal Server Error",
		},
		"detail, a list": {
			event(`{"detail":[{"loc":["body"]}]}`), serving.Status, `says: [{"loc"`,
		},
		"detail of an event for others": {"event: x\n" + event(`{"detail":"no"}`), serving.Status, "says: no"},
		"code and message":              {event(`{"code":500,"message":"oom"}`), serving.Status, "says: oom"},
		"code":                          {event(`{"code":500}`), serving.Status, "says: 500"},
		"code and message, no choices": {
			event(`{"choices":[],"code":500,"message":"oom"}`), serving.Status, "says: oom",
		},
		"text": {
			event("Error: CUDA out of memory"), serving.Malformed, "no JSON: Error: CUDA",
		},
		"an object of another form": {
			event(`{"status":"failed"}`), serving.Malformed, `neither choices nor usage: {"status"`,
		},
		"nothing":                       {event("{}"), serving.Malformed, "neither choices nor usage: {}"},
		"null":                          {event("null"), serving.Malformed, "JSON of another form: null"},
		"more than one value":           {event("{} {}"), serving.Malformed, "no JSON: {} {}"},
		"finish_reason of another form": {finished(`{"type":"stop"}`), serving.Malformed, "another form"},
		"finish_reason of one of many choices": {
			event(`{"choices":[{"finish_reason":"stop"},{"finish_reason":"abort"}]}`), serving.Truncated, "abort",
		},
	} {
		rec, err := read(&pieces{[]string{token, token, c.piece, finish, usaged, end}, nil})
		if err != nil || rec.Outcome != c.outcome || !strings.Contains(rec.Error, c.text) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

// What is no answer and no error is passed over.
func TestEventsForOthers(t *testing.T) {
	for _, piece := range []string{
		"event: ping\n" + event(`{"type":"ping"}`), event(`{"type":"ping"}`), "event: ping\n" + event("now"),
		": ping\n\n",
		"event: metrics\n" + event(`{"queue":3}`), "event: x\n\n", "event: message\n" + event(`{"choices":[]}`),
		event(`{"choices":null,"error":null}`), event(`{"choices":[],"error":{},"code":0,"message":""}`),
		event(`{"choices":[{"delta":{"error":""}}],"error":"","message":"success","code":200}`),
		event(`{"choices":[null]}`),
		"event: error\n: x\nevent: message\n\n", "\uFEFF",
	} {
		rec, err := read(&pieces{[]string{piece, token, token, finish, end}, nil})
		if err != nil || rec.Outcome != serving.OK || rec.Output != 2 {
			t.Errorf("%q: %+v, %v", piece, rec, err)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	for reason, outcome := range map[string]serving.Outcome{
		`"stop"`: serving.OK, `"length"`: serving.OK, `"tool_calls"`: serving.OK, `"content_filter"`: serving.OK,
		`"eos_token"`: serving.OK, `"STOP"`: serving.OK, `"Tool-Calls"`: serving.OK, `"end_turn"`: serving.OK,
		`null`: serving.OK, `""`: serving.OK, // [DONE] ends it
		`"abort"`: serving.Truncated, `"error"`: serving.Truncated, `"cancelled"`: serving.Truncated,
		`"error: worker lost"`: serving.Truncated, `"timeout"`: serving.Truncated, `"x"`: serving.Truncated,
	} {
		rec, err := read(&pieces{[]string{token, finished(reason)}, nil})
		if err != nil || rec.Outcome != outcome ||
			outcome != serving.OK && !strings.Contains(rec.Error, strings.Trim(reason, `"`)) {
			t.Errorf("stream, %s: %+v, %v", reason, rec, err)
		}
		whole := record()
		answer := fmt.Sprintf(`{"choices":[{"message":{"content":"hi"},"finish_reason":%s}]}`, reason)
		err = NewReader(whole, limits, func() int64 { return 5 }, nil).Whole(strings.NewReader(answer))
		if err != nil || whole.Outcome != outcome {
			t.Errorf("whole, %s: %+v, %v", reason, whole, err)
		}
	}
}

// An answer that is one document fails as a stream does.
func TestErrorsInsideOfWholeAnswers(t *testing.T) {
	for answer, outcome := range map[string]serving.Outcome{
		`{"error":{"message":"no"}}`: serving.Status, `{"detail":"no"}`: serving.Status,
		`{"code":1,"message":"no"}`: serving.Status,
		`{"object":"error"}`:        serving.Status, `{"choices":[{"text":"a","error":"no"}]}`: serving.Status,
		`{}`: serving.Malformed, `[]`: serving.Malformed, `{"choices":[{"text":"a"}]} x`: serving.Malformed,
		`{"choices":[{"text":"a"}`: serving.Malformed, ``: serving.Malformed, `{"choices":[]}`: serving.Empty,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f"}}]}}]}`: serving.OK,
		`{"choices":[{"text":"a"}],"usage":{"completion_tokens":-1}}`:                         serving.Malformed,
	} {
		rec := record()
		err := NewReader(rec, limits, func() int64 { return 5 }, nil).Whole(strings.NewReader(answer))
		if err != nil || rec.Outcome != outcome || (rec.Error == "") != (outcome == serving.OK) {
			t.Errorf("%s: %+v, %v", answer, rec, err)
		}
	}
}

// Of what is no stream of events one sees what it is.
func TestHowAnAnswerBeginsIsTold(t *testing.T) {
	for content, text := range map[string]string{
		"<html>\n<body>Sign in</body>":     "it begins with <html> <body>Sign in</body>",
		`{"error":{"message":"too long"}}`: `it begins with {"error":{"message":"too long"}}`,
	} {
		if rec, err := read(&pieces{[]string{content}, nil}); err != nil || !strings.Contains(rec.Error, text) {
			t.Errorf("%s: %+v, %v", content, rec, err)
		}
	}
}
