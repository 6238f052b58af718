package stream

import (
	"reflect"
	"testing"

	"weir/test/phase"
)

// usual are events as servers send them.
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

// What servers send usually needs no general decoder and no memory.
func TestUsualEventsAreScanned(t *testing.T) {
	for name, data := range usual {
		var fast, slow said
		if !fast.scan([]byte(data)) {
			t.Errorf("%s: not scanned", name)
		}
		if err := slow.read([]byte(data)); err != nil || !same(fast, slow) {
			t.Errorf("%s: %+v, and by the decoder %+v, %v", name, fast, slow, err)
		}
	}
	data := []byte(usual["Dynamo"])
	var s said
	s.scan(data)
	// under the race detector a pool keeps little
	if n := testing.AllocsPerRun(100, func() { s.scan(data) }); n > 0 && !phase.Race {
		t.Errorf("an event takes %v allocations", n)
	}
}

func same(a, b said) bool {
	return string(a.content) == string(b.content) && a.thought == b.thought && a.finished == b.finished &&
		a.counted == b.counted && a.detailed == b.detailed && a.cached == b.cached &&
		reflect.DeepEqual(a.usage, b.usage)
}

// An event that is scanned says what the decoder says; whatever else comes is left to it.
func FuzzScan(f *testing.F) {
	for _, data := range usual {
		f.Add([]byte(data))
	}
	for _, data := range []string{
		`{"choices":[{"Text":"a"}]}`, `{"choices":[{"text":"a","text":"b"}]}`, `{"choices":[1]}`, `{"choices":[]`,
		`{"choices":[{"text":"a","delta":{"content":"b"}}]}`, `{"error":"no"}`, `{"object":"error"}`, `{"usage":{}} x`,
		`{"choices":[{"delta":{"content":"\ud83d\ude00\u0000"}},{"text":"\"\\"}]}`,
		"{\"choices\":[{\"text\":\"\xff\"}]}",
		`{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e5}`, `{"a":[1,]}`, `{"a":"\x"}`, `{"usage":{"prompt_tokens":-1}}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, `{"choices":[null]}`, `{"choices":[{"text":["a"]}]}`,
		`{"usage":{"prompt_tokens_details":{"cached_tokens":null}}}`, `{"u\u0073age":{"completion_tokens":3}}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fast, slow said
		if !fast.scan(data) {
			return
		}
		if err := slow.read(data); err != nil || !same(fast, slow) {
			t.Errorf("%s: %+v, and by the decoder %+v, %v", data, fast, slow, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	data := []byte(usual["Dynamo"])
	var s said
	for name, one := range map[string]func() bool{
		"scan": func() bool { return s.scan(data) }, "decoder": func() bool { return s.read(data) == nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !one() {
					b.Fatal("not read")
				}
			}
		})
	}
}
