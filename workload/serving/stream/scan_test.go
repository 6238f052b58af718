package stream

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// usual are typical events of servers.
var usual = map[string]string{
	"vLLM, role": `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":` +
		`[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
	"vLLM": `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":` +
		`[{"index":0,"delta":{"content":" wörd\n"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
	"vLLM, completions": `{"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m","choices":` +
		`[{"index":0,"text":" word","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}`,
	"vLLM, usage": `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":` +
		`{"prompt_tokens":9,"total_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
	"SGLang": `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` +
		`{"role":null,"content":"x","reasoning_content":null,"tool_calls":null},"logprobs":null,` +
		`"finish_reason":null,"matched_stop":null}],"usage":null}`,
	"Dynamo": `{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"x","function_call":null,` +
		`"tool_calls":null,"role":"assistant","refusal":null,"reasoning_content":null},"finish_reason":null,` +
		`"logprobs":null}],"created":1,"model":"mock","object":"chat.completion.chunk","usage":null}`,
	"thoughts": `{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`,
	"numbers":  `{"choices":[{"text":"x","score":-0.25}],"timings":{"a":[1.5,0,true,false,{}]}}`,
}

// Typical events need no memory allocation.
func TestEventsTakeNoMemory(t *testing.T) {
	data := []byte(usual["Dynamo"])
	s := parsedEvent{keep: true}
	if n := testing.AllocsPerRun(100, func() { _ = scan(data, s.read) }); n > 0 {
		t.Errorf("an event takes %v allocations", n)
	}
}

// plain parses an event by a decoder that keeps all of it.
func plain(data []byte) (s parsedEvent, ok bool) {
	var top map[string]any
	if json.Unmarshal(data, &top) != nil || top == nil {
		return s, false
	}
	list, _ := top["choices"].([]any)
	_, s.chunk = top["choices"]
	var content strings.Builder
	for _, c := range list {
		choice, _ := c.(map[string]any)
		if choice == nil {
			continue
		}
		s.choices++
		add := func(v any) {
			text, _ := v.(string)
			content.WriteString(text)
			s.visible, s.output = s.visible || text != "", s.output || text != ""
		}
		add(choice["text"])
		delta, _ := choice["delta"].(map[string]any)
		for name, v := range delta {
			switch text, isText := v.(string); {
			case name == "content" && isText:
				add(text)
			case name == "role":
				s.begins = s.begins || text != ""
			case name == "error" || labels([]byte(name)):
			default:
				s.output = s.output || something(v, false)
			}
		}
		reason, _ := choice["finish_reason"].(string)
		index := s.choices - 1
		if n, ok := choice["index"].(float64); ok && n >= 0 && n < 1<<20 {
			index = int(n)
		}
		if s.finish([]byte(reason)) {
			s.ends = append(s.ends, index)
		}
	}
	s.content = []byte(content.String())
	return s, true
}

func something(v any, inside bool) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case []any:
		for _, e := range v {
			if something(e, true) {
				return true
			}
		}
	case map[string]any:
		for name, e := range v {
			if !labels([]byte(name)) && something(e, true) {
				return true
			}
		}
	case float64:
		return inside
	case bool:
		return v && inside
	}
	return false
}

func same(a, b parsedEvent) bool {
	return string(a.content) == string(b.content) && a.visible == b.visible && a.output == b.output &&
		slices.Equal(a.ends, b.ends) && a.broken == b.broken && a.choices == b.choices && a.begins == b.begins
}

// The scanner and the complete decoder agree on an event.
func FuzzScan(f *testing.F) {
	for _, data := range usual {
		f.Add([]byte(data))
	}
	for _, data := range []string{
		`{"choices":[{"text":"a","text":"b"}]}`, `{"choices":[1]}`, `{"choices":[]`, `{"error":"no"}`, `{"usage":{}} x`,
		`{"choices":[{"delta":{"content":"\ud83d\ude00\u0000"}},{"text":"\"\\"}]}`,
		"{\"choices\":[{\"text\":\"\xff\"}]}",
		`{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e5}`, `{"a":[1,]}`, `{"a":"\x"}`, `{"usage":{"prompt_tokens":-1}}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, `{"choices":[null]}`, `{"choices":[{"text":["a"]}]}`,
		`{"choices":[{"delta":{"audio":{"id":"a","data":""},"x":[[]],"y":{"z":[0]}},"finish_reason":"Tool-Calls"}]}`,
		`{"usage":{"prompt_tokens_details":{"cached_tokens":null}}}`, `{"u\u0073age":{"completion_tokens":3}}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := parsedEvent{keep: true}
		if scan(data, s.read) != nil || !jsontext.Value(data).IsValid(jsontext.AllowInvalidUTF8(true)) ||
			unread(data) {
			return // members that come twice are read twice
		}
		if want, ok := plain(data); !ok || !same(s, want) {
			t.Errorf("%s: %+v, and by the decoder %+v, %v", data, s, want, ok)
		}
	})
}

// unread reports whether an event has parts that this test's decoder does not read: rare forms of content, and messages
// beside deltas.
func unread(data []byte) bool {
	var c struct {
		Choices []map[string]json.RawMessage `json:"choices"`
	}
	_ = json.Unmarshal(data, &c)
	for _, choice := range c.Choices {
		var delta map[string]json.RawMessage
		_ = json.Unmarshal(choice["delta"], &delta)
		sources := 0
		for _, v := range []json.RawMessage{choice["text"], choice["message"], delta["content"]} {
			if len(v) > 0 && string(v) != "null" {
				sources++
			}
			if len(v) > 0 && v[0] != '"' && string(v) != "null" {
				return true
			}
		}
		if sources > 1 {
			return true
		}
	}
	return false
}

func BenchmarkScan(b *testing.B) {
	data := []byte(usual["Dynamo"])
	var s parsedEvent
	b.ReportAllocs()
	for b.Loop() {
		if scan(data, s.read) != nil {
			b.Fatal("not read")
		}
	}
}
