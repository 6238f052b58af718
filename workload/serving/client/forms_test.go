package client

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

// Events of a chat.
const (
	roleEvent   = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
	tokenEvent  = `{"choices":[{"index":0,"delta":{"content":"a"}}]}`
	emptyEvent  = `{"choices":[{"index":0,"delta":{"content":""}}]}`
	finishEvent = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	threeTokens = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}`
)

func deltaEvent(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

// form is an answer that is written in pieces, a gap apart.
type form struct {
	kind     string // Content-Type; "": that of a stream
	encoding string // Content-Encoding
	events   []string
	raw      []string // instead of events
}

const formGap = 15 * time.Millisecond

// measure sends a request to a server that answers in this form, and returns the index of the pieces that arrived as
// First and Last: -1 for a time that did not occur.
func (f form) measure(t *testing.T, cfg Config) (rec *load.Record, first, last int) {
	t.Helper()
	pieces := f.raw
	for _, e := range f.events {
		pieces = append(pieces, "data: "+e+"\n\n")
	}
	if f.encoding == "gzip" {
		pieces = zipped(pieces...)
	}
	var mu sync.Mutex
	var begins []time.Time
	s := testserver.New(t, func(a *testserver.Answer) {
		if f.encoding != "" {
			a.Header("Content-Encoding", f.encoding)
		}
		switch f.kind {
		case "":
			a.Stream()
		case "none":
			a.Header("Content-Type", "")
			a.Head(200, "")
		default:
			a.Head(200, f.kind)
		}
		for _, p := range pieces {
			time.Sleep(formGap)
			mu.Lock()
			begins = append(begins, time.Now())
			mu.Unlock()
			a.Raw(p)
		}
	})
	cfg.URL, cfg.Chat, cfg.Total = s.URL, true, 10*time.Second
	c := newClient(t, cfg)
	rec = c.Send(t.Context(), request(0), []byte(`{"model":"m"}`))
	mu.Lock()
	defer mu.Unlock()
	var written []int64
	for _, at := range begins {
		written = append(written, at.Sub(c.origin).Nanoseconds())
	}
	piece := func(at int64) int {
		if at == load.Never {
			return -1
		}
		i, found := slices.BinarySearch(written, at)
		if found {
			return i
		}
		return i - 1
	}
	return rec, piece(rec.First), piece(rec.Last)
}

// Answers of every form of which weir knows the tokens are measured by the arrivals of their output.
func TestFormsThatAreMeasured(t *testing.T) {
	plain := []string{roleEvent, tokenEvent, tokenEvent, tokenEvent, finishEvent, threeTokens, "[DONE]"}
	with := func(i int, event string) []string {
		events := slices.Clone(plain)
		events[i] = event
		return events
	}
	lines := func(end string, events ...string) (raw []string) {
		for _, e := range events {
			raw = append(raw, "data:"+e+end+end)
		}
		return raw
	}
	tool := `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]`
	usage := func(members string) string { return `{"choices":[],` + members + `}` }
	second := `{"choices":[{"index":1,"delta":{"content":"b"}}]}`
	both := `{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`
	finished := func(members, delta string) string {
		return `{"choices":[{"index":0,"delta":{` + delta + `},"finish_reason":"stop"` + members + `}]}`
	}
	// As plain: three tokens, in the pieces 1 to 3, by usage.
	for name, c := range map[string]form{
		"plain":                    {events: plain},
		"text/plain":               {kind: "text/plain", events: plain},
		"octet-stream":             {kind: "application/octet-stream", events: plain},
		"events as JSON":           {kind: "application/json", events: plain},
		"gzip of events as JSON":   {kind: "application/json", encoding: "gzip", events: plain},
		"no type":                  {kind: "none", events: plain},
		"a type in upper case":     {kind: "Text/Event-Stream; Charset=UTF-8", events: plain},
		"a type that is not valid": {kind: "text/event-stream;;", events: plain},
		"CRLF, no blank":           {raw: lines("\r\n", plain...)},
		"gzip":                     {encoding: "gzip", events: plain},
		"a comment first": {
			kind: "application/json", raw: append([]string{": x\n\n"}, lines("\n", plain[1:]...)...),
		},
		"reasoning_content": {events: with(1, deltaEvent(`"content":null,"reasoning_content":"hm"`))},
		"reasoning":         {events: with(1, deltaEvent(`"reasoning":"hm"`))},
		"thinking":          {events: with(1, deltaEvent(`"thinking":"hm","content":""`))},
		"thinking_blocks": {
			events: with(1, deltaEvent(`"thinking_blocks":[{"type":"thinking","thinking":"hm"}]`)),
		},
		"reasoning_details": {
			events: with(1, deltaEvent(`"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`)),
		},
		"reasoning of a choice": {events: with(1, `{"choices":[{"index":0,"text":"","reasoning":"hm"}]}`)},
		"a tool call":           {events: with(1, deltaEvent(tool))},
		"usage in a choice":     {events: with(4, finished(`,"usage":{"completion_tokens":3}`, ""))[:5]},
		"usage in a delta":      {events: with(4, finished("", `"usage":{"completion_tokens":3}`))[:5]},
		"usage of x_groq":       {events: with(5, usage(`"x_groq":{"id":"r","usage":{"completion_tokens":3}}`))},
		"usage by other names":  {events: with(5, usage(`"usage":{"input_tokens":9,"output_tokens":3}`))},
		"usage as a named event": {
			raw: append(lines("\n", plain[:5]...), "event: usage\ndata: {\"usage\":{\"completion_tokens\":3}}\n\n"),
		},
		"usage after [DONE]":     {events: append(slices.Clone(plain[:5]), "[DONE]", threeTokens)},
		"usage of zero after it": {events: append(slices.Clone(plain[:6]), usage(`"usage":{}`), "[DONE]")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, first, last := c.measure(t, Config{Stream: true})
			if rec.Outcome != load.OK || first != 1 || last != 3 || len(rec.Events) != 3 || rec.Output != 3 ||
				rec.Source != load.ByUsage {
				t.Errorf("the first is piece %d, the last %d: %+v", first, last, rec)
			}
		})
	}
	for name, c := range map[string]struct {
		events              []string
		first, last, output int
		source              load.TokenSource
		blank               int
		choices             int
	}{
		"empty deltas first":     {with(1, emptyEvent), 2, 3, 3, load.ByUsage, 1, 0},
		"logprobs of no token":   {with(1, deltaEvent(`"content":""`)), 2, 3, 3, load.ByUsage, 1, 0},
		"usage before the end":   {append([]string{threeTokens}, plain[1:5]...), 1, 3, 3, load.ByUsage, 0, 0},
		"a role with a token":    {with(0, deltaEvent(`"role":"a","content":"a"`)), 0, 3, 4, load.ByEvents, 0, 0},
		"a finish with a token":  {with(4, finished("", `"content":"b"`)), 1, 4, 4, load.ByEvents, 0, 0},
		"usage of less":          {with(5, usage(`"usage":{"completion_tokens":1}`)), 1, 3, 3, load.ByEvents, 0, 0},
		"no usage":               {with(5, usage(`"usage":null`)), 1, 3, 3, load.ByEvents, 0, 0},
		"two choices, one event": {with(1, both), 1, 3, 3, load.ByUsage, 0, 2},
		"two choices":            {with(2, second), 1, 3, 3, load.ByUsage, 0, 2},
		"one with index 1":       {[]string{second, second, finishEvent}, 0, 1, 2, load.ByEvents, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, first, last := form{events: c.events}.measure(t, Config{Stream: true, Choices: c.choices})
			if rec.Outcome != load.OK || first != c.first || last != c.last || rec.Output != c.output ||
				rec.Source != c.source || rec.Blank != c.blank {
				t.Errorf("the first is piece %d, the last %d: %+v", first, last, rec)
			}
		})
	}
}

// Other answers are errors that name what came.
func TestFormsThatAreErrors(t *testing.T) {
	packed := strings.Join(zipped("data: "+tokenEvent+"\n\n"), "")
	for name, c := range map[string]struct {
		form
		whole   bool
		outcome load.Outcome
		texts   []string
	}{
		"a document in place of a stream": {
			form{kind: "application/json", raw: []string{`{"choices":[{"message":{"content":"a"}}]}`}}, false,
			load.Malformed, []string{"one JSON document", "stream: false", "Content-Type application/json"},
		},
		"a document that says it is a stream": {
			form{raw: []string{`{"choices":[{"message":{"content":"a"}}]}`}}, false,
			load.Malformed, []string{"one JSON document", "stream: false"},
		},
		"an error that says it is a stream": {
			form{raw: []string{`{"error":{"message":"too long"}}`}}, false, load.Status, []string{"says: too long"},
		},
		"an error of text/plain": {
			form{kind: "text/plain", raw: []string{`{"error":"no"}`}}, false, load.Status, []string{"says: no"},
		},
		"HTML": {
			form{kind: "text/html", raw: []string{"<html>Sign in"}}, false, load.Malformed,
			[]string{"a page, not a stream of events", "begins with <html>Sign in", "Content-Type text/html"},
		},
		"HTML as JSON": {
			form{kind: "application/json", raw: []string{"<html>Sign in"}}, false, load.Malformed,
			[]string{"no JSON: <html>Sign in", "Content-Type application/json"},
		},
		"HTML as a stream": {
			form{raw: []string{"<html>\n\n<p>Sign in\n\n"}}, false, load.Malformed,
			[]string{"begins with <html> <p>Sign in"},
		},
		"lines of JSON": {
			form{kind: "application/x-ndjson", raw: []string{`{"done":false}` + "\n", `{"done":true}` + "\n"}}, false,
			load.Malformed, []string{`several JSON documents, and no events: {"done":false}`, "application/x-ndjson"},
		},
		"gzip without its header": {
			form{raw: []string{packed}}, false, load.Truncated,
			[]string{"begins with the bytes 1f 8b 08", "gzip without Content-Encoding"},
		},
		"other bytes": {
			form{raw: []string{"\x28\xb5\x2f\xfd\x04"}}, false, load.Truncated,
			[]string{"begins with the bytes 28 b5 2f fd 04"},
		},
		"gzip that is cut": {
			form{encoding: "x-gzip", raw: []string{packed[:len(packed)-9]}}, false, load.Truncated,
			[]string{"its gzip data are cut short"},
		},
		"deflate": {
			form{encoding: "deflate", raw: []string{"x"}}, false, load.Malformed,
			[]string{"Content-Encoding deflate"},
		},
		"gzip twice": {
			form{encoding: "gzip, gzip", raw: []string{"x"}}, false, load.Malformed,
			[]string{"Content-Encoding gzip, gzip"},
		},
		"a choice that nobody asked for": {
			form{events: []string{
				tokenEvent, `{"choices":[{"index":1,"delta":{"content":"a"}}]}`, finishEvent, "[DONE]",
			}},
			false, load.Malformed, []string{"several choices (index 0 and 1)"},
		},
		"two choices in an event": {
			form{events: []string{
				`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, "[DONE]",
			}}, false, load.Malformed, []string{"several choices (index 0 and 1)"},
		},
		"events of another interface": {
			form{raw: []string{"event: message_start\ndata: {\"type\":\"message_start\"}\n\n"}}, false, load.Malformed,
			[]string{`no event has choices, and the first is "message_start"`},
		},
		"a stream in place of a document": {
			form{events: []string{tokenEvent, "[DONE]"}}, true, load.Malformed,
			[]string{"no JSON: data: ", "Content-Type text/event-stream"},
		},
		"only empty deltas": {
			form{events: []string{emptyEvent, emptyEvent, finishEvent, "[DONE]"}}, false, load.Empty,
			[]string{"without any output"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, _, _ := c.measure(t, Config{Stream: !c.whole})
			for _, text := range c.texts {
				if rec.Outcome != c.outcome || !strings.Contains(rec.Error, text) {
					t.Errorf("want %q: %+v", text, rec)
				}
			}
			if bytes.ContainsAny([]byte(rec.Error), "\x00\x1b\n") {
				t.Errorf("%q", rec.Error)
			}
		})
	}
}
