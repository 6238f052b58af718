package tooloutput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// node is a value of a JSON document that knows its line.
type node struct {
	line    int
	kind    kind
	text    string // of a text its characters, of a number its digits as they were written
	members map[string]*node
	items   []*node
}

type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
	twice // members of one name that follow each other: an error for whoever needs them
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object",
		"a second member of that name"}[k]
}

// deepest is how far documents may be nested; no tool's are as deep.
const deepest = 100

// document is the one JSON value that an output is.
func document(output []byte) (*node, error) {
	all, err := documents(output)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, at(all[1].line, "a second JSON document, after that of line %d", all[0].line)
	}
	return all[0], nil
}

// documents are the JSON values that follow each other in an output.
func documents(output []byte) ([]*node, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nothing("the output is empty")
	}
	var (
		all     []*node
		raw     json.RawMessage
		decoder = json.NewDecoder(bytes.NewReader(output))
		lines   = lineCounter{text: output, line: 1}
	)
	for {
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) && len(all) > 0 {
			return all, nil
		}
		if err != nil {
			return nil, syntax(output, err, int(decoder.InputOffset()))
		}
		end := int(decoder.InputOffset())
		n, err := tree(raw, &lines, end-len(raw))
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
}

// syntax places what is wrong in a document that begins at an offset or after it.
func syntax(output []byte, err error, begin int) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return at(1+bytes.Count(output, []byte("\n")), "the JSON document is cut short")
	}
	// The decoder's own offset counts from where it likes; that of a check is exact.
	var wrong *json.SyntaxError
	if errors.As(json.Unmarshal(output[begin:], new(json.RawMessage)), &wrong) {
		end := min(begin+int(wrong.Offset), len(output))
		return at(1+bytes.Count(output[:max(end-1, 0)], []byte("\n")), "no JSON: %w", wrong)
	}
	return at(1+bytes.Count(output[:begin], []byte("\n")), "no JSON: %w", err)
}

// lineCounter says on which line offsets are that only grow.
type lineCounter struct {
	text []byte
	done int
	line int
}

func (c *lineCounter) at(offset int) int {
	offset = min(offset, len(c.text))
	if offset > c.done {
		c.line += bytes.Count(c.text[c.done:offset], []byte("\n"))
		c.done = offset
	}
	return c.line
}

// tree takes a valid JSON value apart, which begins at an offset of the output.
func tree(raw []byte, lines *lineCounter, begin int) (*node, error) {
	t := treeReader{decoder: json.NewDecoder(bytes.NewReader(raw)), lines: lines, begin: begin}
	t.decoder.UseNumber()
	return t.value(0)
}

type treeReader struct {
	decoder *json.Decoder
	lines   *lineCounter
	begin   int
}

func (t *treeReader) token() (json.Token, int, error) {
	token, err := t.decoder.Token()
	line := t.lines.at(t.begin + int(t.decoder.InputOffset()))
	if err != nil {
		return nil, 0, at(line, "no JSON: %w", err)
	}
	return token, line, nil
}

func (t *treeReader) value(depth int) (*node, error) {
	token, line, err := t.token()
	if err != nil {
		return nil, err
	}
	if depth > deepest {
		return nil, at(line, "the JSON document is nested too deeply")
	}
	n := &node{line: line}
	switch v := token.(type) {
	case bool:
		n.kind, n.text = boolean, fmt.Sprint(v)
	case json.Number:
		n.kind, n.text = number, v.String()
	case string:
		n.kind, n.text = text, v
	case json.Delim:
		n.kind = list
		if v == '{' {
			n.kind, n.members = object, map[string]*node{}
		}
		for t.decoder.More() {
			if err := t.part(n, depth); err != nil {
				return nil, err
			}
		}
		_, _, err = t.token() // its closing bracket
	}
	return n, err
}

// part reads one item of a list or one member of an object.
func (t *treeReader) part(of *node, depth int) error {
	first, err := t.value(depth + 1)
	if err != nil {
		return err
	}
	if of.kind == list {
		of.items = append(of.items, first)
		return nil
	}
	member, err := t.value(depth + 1)
	if err != nil {
		return err
	}
	if _, ok := of.members[first.text]; ok { // iperf3 has such, none of which tells a result
		member = &node{line: first.line, kind: twice}
	}
	of.members[first.text] = member
	return nil
}

// get is the value below the members named, nil if there is none or it is null. One that
// is there twice is found, and is no number.
func (n *node) get(names ...string) *node {
	for _, name := range names {
		if n == nil || n.kind == twice {
			return n
		}
		if n.kind != object {
			return nil
		}
		n = n.members[name]
	}
	if n != nil && n.kind == null {
		return nil
	}
	return n
}
