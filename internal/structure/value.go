// Package structure has the values of options that are mappings, lists and texts, and converts them
// from and to Go structs.
package structure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Value is a text, a list or a mapping.
type Value struct {
	Text  string
	Items []*Value // of a list; not nil
	Pairs []Pair   // of a mapping, in the order of the source; not nil
}

// Pair is one key of a mapping with its value.
type Pair struct {
	Key   string
	Value *Value
}

// At returns the value of a key of a mapping; nil: there is none.
func (s *Value) At(key string) *Value {
	for _, p := range s.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// Error is an error in a part of a structure.
type Error struct {
	Path  []string // keys, and indices of lists, that lead to the part
	Err   error
	Known []string // the valid keys, if the last key of the path is unknown; nil: it is another error
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if len(e.Path) > 0 {
		text = strings.Join(e.Path, ".") + ": " + text
	}
	if e.Known != nil {
		text += "; there are " + strings.Join(e.Known, ", ")
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Errors are the errors of several parts, in the order of the structure.
type Errors []*Error

func (e Errors) Error() string {
	var all []string
	for _, one := range e {
		all = append(all, one.Error())
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() (all []error) {
	for _, one := range e {
		all = append(all, one)
	}
	return all
}

// OrNil is nil if there are no errors, and a single error alone.
func (e Errors) OrNil() error {
	switch len(e) {
	case 0:
		return nil
	case 1:
		return e[0]
	}
	return e
}

// Wrong returns an error about the part of a structure at a path.
func Wrong(path []string, format string, args ...any) error {
	return &Error{Path: append([]string{}, path...), Err: fmt.Errorf(format, args...)}
}

// UnknownKey returns the error of a path with an unknown last key.
func UnknownKey(path, known []string) *Error {
	return &Error{Path: append([]string{}, path...), Err: errors.New("there is no such key"), Known: known}
}

// mostNested bounds the depth of a structure.
const mostNested = 16

// Read reads the JSON of a value. All of its scalars are texts.
func Read(text string) (*Value, error) {
	d := json.NewDecoder(strings.NewReader(text))
	s, err := readValue(d, 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is data after its end")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a structure is JSON of mappings, lists and texts: %w", err)
	}
	return s, nil
}

func readValue(d *json.Decoder, depth int) (*Value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if text, ok := t.(string); ok {
		return &Value{Text: text}, nil
	}
	out := &Value{}
	switch {
	case depth == mostNested:
		return nil, fmt.Errorf("more than %d levels", mostNested)
	case t == json.Delim('['):
		out.Items = []*Value{}
	case t == json.Delim('{'):
		out.Pairs = []Pair{}
	default:
		return nil, fmt.Errorf("%v is not a text", t)
	}
	for d.More() {
		p := Pair{}
		if out.Pairs != nil {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			p.Key = key.(string) // the decoder guarantees it
		}
		if p.Value, err = readValue(d, depth+1); err != nil {
			return nil, err
		}
		if out.Pairs != nil {
			out.Pairs = append(out.Pairs, p)
		} else {
			out.Items = append(out.Items, p.Value)
		}
	}
	_, err = d.Token()
	return out, err
}

// IsText reports whether the value is a text.
func (s *Value) IsText() bool { return s.Items == nil && s.Pairs == nil }

// What names the kind of the value.
func (s *Value) What() string {
	switch {
	case s.Items != nil:
		return "a list"
	case s.Pairs != nil:
		return "a mapping"
	}
	return "a text"
}

// Texts returns all texts in it, one on each line.
func (s *Value) Texts() string {
	if s.IsText() {
		return s.Text + "\n"
	}
	var b strings.Builder
	for _, item := range s.Items {
		b.WriteString(item.Texts())
	}
	for _, p := range s.Pairs {
		b.WriteString(p.Value.Texts())
	}
	return b.String()
}

// Flow formats the value on a line for people, with quotes only where necessary.
func (s *Value) Flow() string { return s.FlowTyped(false) }

// FlowTyped is Flow; with typed, strings keep the quotes that distinguish them from other scalars.
func (s *Value) FlowTyped(typed bool) string {
	var parts []string
	switch {
	case typed && s.IsText() && strings.HasPrefix(s.Text, `"`) && IsLiteral(s.Text):
		return s.Text
	case s.IsText():
		if s.Text == "" || strings.ContainsAny(s.Text, " \t\n\"',[]{}") || strings.Contains(s.Text, ": ") {
			var b strings.Builder
			writeText(&b, s.Text)
			return b.String()
		}
		return s.Text
	case s.Items != nil:
		for _, item := range s.Items {
			parts = append(parts, item.FlowTyped(typed))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for _, p := range s.Pairs {
		parts = append(parts, p.Key+": "+p.Value.FlowTyped(typed))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// JSON encodes the value, with the pairs of a mapping in order.
func (s *Value) JSON() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *Value) write(b *strings.Builder) {
	switch {
	case s.IsText():
		writeText(b, s.Text)
	case s.Items != nil:
		b.WriteByte('[')
		for i, item := range s.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i, p := range s.Pairs {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, p.Key)
			b.WriteByte(':')
			p.Value.write(b)
		}
		b.WriteByte('}')
	}
}

// writeText encodes a text as JSON without escaping < and >, which groups of expressions contain.
func writeText(b *strings.Builder, text string) {
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // texts always encode
	b.WriteString(strings.TrimSuffix(line.String(), "\n"))
}
