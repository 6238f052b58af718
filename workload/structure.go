package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Structured is a value of an option of type Structure: a text, a list or a mapping.
type Structured struct {
	Text  string
	Items []*Structured // of a list; not nil
	Pairs []Pair        // of a mapping, in the order in which they were written; not nil
}

// Pair is one key of a mapping with its value.
type Pair struct {
	Key   string
	Value *Structured
}

// At is the value of a key of a mapping; nil: there is none.
func (s *Structured) At(key string) *Structured {
	for _, p := range s.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// StructureError says what is wrong with a part of a structure.
type StructureError struct {
	Path  []string // keys, and indices of lists, that lead to the part
	Err   error
	Known []string // the keys that there are, where that at the end of the path is none; nil: it is another error
}

func (e *StructureError) Error() string {
	text := e.Err.Error()
	if len(e.Path) > 0 {
		text = strings.Join(e.Path, ".") + ": " + text
	}
	if e.Known != nil {
		text += "; there are " + strings.Join(e.Known, ", ")
	}
	return text
}

func (e *StructureError) Unwrap() error { return e.Err }

// Wrong is an error about the part of a structure at a path.
func Wrong(path []string, format string, args ...any) error {
	return &StructureError{Path: append([]string{}, path...), Err: fmt.Errorf(format, args...)}
}

// UnknownKey is the error of a path that ends in a key which is none of the known ones.
func UnknownKey(path, known []string) error {
	return &StructureError{Path: append([]string{}, path...), Err: errors.New("there is no such key"), Known: known}
}

// mostNested bounds how deep a structure is.
const mostNested = 16

// ReadStructure reads the JSON of a structure. All of its scalars are texts.
func ReadStructure(text string) (*Structured, error) {
	d := json.NewDecoder(strings.NewReader(text))
	s, err := readStructured(d, 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something behind its end")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a structure is JSON of mappings, lists and texts: %w", err)
	}
	return s, nil
}

func readStructured(d *json.Decoder, depth int) (*Structured, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if text, ok := t.(string); ok {
		return &Structured{Text: text}, nil
	}
	out := &Structured{}
	switch {
	case depth == mostNested:
		return nil, fmt.Errorf("more than %d levels", mostNested)
	case t == json.Delim('['):
		out.Items = []*Structured{}
	case t == json.Delim('{'):
		out.Pairs = []Pair{}
	default:
		return nil, fmt.Errorf("%v is no text", t)
	}
	for d.More() {
		p := Pair{}
		if out.Pairs != nil {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			p.Key = key.(string) // which the decoder has seen to
		}
		if p.Value, err = readStructured(d, depth+1); err != nil {
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

// IsText says whether the value is a text.
func (s *Structured) IsText() bool { return s.Items == nil && s.Pairs == nil }

// What names the kind of the value.
func (s *Structured) What() string {
	switch {
	case s.Items != nil:
		return "a list"
	case s.Pairs != nil:
		return "a mapping"
	}
	return "a text"
}

// Texts are all texts in it, a line for each.
func (s *Structured) Texts() string {
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

// Flow writes the value on a line, for a person, with quotes only where a text needs them.
func (s *Structured) Flow() string { return s.flow(false) }

func (s *Structured) flow(typed bool) string {
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
			parts = append(parts, item.flow(typed))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for _, p := range s.Pairs {
		parts = append(parts, p.Key+": "+p.Value.flow(typed))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// JSON writes the value, the pairs of a mapping in their order.
func (s *Structured) JSON() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *Structured) write(b *strings.Builder) {
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

// writeText writes a text of JSON with < and > as they are, which groups of expressions have.
func writeText(b *strings.Builder, text string) {
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // texts always encode
	b.WriteString(strings.TrimSuffix(line.String(), "\n"))
}
