package stream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"weir/serving"
)

// said is what an event of a stream, or a whole answer, says, of completions and of chat.
type said struct {
	keep    bool   // content is wanted
	content []byte // text of all choices
	visible bool   // there is content
	output  bool   // generated output on any channel
	choices int
	begins  bool // a role is given: the event begins a message

	finished bool
	broken   string // a finish reason with which a server breaks an answer off; "": none
	usage    usage
	chunk    bool   // it has choices or a usage
	kind     string // its type
	failed   bool   // there is an error in it
	failure  string // which, in the server's words
	told     string // what an object that is no chunk says of an error
}

// read reads an event, or a whole answer.
func (s *said) read(p *scanner) {
	*s = said{keep: s.keep, content: s.content[:0]}
	p.object(func(name []byte) {
		switch string(name) {
		case "choices":
			s.chunk = true
			if !p.null() {
				p.array(func() { s.choice(p) })
			}
		case "usage":
			if !p.null() {
				s.chunk = true
				s.usage.read(p)
			}
		case "error", "errors":
			s.fails(p)
		case "object":
			s.failed = string(p.label()) == "error" || s.failed
		case "type":
			s.kind = string(p.label())
			s.failed = s.kind == "error" || s.failed
		case "message":
			s.told = cmp.Or(p.words(), s.told)
		case "detail", "code":
			s.told = cmp.Or(s.told, p.words())
		default:
			p.skip()
		}
	})
}

func (s *said) choice(p *scanner) {
	if p.null() {
		return
	}
	s.choices++
	before := len(s.content)
	p.object(func(name []byte) {
		wanted := s.keep && len(s.content) == before // text, delta and message may say the same
		switch string(name) {
		case "text":
			s.text(p, wanted)
		case "delta", "message":
			if !p.null() {
				s.message(p, wanted)
			}
		case "finish_reason":
			s.finish(p.text())
		case "error":
			s.fails(p)
		default:
			p.skip()
		}
	})
}

// message takes a delta of a message, or a message. Whatever is not known of it was generated.
func (s *said) message(p *scanner, wanted bool) {
	p.object(func(name []byte) {
		switch {
		case string(name) == "content" && p.kind() == '[':
			p.array(func() { s.part(p, wanted) })
		case string(name) == "content":
			s.text(p, wanted)
		case string(name) == "role":
			s.begins = len(p.label()) > 0
		case string(name) == "error":
			s.fails(p)
		case labels(name):
			p.skip()
		default:
			s.output = p.said(false) || s.output
		}
	})
}

// part takes an element of content that is a list, of which texts are what the user sees.
func (s *said) part(p *scanner, wanted bool) {
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
		default:
			s.output = p.said(true) || s.output
		}
	})
}

// text takes a piece of the content.
func (s *said) text(p *scanner, wanted bool) {
	if p.kind() != '"' || !wanted {
		visible := p.said(false)
		s.visible, s.output = s.visible || visible, s.output || visible
		return
	}
	text := p.text()
	s.content = append(s.content, text...)
	s.visible, s.output = s.visible || len(text) > 0, s.output || len(text) > 0
}

// ends are the finish reasons of an answer that came to its end, in lower case; docs.md of package
// workload/serving has them.
var ends = map[string]bool{
	"stop": true, "length": true, "tool_calls": true, "function_call": true, "content_filter": true, // OpenAI
	"eos_token": true, "stop_sequence": true, "eos": true, // TGI, Together
	"end_turn": true, "max_tokens": true, "tool_use": true, "refusal": true, // Anthropic
	"model_length": true, "max_output": true, "complete": true, // Mistral, MiniMax, Cohere
	"repetition": true, // vLLM, where it is told to look for one
}

func (s *said) finish(reason []byte) {
	if len(reason) == 0 {
		return
	}
	s.finished = true
	if !ends[string(reason)] && !ends[strings.ReplaceAll(strings.ToLower(string(reason)), "-", "_")] {
		s.broken = string(reason)
	}
}

func (s *said) fails(p *scanner) {
	if text := p.words(); text != "" {
		s.failed, s.failure = true, cmp.Or(s.failure, text)
	}
}

// words takes any value, and gives what it says of an error; "": nothing.
func (p *scanner) words() string {
	v := p.value()
	if p.err != nil {
		return ""
	}
	switch v.Kind() {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, v) // its only error is that of text that is no UTF-8
		return string(text)
	case '{', '[':
		var e struct{ Message, Detail string }
		_ = json.Unmarshal(v, &e) // of another form it says nothing
		if v = v.Clone(); v.Compact() == nil && len(v) == len("{}") {
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

// wrong is what is wrong with an answer that says so.
func (s *said) wrong() error {
	switch {
	case s.failed, s.choices == 0 && !s.usage.given && s.told != "":
		return failure(cmp.Or(s.failure, s.told, "error"))
	case s.broken != "":
		return &fault{serving.Truncated,
			Words(fmt.Sprintf("the server broke the answer off: finish_reason %q", s.broken))}
	}
	return s.usage.wrong()
}

func failure(text string) error { return &fault{serving.Status, Words("the endpoint says: " + text)} }

// ofFailure is what an event says whose name is one of an error; err: its data is no JSON.
func (s *said) ofFailure(err error, data []byte) error {
	if err == nil && cmp.Or(s.failure, s.told) != "" {
		return failure(cmp.Or(s.failure, s.told))
	}
	return failure(cmp.Or(string(data), "error"))
}
