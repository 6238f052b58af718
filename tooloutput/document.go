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
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	line := func() int { return lines.at(begin + int(decoder.InputOffset())) }
	var value func(depth int) (*node, error)
	value = func(depth int) (*node, error) {
		token, err := decoder.Token()
		if err != nil {
			return nil, at(line(), "no JSON: %w", err)
		}
		n := &node{line: line()}
		if depth > deepest {
			return nil, at(n.line, "the JSON document is nested too deeply")
		}
		switch t := token.(type) {
		case nil:
		case bool:
			n.kind, n.text = boolean, fmt.Sprint(t)
		case json.Number:
			n.kind, n.text = number, t.String()
		case string:
			n.kind, n.text = text, t
		case json.Delim:
			if t == '[' {
				n.kind = list
				for decoder.More() {
					item, err := value(depth + 1)
					if err != nil {
						return nil, err
					}
					n.items = append(n.items, item)
				}
			} else {
				n.kind, n.members = object, map[string]*node{}
				for decoder.More() {
					name, err := value(depth + 1)
					if err != nil {
						return nil, err
					}
					member, err := value(depth + 1)
					if err != nil {
						return nil, err
					}
					if _, ok := n.members[name.text]; ok { // iperf3 has such, none of which tells a result
						member = &node{line: name.line, kind: twice}
					}
					n.members[name.text] = member
				}
			}
			if _, err := decoder.Token(); err != nil {
				return nil, at(line(), "no JSON: %w", err)
			}
		}
		return n, nil
	}
	return value(0)
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
