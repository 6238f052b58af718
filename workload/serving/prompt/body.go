package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// API is an endpoint of a server.
type API string

// The supported APIs.
const (
	Completions API = "completions"
	Chat        API = "chat"
)

// Path returns the path of the endpoint below the address of the server.
func (a API) Path() string {
	if a == Chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

// Body are the fields of a request besides its prompt.
type Body struct {
	API    API
	Model  string
	Stream bool // with the usage in a last event
	Exact  bool // exactly as many tokens as requested, whatever the model generates
	// Fields are further fields, which replace those of the same name; null removes one.
	Fields map[string]json.RawMessage
}

// reserved are the fields that cannot be replaced, because client and prompts rely on them.
var reserved = []string{"prompt", "messages", "stream"}

func (b Body) check() error {
	if b.API != Completions && b.API != Chat {
		return fmt.Errorf("there is no api %q: write %s or %s", b.API, Completions, Chat)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Fields)) {
		if slices.Contains(reserved, name) {
			return fmt.Errorf("body: %s is an option of its own, and cannot be a further field", name)
		}
		if !json.Valid(b.Fields[name]) {
			return fmt.Errorf("body: the value of %s is no JSON", name)
		}
	}
	return nil
}

// frame returns the bytes before and after the prompt or the messages of a body; output is the number of requested
// tokens, 0 if unspecified.
func (b Body) frame(output int) (before, after []byte) {
	own := map[string]any{"model": b.Model, "stream": b.Stream}
	order := []string{"model", "max_tokens", "min_tokens", "ignore_eos", "stream", "stream_options"}
	if output > 0 {
		own["max_tokens"] = output
		if b.Exact {
			own["min_tokens"], own["ignore_eos"] = output, true
		}
	}
	if b.Stream {
		own["stream_options"] = map[string]bool{"include_usage": true}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Fields)) {
		if own[name] == nil {
			order = append(order, name)
		}
		if own[name] = b.Fields[name]; string(bytes.TrimSpace(b.Fields[name])) == "null" {
			delete(own, name)
		}
	}
	before = append(before, '{')
	for _, name := range order {
		if v, ok := own[name]; ok {
			before = append(encode(before, name), ':')
			before = append(encode(before, v), ',')
			delete(own, name)
		}
	}
	if b.API == Chat {
		return append(before, `"messages":[`...), []byte(`]}`)
	}
	return append(before, `"prompt":`...), []byte{'}'}
}

// asked returns the number of tokens that a request with this output asks for, including changes by further fields; 0:
// unspecified.
func (b Body) asked(output int) int {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if v, ok := b.Fields[name]; ok {
			output = countOf(v)
		}
	}
	for _, name := range []string{"n", "best_of"} { // a server may count tokens that it does not send
		if v, ok := b.Fields[name]; ok {
			return output * countOf(v)
		}
	}
	return output
}

// countOf reads a number from 1 to MaxTokens; 0: it is none.
func countOf(v json.RawMessage) (n int) {
	if json.Unmarshal(v, &n) != nil || n < 1 || n > MaxTokens {
		return 0
	}
	return n
}

// message appends a chat message; its content is JSON.
func message(b []byte, role string, content []byte) []byte {
	b = append(b, `{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":`...)
	b = append(b, content...)
	return append(b, '}')
}

// body makes the JSON of a request. Contents are those of the user's turns, each as JSON, and answers the answers to
// all but the last, as far as there are any.
func (b Body) body(output int, contents [][]byte, answers []string) []byte {
	out, after := b.frame(output)
	if b.API == Completions {
		return append(append(out, contents[0]...), after...)
	}
	for i, content := range contents {
		if i > 0 {
			out = append(out, ',')
		}
		out = message(out, "user", content)
		if i < len(contents)-1 && i < len(answers) {
			out = message(append(out, ','), "assistant", encode(nil, answers[i]))
		}
	}
	return append(out, after...)
}

// encode appends a value as JSON, without the escapes for HTML.
func encode(b []byte, v any) []byte {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // fields are validated, and all other values encode
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
