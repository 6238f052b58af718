package output

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// jsonValue is a value of a JSON document with its line.
type jsonValue struct {
	line    int
	kind    jsonKind
	text    string // of a text, its characters; of a number, its digits as written
	members map[string]*jsonValue
	items   []*jsonValue
	before  *jsonValue // of a duplicate member, the first one
}

type jsonKind int

const (
	null      jsonKind = iota
	noNumeral          // NaN or Infinity, as Python and C write them
	boolean
	number
	text
	list
	object
	twice // duplicate members: an error if they are needed
)

func (k jsonKind) String() string {
	return [...]string{"null", "NaN or Infinity", "true or false", "a number", "a text", "a list", "an object",
		"a duplicate member"}[k]
}

// maxDepth bounds the nesting of documents; those of tools are less deep.
const maxDepth = 100

// documents returns the consecutive JSON values of an output.
func documents(output []byte) (all []*jsonValue, err error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nothing("the output is empty")
	}
	output = quoteNoNumerals(output)
	t := treeReader{output: output, line: 1, decoder: jsontext.NewDecoder(bytes.NewBuffer(output),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	for {
		if t.decoder.PeekKind() == 0 && len(bytes.TrimSpace(output[t.decoder.InputOffset():])) == 0 {
			return all, nil
		}
		n, err := t.value(0)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
}

// noNumeralMark begins the text that stands for a word such as NaN while a document is read.
const noNumeralMark = "\x00"

var noNumerals = lazyregexp.New(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity|nan|inf)\b`)

// quoteNoNumerals replaces what Python and C write for numbers that JSON does not have, outside of texts.
func quoteNoNumerals(output []byte) []byte {
	return noNumerals().ReplaceAllFunc(output, func(word []byte) []byte {
		switch {
		case word[0] == '"':
			return word
		case bytes.Contains(bytes.ToLower(word), []byte("nan")):
			return []byte(`"\u0000NaN"`)
		case word[0] == '-':
			return []byte(`"\u0000-inf"`)
		}
		return []byte(`"\u0000inf"`)
	})
}

// asWritten undoes quoteNoNumerals for messages.
var asWritten = strings.NewReplacer(`"\u0000NaN"`, "NaN", `"\u0000inf"`, "inf", `"\u0000-inf"`, "-inf")

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}

// treeReader reads a value. Offsets of the decoder only grow, and so do lines.
type treeReader struct {
	decoder *jsontext.Decoder
	output  []byte
	done    int // the offset that line belongs to
	line    int
}

func (t *treeReader) lineAt(offset int64) int {
	t.line += bytes.Count(t.output[t.done:offset], []byte("\n"))
	t.done = int(offset)
	return t.line
}

func (t *treeReader) token() (jsontext.Token, int, error) {
	token, err := t.decoder.ReadToken()
	if err == nil {
		return token, t.lineAt(t.decoder.InputOffset()), nil
	}
	var wrong *jsontext.SyntacticError
	if errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &wrong) {
		return token, 0, at(t.lineAt(int64(len(t.output))), "the JSON document is truncated")
	}
	line := t.lineAt(wrong.ByteOffset)
	const before = 40 // bytes of the line that are shown
	from := int(wrong.ByteOffset)
	if start := bytes.LastIndexByte(t.output[:from], '\n') + 1; from-start <= before {
		from = start
	}
	return token, 0, at(line, "no JSON: %w: %s", wrong.Err, quote(asWritten.Replace(firstLine(t.output[from:]))))
}

func (t *treeReader) value(depth int) (*jsonValue, error) {
	token, line, err := t.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, at(line, "the JSON document is nested too deeply")
	}
	n := &jsonValue{line: line, text: token.String()}
	switch token.Kind() {
	case 't', 'f':
		n.kind = boolean
	case '0':
		n.kind = number
	case '"':
		n.kind = text
		if word, ok := strings.CutPrefix(n.text, noNumeralMark); ok {
			n.kind, n.text = noNumeral, word
		}
	case '[', '{':
		n.kind = list
		if token.Kind() == '{' {
			n.kind, n.members = object, map[string]*jsonValue{}
		}
		n.text = ""
		for k := t.decoder.PeekKind(); k != ']' && k != '}'; k = t.decoder.PeekKind() {
			if err := t.part(n, depth); err != nil {
				return nil, err
			}
		}
		_, _, err = t.token() // the closing bracket
	}
	return n, err
}

// part reads one item of a list or one member of an object.
func (t *treeReader) part(of *jsonValue, depth int) error {
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
	if before, ok := of.members[first.text]; ok { // iperf3 has such members, but none in results
		member = &jsonValue{line: first.line, kind: twice, before: before}
	}
	of.members[first.text] = member
	return nil
}

// find returns the value at a path, nil if there is none or it is null. A duplicate member is
// found, but is not a number.
func (n *jsonValue) find(path string) *jsonValue {
	var steps []step
	if path != "" {
		steps, _ = parsePath(path) // it was parsed when it was loaded
	}
	for i := range steps {
		if n.kind == twice {
			return n
		}
		next, err := walk(n, steps[i:i+1])
		if err != nil {
			return nil
		}
		n = next
	}
	if n.kind == null {
		return nil
	}
	return n
}

// first returns the value at the first of several paths that has one.
func (n *jsonValue) first(paths []string) *jsonValue {
	for _, p := range paths {
		if found := n.find(p); found != nil {
			return found
		}
	}
	return nil
}
