package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"weir/redact"
	"weir/serving"
)

// chunk is an event of a stream, or a whole answer, of completions and of chat.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Message text            `json:"message"` // of an error that is the answer itself
}

type choice struct {
	Text    text     `json:"text"`
	Delta   *message `json:"delta"`
	Message *message `json:"message"`
	Finish  text     `json:"finish_reason"`
}

type message struct {
	Content   text            `json:"content"`
	Reasoning text            `json:"reasoning"`
	Thought   text            `json:"reasoning_content"`
	Tools     json.RawMessage `json:"tool_calls"`
	Function  json.RawMessage `json:"function_call"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    *struct {
		Cached *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// read reads an event, or a whole answer, of any form.
func (s *said) read(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return malformed("%s", noJSON(data, err))
	}
	if text := c.failure(); text != "" {
		return &fault{serving.Status, text}
	}
	*s = said{content: s.content[:0]}
	if u := c.Usage; u != nil {
		s.counted, s.usage = true, usage{Prompt: u.Prompt, Completion: u.Completion}
		if u.Details != nil && u.Details.Cached != nil {
			s.cached, s.detailed = *u.Details.Cached, true
		}
	}
	for _, o := range c.Choices {
		d := o.delta()
		s.content = append(append(s.content, d.Content...), o.Text...)
		s.thought = s.thought || d.thinks()
		s.finished = s.finished || o.Finish != ""
	}
	return nil
}

// text is a string; null and what else servers write there is none, or its JSON.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case string(b) == "null":
		*t = ""
	case json.Unmarshal(b, &s) == nil:
		*t = text(s)
	case string(b) == "[]":
		*t = ""
	default:
		*t = text(b)
	}
	return nil
}

func (o *choice) delta() message {
	switch {
	case o.Delta != nil:
		return *o.Delta
	case o.Message != nil:
		return *o.Message
	}
	return message{}
}

// thinks says whether something was generated that the user does not see.
func (m message) thinks() bool {
	return m.Reasoning != "" || m.Thought != "" || given(m.Tools) || given(m.Function)
}

func given(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "[]", "{}":
		return false
	}
	return true
}

const mostWords = 200

// failure is what an error inside of an answer says; "": it is none.
func (c *chunk) failure() string {
	if given(c.Error) {
		var e struct {
			Message text `json:"message"`
		}
		if json.Unmarshal(c.Error, &e) == nil && e.Message != "" {
			return Words("the endpoint says: " + string(e.Message))
		}
		return Words("the endpoint says: " + string(c.Error))
	}
	if c.Object == "error" {
		return Words(fmt.Sprintf("the endpoint says: %s", c.Message))
	}
	return ""
}

// Words makes a short line of what a stranger wrote, who may echo a key that was sent.
func Words(s string) string {
	s = redact.Hidden().Beginning(s) // before anything is taken out of it, or cut off
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if i > mostWords {
			return s[:i] + "…"
		}
	}
	return s
}

// mostBegin is how much is shown of what is not understood.
const mostBegin = 40

// Begin is the beginning of what a stranger wrote, in one line.
func Begin(s string) string {
	s = Words(s)
	n := 0
	for i := range s {
		if n++; n > mostBegin {
			return s[:i] + "…"
		}
	}
	return s
}

// noJSON says what is wrong with what should have been an answer in JSON.
func noJSON(data []byte, err error) string {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "what the endpoint sent is JSON of another form: " + Begin(string(data))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "the endpoint sent nothing where JSON is expected"
	}
	return "what the endpoint sent is no JSON: " + Begin(string(data))
}
