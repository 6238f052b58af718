package stream

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

// pieces returns its texts one read after the other, then an error.
type pieces struct {
	texts []string
	err   error
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.texts) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		return 0, io.EOF
	}
	n := copy(b, p.texts[0])
	if p.texts[0] = p.texts[0][n:]; p.texts[0] == "" {
		p.texts = p.texts[1:]
	}
	return n, nil
}

func record() *load.Record {
	return &load.Record{
		First: load.Never, FirstContent: load.Never, Last: load.Never, Input: load.Unknown,
		Output: load.Unknown, Cached: load.Unknown,
	}
}

var limits = Limits{Bytes: 4 << 20, Events: 1000, Text: 1 << 16}

// read reads an answer; its n-th read comes at n.
func read(p *pieces) (*load.Record, error) {
	rec, at := record(), int64(0)
	r := NewReader(rec, limits, func() int64 { at++; return at }, nil)
	err := r.Events(p)
	return rec, err
}

const (
	role    = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	token   = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	thought = `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n\n"
	tool    = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}` + "\n\n"
	finish  = `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n"
	usaged  = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":0}}}` +
		"\n\n"
	end  = "data: [DONE]\n\n"
	euro = `data: {"choices":[{"delta":{"content":"€"}}]}` + "\n\n"
)

// inEuro is an offset within a character of three bytes.
var inEuro = strings.Index(euro, "€") + 1

func TestOddStreams(t *testing.T) {
	reset := errors.New("reset")
	for name, c := range map[string]struct {
		pieces
		outcome             load.Outcome
		first, content, end int64 // 0: Never
		events, output      int
		source              load.TokenSource
		broken              bool
	}{
		"plain": {
			pieces{[]string{role, token, token, finish, usaged, end}, nil}, load.OK, 2, 2, 3, 2, 4, load.ByUsage,
			false,
		},
		"role late": {pieces{[]string{token, role, token, end}, nil}, load.OK, 1, 1, 3, 2, 2, load.ByEvents,
			false},
		"several events in a read": {
			pieces{[]string{role + token + token, token + finish + end}, nil}, load.OK, 1, 1, 2, 3, 3,
			load.ByEvents, false,
		},
		"an event over several reads": {
			pieces{[]string{token[:9], token[9:30], token[30:] + end}, nil}, load.OK, 3, 3, 3, 1, 1,
			load.ByEvents, false,
		},
		"a character over two reads": {
			pieces{[]string{euro[:inEuro], euro[inEuro:], end}, nil}, load.OK, 2, 2, 2, 1, 1, load.ByEvents,
			false,
		},
		"usage early and again": {
			pieces{[]string{strings.Replace(usaged, `"completion_tokens":4`, `"completion_tokens":0`, 1), token, token,
				usaged, end}, nil}, load.OK, 2, 2, 3, 2, 4, load.ByUsage, false,
		},
		"CRLF, no blank, comments": {
			pieces{[]string{": ping\r\n\r\n", strings.ReplaceAll(strings.Replace(token, "data: ", "data:", 1), "\n",
				"\r\n"),
				"event: x\r\nid: 3\r\n" + end}, nil}, load.OK, 2, 2, 2, 1, 1, load.ByEvents, false,
		},
		"CR": {
			pieces{[]string{
				strings.ReplaceAll(role+token, "\n", "\r"), strings.ReplaceAll(token+end, "\n", "\r"),
			}, nil}, load.OK, 1, 1, 2, 2, 2, load.ByEvents, false,
		},
		"CRLF over two reads": {
			pieces{[]string{strings.TrimSpace(token) + "\r", "\n\r", "\n" + token + end}, nil}, load.OK, 2, 2, 3, 2, 2,
			load.ByEvents, false,
		},
		"CR, and LF": {
			pieces{[]string{strings.TrimSpace(token) + "\r\n\r", strings.TrimSpace(token) + "\n\r", end}, nil},
			load.OK, 1, 1, 2, 2, 2, load.ByEvents, false,
		},
		"an end in quotes": {
			pieces{[]string{token, event(`"[DONE]"`)}, nil}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false,
		},
		"reasoning first": {
			pieces{[]string{role, thought, token, finish, end}, nil}, load.OK, 2, 3, 3, 2, 2, load.ByEvents,
			false,
		},
		"tool calls": {pieces{[]string{role, tool, finish, end}, nil}, load.OK, 2, 0, 2, 1, 1, load.ByEvents,
			false},
		"empty deltas": {
			pieces{
				[]string{role, `data: {"choices":[{"delta":{"content":null,"tool_calls":[]}}]}` + "\n\n", token, end},
				nil,
			},
			load.OK, 3, 3, 3, 1, 1, load.ByEvents, false,
		},
		"completions": {
			pieces{[]string{`data: {"choices":[{"text":"ab","finish_reason":null}]}` + "\n\n", end}, nil}, load.OK,
			1, 1, 1, 1, 1,
			load.ByEvents, false,
		},
		"no DONE":   {pieces{[]string{token, finish}, nil}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false},
		"no finish": {pieces{[]string{token, end}, nil}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false},
		"an end without a line break": {
			pieces{[]string{token, "data: [DONE]"}, nil}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false,
		},
		"usage without an empty line": {
			pieces{[]string{token, finish, strings.TrimSpace(usaged)}, nil}, load.OK, 1, 1, 1, 1, 4, load.ByUsage,
			false,
		},
		"an end that is cut": {
			pieces{[]string{token, "data: [DON"}, nil}, load.Truncated, 1, 1, 1, 1, -1, load.ByNobody, false,
		},
		"an event that is cut": {
			pieces{[]string{token, finish, usaged[:60]}, nil}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false,
		},
		"the whole message again": {
			pieces{[]string{token, token, event(`{"choices":[{"message":{"content":"aa"},"finish_reason":"stop"}]}`)},
				nil}, load.OK, 1, 1, 2, 2, 2, load.ByEvents, false,
		},
		"the message so far beside each delta": {
			pieces{[]string{
				event(`{"choices":[{"message":{"content":"a"},"delta":{"content":"a"}}]}`),
				event(`{"choices":[{"message":{"content":"ab"},"delta":{"content":"b"}}]}`),
				event(`{"choices":[{"message":{"content":"ab"},"delta":{"content":""},"finish_reason":"stop"}]}`),
			}, nil}, load.OK, 1, 1, 2, 2, 2, load.ByEvents, false,
		},
		"neither": {pieces{[]string{role, token}, nil}, load.Truncated, 2, 2, 2, 1, -1, load.ByNobody, false},
		"broken":  {pieces{[]string{role, token}, reset}, load.OK, 2, 2, 2, 1, -1, load.ByNobody, true},

		"broken at the end": {pieces{[]string{token, end}, reset}, load.OK, 1, 1, 1, 1, 1, load.ByEvents, false},
		"nothing generated": {pieces{[]string{role, finish, end}, nil}, load.Empty, 0, 0, 0, 0, -1, load.ByNobody,
			false},
		"an error inside": {
			pieces{[]string{token, `data: {"error":{"message":"out of\nmemory"}}` + "\n\n"}, nil}, load.Status, 1, 1,
			1, 1, -1,
			load.ByNobody, false,
		},
		"an error of another form": {
			pieces{[]string{`data: {"object":"error","message":"no"}` + "\n\n"}, nil}, load.Status, 0, 0, 0, 0, -1,
			load.ByNobody,
			false,
		},
		"no JSON": {pieces{[]string{"data: {\"choices\n\n"}, nil}, load.Malformed, 0, 0, 0, 0, -1, load.ByNobody,
			false},
		"too long": {
			pieces{[]string{"data: " + strings.Repeat("x", maxEvent+1)}, nil}, load.Malformed, 0, 0, 0, 0, -1,
			load.ByNobody, false,
		},
		"usage in each event": {
			pieces{[]string{
				`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}` +
					"\n\n", end,
			},
				nil}, load.OK, 1, 1, 1, 1, 3, load.ByUsage, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := read(&c.pieces)
			never := func(at int64) int64 {
				if at == 0 {
					return load.Never
				}
				return at
			}
			if (err != nil) != c.broken || rec.Outcome != c.outcome || rec.First != never(c.first) ||
				rec.FirstContent != never(c.content) || rec.Last != never(c.end) || len(rec.Events) != c.events {
				t.Fatalf("%+v, %v", rec, err)
			}
			if rec.Output != c.output && !c.broken || rec.Source != c.source && !c.broken || rec.Done == 0 {
				t.Errorf("output %d by %d, done at %d", rec.Output, rec.Source, rec.Done)
			}
			if bad := rec.Outcome != load.OK; bad != (rec.Error != "") || strings.ContainsAny(rec.Error, "\n\x1b") {
				t.Errorf("error %q", rec.Error)
			}
		})
	}
}

func TestCharacterAcrossTwoReads(t *testing.T) {
	rec, err := read(&pieces{[]string{euro[:inEuro], euro[inEuro:], end}, nil})
	if err != nil || rec.Answer != "€" {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestCoalescedEventsAreMarked(t *testing.T) {
	rec, err := read(&pieces{[]string{token, token + token, usaged + end}, nil})
	if err != nil || len(rec.Events) != 3 || rec.Events[0].Coalesced || rec.Events[1].Coalesced ||
		!rec.Events[2].Coalesced {
		t.Errorf("%+v, %v", rec.Events, err)
	}
	if rec.Cached != 0 || rec.Input != 9 || rec.Answer != "aaa" {
		t.Errorf("%+v", rec)
	}
	if rec, _ := read(&pieces{[]string{token, end}, nil}); rec.Cached != load.Unknown {
		t.Errorf("nobody says what was cached, and it is %d", rec.Cached)
	}
}

func TestWhole(t *testing.T) {
	for content, outcome := range map[string]load.Outcome{
		`{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`: load.OK,
		`{"choices":[{"text":"hi"}]}`:                load.OK,
		`{"choices":[{"message":{"content":null}}]}`: load.Empty,
		`{"error":"no"}`:                             load.Status,
		`<html>`:                                     load.Malformed,
	} {
		rec := record()
		err := NewReader(rec, limits, func() int64 { return 5 }, nil).Whole(strings.NewReader(content))
		if err != nil || rec.Outcome != outcome || rec.First != load.Never ||
			(rec.Last == 5) != (outcome == load.OK) {
			t.Errorf("%s: %+v, %v", content, rec, err)
		}
	}
}

// The result does not depend on how an answer is cut into reads.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(role+token+thought+usaged+end), 3)
	f.Add([]byte("data: {}\r\n\r\ndata:[DONE]\n\n"), 1)
	f.Add([]byte("data\n: x\n\ndata: \n\n"), 2)
	f.Fuzz(func(t *testing.T, content []byte, size int) {
		whole, err := read(&pieces{[]string{string(content)}, nil})
		if err != nil {
			t.Fatal(err)
		}
		cut := &pieces{}
		for i := 0; i < len(content); i += max(1, size&1023) {
			cut.texts = append(cut.texts, string(content[i:min(len(content), i+max(1, size&1023))]))
		}
		again, err := read(cut)
		if err != nil || again.Outcome != whole.Outcome || again.Output != whole.Output ||
			again.Answer != whole.Answer ||
			len(again.Events) != len(whole.Events) || again.Error != whole.Error {
			t.Errorf("%+v became %+v, %v", whole, again, err)
		}
	})
}

// The error of invalid JSON shows its beginning.
func TestErrorsShowInvalidJSON(t *testing.T) {
	for data, want := range map[string]string{
		"{nonsense":                        "what the endpoint sent is no JSON: {nonsense",
		"<html>" + strings.Repeat("é", 60): "what the endpoint sent is no JSON: <html>" + strings.Repeat("é", 34) + "…",
		" ":                                "the endpoint sent nothing where JSON is expected",
		`{"choices":"x"}`:                  `what the endpoint sent is JSON of another form: {"choices":"x"}`,
	} {
		if err := noJSON([]byte(data), scan([]byte(data), new(parsedEvent).read)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
}

// Where reads end changes nothing, whatever ends lines.
func TestReadsEndAnywhere(t *testing.T) {
	for _, lineEnd := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(": x\n"+role+euro+token+finish+usaged+end, "\n", lineEnd)
		for first := range len(text) {
			for _, second := range []int{first, first + 1, first + 2} {
				second = min(second, len(text))
				parts := slices.DeleteFunc([]string{text[:first], text[first:second], text[second:]},
					func(part string) bool { return part == "" })
				rec, err := read(&pieces{parts, nil})
				if err != nil || rec.Outcome != load.OK || len(rec.Events) != 2 || rec.Output != 4 ||
					rec.Answer != "€a" {
					t.Fatalf("%q, cut at %d and %d: %+v, %v", lineEnd, first, second, rec, err)
				}
			}
		}
	}
}
