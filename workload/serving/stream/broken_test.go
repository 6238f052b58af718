package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

func event(data string) string { return "data: " + data + "\n\n" }

// finished is the end of an answer with a finish reason, and [DONE].
func finished(reason string) string {
	return event(`{"choices":[{"delta":{},"finish_reason":`+reason+`}]}`) + end
}

// An answer of status 200 that the server breaks off has failed with the reason, however the stream ends.
func TestErrorsInsideOfStreams(t *testing.T) {
	for name, c := range map[string]struct {
		piece   string // between two tokens and a good end
		outcome load.Outcome
		text    string
	}{
		"an event of its own": {
			"event: error\n" + event(`{"code":500,"message":"worker lost"}`), load.Status, "says: worker lost",
		},
		"an event of its own, with a comment": {
			"event: error\n: worker lost\n\n", load.Status, "says: worker lost",
		},
		"an event of its own, no JSON": {"event: Error\n" + event("oops"), load.Status, "says: oops"},
		"an event of its own, nothing": {"event: error\n\n", load.Status, "says: error"},
		"an event of its own, a chunk": {"event: error\n" + token, load.Status, `says: {"choices"`},
		"an event of an exception": {
			"event: exception\n" + event(`{"a":1}`), load.Status, `says: {"a":1}`,
		},
		"error": {
			event(`{"error":{"message":"oom","code":500}}`), load.Status, "says: oom",
		},
		"error, a text": {event(`{"error":"oom"}`), load.Status, "says: oom"},
		"error, true":   {event(`{"error":true}`), load.Status, "says: true"},
		"errors":        {event(`{"errors":[{"message":"oom"}]}`), load.Status, "oom"},
		"error beside choices": {
			event(`{"choices":[],"error":{"message":"oom"}}`), load.Status, "says: oom",
		},
		"error in a choice": {
			event(`{"choices":[{"error":{"message":"oom"}}]}`), load.Status, "says: oom",
		},
		"error in a delta": {
			event(`{"choices":[{"delta":{"error":"oom"}}]}`), load.Status, "says: oom",
		},
		"object": {
			event(`{"object":"error","message":"oom"}`), load.Status, "says: oom",
		},
		"object, choices": {
			event(`{"object":"error","choices":[]}`), load.Status, "says: error",
		},
		"type": {
			event(`{"type":"error","message":"oom"}`), load.Status, "says: oom",
		},
		"detail": {
			event(`{"detail":"Internal Server Error"}`), load.Status, "says: Internal Server Error",
		},
		"detail, a list": {
			event(`{"detail":[{"loc":["body"]}]}`), load.Status, `says: [{"loc"`,
		},
		"detail of an event for others": {"event: x\n" + event(`{"detail":"no"}`), load.Status, "says: no"},
		"code and message":              {event(`{"code":500,"message":"oom"}`), load.Status, "says: oom"},
		"code":                          {event(`{"code":500}`), load.Status, "says: 500"},
		"code and message, no choices": {
			event(`{"choices":[],"code":500,"message":"oom"}`), load.Status, "says: oom",
		},
		"text": {
			event("Error: CUDA out of memory"), load.Malformed, "no JSON: Error: CUDA",
		},
		"an object of another form": {
			event(`{"status":"failed"}`), load.Malformed, `neither choices nor usage: {"status"`,
		},
		"nothing":                       {event("{}"), load.Malformed, "neither choices nor usage: {}"},
		"null":                          {event("null"), load.Malformed, "JSON of another form: null"},
		"more than one value":           {event("{} {}"), load.Malformed, "several JSON documents"},
		"finish_reason of another form": {finished(`{"type":"stop"}`), load.Malformed, "another form"},
		"finish_reason of one of many choices": {
			event(`{"choices":[{"finish_reason":"stop"},{"finish_reason":"abort"}]}`), load.Truncated, "abort",
		},
	} {
		rec, err := read(&pieces{[]string{token, token, c.piece, finish, usaged, end}, nil})
		if err != nil || rec.Outcome != c.outcome || !strings.Contains(rec.Error, c.text) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

// Events that are neither output nor errors are ignored.
func TestUnknownEventsAreIgnored(t *testing.T) {
	for _, piece := range []string{
		"event: ping\n" + event(`{"type":"ping"}`), event(`{"type":"ping"}`), "event: ping\n" + event("now"),
		": ping\n\n",
		"event: metrics\n" + event(`{"queue":3}`), "event: x\n\n", "event: message\n" + event(`{"choices":[]}`),
		event(`{"choices":null,"error":null}`), event(`{"choices":[],"error":{},"code":0,"message":""}`),
		event(`{"choices":[{"delta":{"error":""}}],"error":"","message":"success","code":200}`),
		event(`{"choices":[null]}`), event(`{"choices":[],"error":{"message":null,"code":0,"of":[{"a":""}]}}`),
		event(`{"choices":[],"usage":{"completion_tokens":2,"prompt_tokens_details":[]},"x_groq":"x"}`),
		"event: error\n: x\nevent: message\n\n", "\uFEFF",
	} {
		rec, err := read(&pieces{[]string{piece, token, token, finish, end}, nil})
		if err != nil || rec.Outcome != load.OK || rec.Output != 2 {
			t.Errorf("%q: %+v, %v", piece, rec, err)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	for reason, outcome := range map[string]load.Outcome{
		`"stop"`: load.OK, `"length"`: load.OK, `"tool_calls"`: load.OK, `"content_filter"`: load.OK,
		`"eos_token"`: load.OK, `"STOP"`: load.OK, `"Tool-Calls"`: load.OK, `"end_turn"`: load.OK,
		`null`: load.OK, `""`: load.OK, `"null"`: load.OK, `"None"`: load.OK, // [DONE] ends it
		`"abort"`: load.Truncated, `"error"`: load.Truncated, `"cancelled"`: load.Truncated,
		`"error: worker lost"`: load.Truncated, `"timeout"`: load.Truncated, `"x"`: load.Truncated,
	} {
		rec, err := read(&pieces{[]string{token, finished(reason)}, nil})
		if err != nil || rec.Outcome != outcome ||
			outcome != load.OK && !strings.Contains(rec.Error, strings.Trim(reason, `"`)) {
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
	for answer, outcome := range map[string]load.Outcome{
		`{"error":{"message":"no"}}`: load.Status, `{"detail":"no"}`: load.Status,
		`{"code":1,"message":"no"}`: load.Status,
		`{"object":"error"}`:        load.Status, `{"choices":[{"text":"a","error":"no"}]}`: load.Status,
		`{}`: load.Malformed, `[]`: load.Malformed, `{"choices":[{"text":"a"}]} x`: load.Malformed,
		`{"choices":[{"text":"a"}`: load.Malformed, ``: load.Malformed, `{"choices":[]}`: load.Empty,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f"}}]}}]}`: load.OK,
		`{"choices":[{"text":"a"}],"usage":{"completion_tokens":-1}}`:                         load.Malformed,
	} {
		rec := record()
		err := NewReader(rec, limits, func() int64 { return 5 }, nil).Whole(strings.NewReader(answer))
		if err != nil || rec.Outcome != outcome || (rec.Error == "") != (outcome == load.OK) {
			t.Errorf("%s: %+v, %v", answer, rec, err)
		}
	}
}

// The error of an answer that is no stream of events shows its beginning.
func TestErrorsShowTheBeginningOfAnAnswer(t *testing.T) {
	for content, text := range map[string]string{
		"<html>\n<body>Sign in</body>":              "it begins with <html> <body>Sign in</body>",
		`{"error":{"message":"too long"}}`:          `it begins with {"error":{"message":"too long"}}`,
		strings.ReplaceAll(token+end, "\n\n", "\n"): "no empty line ends its first event; it begins with data: {",
		"event: message_start\n" + event(`{"message":{"role":"assistant"}}`) + "event: x\n" + event(
			`{"usage":{"output_tokens":15}}`): `no event has choices, and the first is "message_start", of another API`,
		event(`{"message":{"role":"assistant","content":"a"}}`): "neither choices nor usage",
	} {
		if rec, err := read(&pieces{[]string{content}, nil}); err != nil || !strings.Contains(rec.Error, text) {
			t.Errorf("%s: %+v, %v", content, rec, err)
		}
	}
}

// An answer of several choices ends with a finish reason for each of them, or with [DONE]; what comes after a finish
// reason or [DONE] is no end.
func TestEndOfSeveralChoices(t *testing.T) {
	choice := func(i int, reason string) string {
		return event(fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"},"finish_reason":%s}]}`, i, reason))
	}
	both := event(`{"choices":[{"text":"a","finish_reason":"stop"},{"index":1,"finish_reason":"length"}]}`)
	for name, c := range map[string]struct {
		choices int
		pieces  []string
		text    string // of the error
	}{
		"each ends":              {2, []string{choice(0, "null"), choice(1, `"stop"`), choice(0, `"length"`)}, ""},
		"both in an event":       {2, []string{both}, ""},
		"one ends, and [DONE]":   {2, []string{choice(0, `"stop"`), choice(1, "null"), end}, ""},
		"cut after one":          {2, []string{choice(0, `"stop"`), choice(1, "null")}, "1 of 2 choices"},
		"cut before the other":   {2, []string{choice(0, `"stop"`)}, "1 of 2 choices"},
		"cut, with usage":        {2, []string{choice(0, `"stop"`), choice(1, "null"), usaged}, "1 of 2 choices"},
		"one ends twice":         {2, []string{choice(0, `"stop"`), choice(0, `"stop"`)}, "1 of 2 choices"},
		"it goes on":             {1, []string{choice(0, `"stop"`), choice(0, "null")}, "without a finish reason"},
		"it goes on, and ends":   {1, []string{choice(0, `"stop"`), choice(0, `"stop"`)}, ""},
		"an unknown member last": {1, []string{choice(0, `"stop"`), delta(`"stats":{"a":1}`)}, ""},
		"output after [DONE]":    {1, []string{choice(0, `"stop"`), end, choice(0, "null")}, "output after [DONE]"},
	} {
		rec, at, limits := record(), int64(0), limits
		limits.Choices = c.choices
		r := NewReader(rec, limits, func() int64 { at++; return at }, nil)
		err := r.Events(&pieces{c.pieces, nil})
		if err != nil || (rec.Outcome == load.OK) != (c.text == "") || !strings.Contains(rec.Error, c.text) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}
