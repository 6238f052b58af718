package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weir-bench/weir/workload/serving/load"
)

// parsedEvent is the content of an event of a stream, or of a complete answer, of completions and of chat.
type parsedEvent struct {
	keep bool // keep the content
	// deltas: an event had output in a delta. Then a message repeats all of the output until then.
	deltas  bool
	content []byte // text of all choices
	visible bool   // there is content
	output  bool   // generated output on any channel
	known   bool   // on a channel that is known
	reasons bool   // on a channel of reasoning
	thinks  bool   // its content has a mark of reasoning
	choices int
	// first and last are the lowest and the highest index of a choice with output; first > last: there is none.
	first, last int
	begins      bool // it has a role: the event begins a message

	ends      []int  // indices of the choices that finish with it
	broken    string // an abnormal finish reason; "": none
	usage     usage
	chunk     bool   // it has choices or a usage
	kind      string // value of type
	failed    bool   // it has an error
	failure   string // the server's error text
	errorText string // error text of an object that is no chunk
}

// sure reports whether there is output in members that are known.
func (s *parsedEvent) sure() bool { return s.visible || s.known }

// beyond reports whether there is output that is certainly no content: reasoning, a tool call and the like.
func (s *parsedEvent) beyond() bool { return s.known || s.reasons }

// read parses an event, or a complete answer.
func (s *parsedEvent) read(p *scanner) {
	*s = parsedEvent{
		keep: s.keep, deltas: s.deltas, content: s.content[:0], ends: s.ends[:0], first: math.MaxInt,
	}
	p.object(func(name []byte) {
		switch string(name) {
		case "choices":
			s.chunk = true
			if !p.null() {
				p.array(func() { s.choice(p) })
			}
		case "usage":
			s.counts(p)
		case "x_groq":
			p.optional(func(name []byte) {
				if string(name) == "usage" {
					s.counts(p)
				} else {
					p.skip()
				}
			})
		case "error", "errors":
			s.fails(p)
		case "object":
			s.failed = string(p.label()) == "error" || s.failed
		case "type":
			s.kind = string(p.label())
			s.failed = s.kind == "error" || s.failed
		case "message":
			s.errorText = cmp.Or(string(p.label()), s.errorText)
		case "detail", "code":
			s.errorText = cmp.Or(s.errorText, p.words())
		default:
			p.skip()
		}
	})
}

// counts parses a usage: beside the choices, in a choice, in its delta or in x_groq.
func (s *parsedEvent) counts(p *scanner) {
	if !p.null() {
		s.chunk = true
		s.usage.read(p)
	}
}

func (s *parsedEvent) choice(p *scanner) {
	if p.null() {
		return
	}
	index := s.choices
	s.choices++
	before, others := len(s.content), s.output
	s.output = false
	finished := false
	defer func() {
		if finished {
			s.ends = append(s.ends, index)
		}
		if s.output {
			s.first, s.last = min(s.first, index), max(s.last, index)
		}
		s.output = s.output || others
	}()
	p.object(func(name []byte) {
		wanted := s.keep && len(s.content) == before // text, delta and message may repeat the same
		switch string(name) {
		case "text":
			s.text(p, wanted)
		case "delta":
			if !p.null() {
				s.message(p, wanted)
				s.deltas = s.deltas || s.output
			}
		case "message":
			if s.deltas {
				p.skip()
			} else if !p.null() {
				s.message(p, wanted)
			}
		case "finish_reason":
			finished = s.finish(p.text())
		case "index":
			if p.kind() != '0' {
				p.skip()
			} else if n, _ := p.number(); n >= 0 && n < 1<<20 {
				index = int(n)
			}
		case "usage":
			s.counts(p)
		case "error":
			s.fails(p)
		case "reasoning", "reasoning_content", "thinking":
			s.channel(p, name)
		default:
			p.skip()
		}
	})
}

// channel reads a member of a message that may be output.
func (s *parsedEvent) channel(p *scanner, name []byte) {
	known := channels[string(name)]
	if p.nonEmpty(false) {
		s.output, s.known = true, s.known || known
		s.reasons = s.reasons || bytes.Contains(name, []byte("reason")) || bytes.Contains(name, []byte("think"))
	}
}

// channels are the known members of a message with output.
var channels = map[string]bool{
	"reasoning": true, "reasoning_content": true, "reasoning_details": true, "thinking": true, "thinking_blocks": true,
	"tool_calls": true, "function_call": true, "refusal": true, "audio": true, "images": true,
}

// message parses a delta of a message, or a message. Unknown non-empty members count as output.
func (s *parsedEvent) message(p *scanner, wanted bool) {
	p.object(func(name []byte) {
		switch {
		case string(name) == "content" && p.kind() == '[':
			p.array(func() { s.part(p, wanted) })
		case string(name) == "content":
			s.text(p, wanted)
		case string(name) == "role":
			s.begins = len(p.label()) > 0
		case string(name) == "usage":
			s.counts(p)
		case string(name) == "error":
			s.fails(p)
		case labels(name), describes(name):
			p.skip()
		default:
			s.channel(p, name)
		}
	})
}

// describes reports whether a member of a message says what the message is, and is no part of it.
func describes(name []byte) bool {
	switch string(name) {
	case "name", "channel", "recipient", "phase", "status", "annotations", "context", "extra_content":
		return true
	}
	return false
}

// part parses an element of content that is a list; the user sees its texts.
func (s *parsedEvent) part(p *scanner, wanted bool) {
	if p.kind() != '{' {
		s.text(p, wanted)
		return
	}
	p.object(func(name []byte) {
		switch {
		case string(name) == "text":
			s.text(p, wanted)
		case labels(name):
			p.skip()
		case p.nonEmpty(true):
			s.output, s.known, s.reasons = true, true, true
		}
	})
}

// text adds a piece of the content.
func (s *parsedEvent) text(p *scanner, wanted bool) {
	if p.kind() != '"' {
		visible := p.nonEmpty(false)
		s.visible, s.output = s.visible || visible, s.output || visible
		return
	}
	raw := p.value()
	something := len(raw) > len(`""`)
	s.thinks = s.thinks || bytes.Contains(raw, []byte("think>")) || bytes.Contains(raw, []byte(`think\u003e`))
	if wanted && p.err == nil {
		p.scratch, _ = jsontext.AppendUnquote(p.scratch[:0], raw) // it fails only for invalid UTF-8
		s.content = append(s.content, p.scratch...)
	}
	s.visible, s.output = s.visible || something, s.output || something
}

// ends are the normal finish reasons, in lower case, as in docs.md of package workload/serving.
var ends = map[string]bool{
	"stop": true, "length": true, "tool_calls": true, "function_call": true, "content_filter": true, // OpenAI
	"eos_token": true, "stop_sequence": true, "eos": true, // TGI, Together
	"end_turn": true, "max_tokens": true, "tool_use": true, "refusal": true, // Anthropic
	"model_length": true, "max_output": true, "complete": true, // Mistral, MiniMax, Cohere
	"repetition": true, // vLLM, if configured to detect it
}

// finish reads a finish reason, and reports whether there is one.
func (s *parsedEvent) finish(reason []byte) bool {
	if text := string(reason); text == "" || text == "null" || text == "None" { // of DashScope, and as Python writes it
		return false
	}
	if !ends[string(reason)] && !ends[strings.ReplaceAll(strings.ToLower(string(reason)), "-", "_")] {
		s.broken = string(reason)
	}
	return true
}

func (s *parsedEvent) fails(p *scanner) {
	if text := p.words(); text != "" {
		s.failed, s.failure = true, cmp.Or(s.failure, text)
	}
}

// words parses any value, and returns its error text; "": none.
func (p *scanner) words() string {
	v := p.value()
	if p.err != nil {
		return ""
	}
	switch v.Kind() {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, v) // it fails only for invalid UTF-8
		return string(text)
	case '{', '[':
		var e struct{ Message, Detail string }
		_ = json.Unmarshal(v, &e) // other forms have no error text
		var any any
		if v = v.Clone(); v.Compact() == nil && json.Unmarshal(v, &any) == nil && saysNothing(any) {
			return ""
		}
		return cmp.Or(e.Message, e.Detail, string(v))
	case 't', '0':
		if text := string(v); text != "0" {
			return text
		}
	}
	return ""
}

// saysNothing reports whether a value has only null, false, 0 and empty texts.
func saysNothing(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !saysNothing(item) })
	case map[string]any:
		return saysNothing(slices.Collect(maps.Values(v)))
	}
	return v == nil || v == false || v == 0. || v == ""
}

// wrong returns the error of an answer that reports one.
func (s *parsedEvent) wrong() error {
	switch {
	case s.failed, s.choices == 0 && !s.usage.given && s.errorText != "":
		return failure(cmp.Or(s.failure, s.errorText, "error"))
	case s.broken != "":
		return &fault{load.Truncated,
			Words(fmt.Sprintf("the server broke the answer off: finish_reason %q", s.broken))}
	}
	return s.usage.wrong()
}

func failure(text string) error { return &fault{load.Status, Words("the endpoint says: " + text)} }

// ofFailure returns the error of an event named as an error; err: its data is not JSON.
func (s *parsedEvent) ofFailure(err error, data []byte) error {
	if err == nil && cmp.Or(s.failure, s.errorText) != "" {
		return failure(cmp.Or(s.failure, s.errorText))
	}
	return failure(cmp.Or(string(data), "error"))
}
