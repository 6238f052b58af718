package planner

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"runtime"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"weir/assertion"
)

// Encode is the plan as JSON.
func (p *Plan) Encode() ([]byte, error) {
	var b bytes.Buffer
	err := p.Write(&b)
	return b.Bytes(), err
}

// Write writes the plan as JSON, with its checksum.
func (p *Plan) Write(w io.Writer) error {
	sum, err := write(w, p, slices.Values(p.Cases))
	p.Checksum = sum
	return err
}

// Write writes the plan as Plan().Write does. Not all of its cases are in memory at a time.
func (t *Table) Write(w io.Writer) error {
	_, err := write(w, t.frame(), t.Cases())
	return err
}

// checksum is that of the plan with whatever checksum.
func (p *Plan) checksum() string {
	head, tail := p.parts()
	sum := sha256.New()
	sum.Write(escaped(head))
	separator := []byte(nil)
	err := encoded(slices.Values(p.Cases), func(one caseText) error {
		sum.Write(separator)
		sum.Write(one.summed)
		separator = comma
		return nil
	})
	if err != nil {
		panic(err) // plans hold only finite numbers, strings and booleans
	}
	sum.Write(escaped(tail))
	return sumText(sum)
}

func sumText(sum hash.Hash) string { return text([32]byte(sum.Sum(nil))) }

var comma = []byte(",")

// casesMember is where the cases of a plan stand in its JSON. No text of a plan holds
// these bytes: quotes in texts are escaped.
const casesMember = `"cases":[`

// parts are the compact JSON of a plan before its cases and after them, without checksum.
func (p *Plan) parts() (head, tail []byte) {
	frame := *p
	frame.Cases, frame.Checksum = []*Case{}, ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // assertions are full of < and >
	if err := enc.Encode(&frame); err != nil {
		panic(err) // as in checksum
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	i := bytes.Index(text, []byte(casesMember)) + len(casesMember)
	return text[:i], text[i:]
}

// escaped is JSON as the checksum covers it, with < and > escaped.
func escaped(text []byte) []byte {
	if !bytes.ContainsAny(text, "<>&") && !bytes.Contains(text, []byte("\u2028")[:2]) {
		return text
	}
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.Bytes()
}

// write writes a plan whose cases come one by one, and gives its checksum, which is the
// last member.
func write(w io.Writer, frame *Plan, cases iter.Seq[*Case]) (string, error) {
	head, tail := frame.parts()
	sum := sha256.New()
	sum.Write(escaped(head))
	before, after, err := indented(head, tail)
	if err != nil {
		return "", fmt.Errorf("encoding plan: %w", err)
	}
	if _, err := w.Write(before); err != nil {
		return "", err
	}
	separator, none := []byte("\n    "), true
	err = encoded(cases, func(one caseText) error {
		if !none {
			sum.Write(comma)
		}
		none = false
		sum.Write(one.summed)
		_, err := w.Write(append(separator, one.text...))
		separator = []byte(",\n    ")
		return err
	})
	if err != nil {
		return "", err
	}
	sum.Write(escaped(tail))
	if !none {
		after = append([]byte("\n  "), after...)
	}
	checksum := sumText(sum)
	after = bytes.TrimSuffix(after, []byte("\n}"))
	_, err = fmt.Fprintf(w, "%s,\n  \"checksum\": %q\n}\n", after, checksum)
	return checksum, err
}

// indented are the two parts as people read them.
func indented(head, tail []byte) (before, after []byte, err error) {
	var b bytes.Buffer
	if err := json.Indent(&b, slices.Concat(head, tail), "", "  "); err != nil {
		return nil, nil, err
	}
	member := []byte(`"cases": [`)
	i := bytes.Index(b.Bytes(), member) + len(member)
	return b.Bytes()[:i], b.Bytes()[i:], nil
}

// caseText is the JSON of a case.
type caseText struct {
	text   []byte
	summed []byte // as the checksum covers it
}

// chunk are cases that one processor encodes.
type chunk struct {
	cases []*Case
	lines []caseText
	err   error
	done  chan struct{}
}

const chunkSize = 128

// encoded gives the JSON of each case in order. Cases are encoded on all processors.
func encoded(cases iter.Seq[*Case], emit func(caseText) error) error {
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	stop := make(chan struct{})
	defer close(stop)
	for range workers {
		go func() {
			for c := range work {
				c.encode()
				close(c.done)
			}
		}()
	}
	go func() {
		defer close(work)
		defer close(inOrder)
		hand := func(c *chunk) bool {
			select {
			case inOrder <- c:
			case <-stop:
				return false
			}
			work <- c
			return true
		}
		c := &chunk{done: make(chan struct{})}
		for one := range cases {
			if c.cases = append(c.cases, one); len(c.cases) == chunkSize {
				if !hand(c) {
					return
				}
				c = &chunk{done: make(chan struct{})}
			}
		}
		if len(c.cases) > 0 {
			hand(c)
		}
	}()
	var failed error
	for c := range inOrder {
		<-c.done
		failed = errors.Join(failed, c.err)
		for i := 0; i < len(c.lines) && failed == nil; i++ {
			failed = emit(c.lines[i])
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// lineFormat is as result documents have a launch in a line.
var lineFormat = []jsontext.Options{
	jsontext.SpaceAfterColon(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true),
}

// lineOf is the JSON of a value, which must be encoded without a line break.
func lineOf(v any) (caseText, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return caseText{}, err
	}
	compact := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	text, err := jsontext.AppendFormat(make([]byte, 0, len(compact)*9/8), compact, lineFormat...)
	return caseText{text, escaped(compact)}, err
}

// noAssertions is what a case without assertions has in its JSON. No text of a case holds these
// bytes, and of its members only the status and the reason follow.
var noAssertions = caseText{[]byte(`"assertions": []`), []byte(`"assertions":[]`)}

// encode encodes the cases. Lists of assertions, which most cases of a run share, are encoded once.
func (c *chunk) encode() {
	type list struct {
		first *assertion.Assertion
		n     int
	}
	lists := map[list]caseText{}
	for _, one := range c.cases {
		bare := *one
		bare.Assertions = []assertion.Assertion{}
		var line caseText
		if line, c.err = lineOf(&bare); c.err != nil {
			return
		}
		if n := len(one.Assertions); n > 0 {
			key := list{&one.Assertions[0], n}
			text, known := lists[key]
			if !known {
				if text, c.err = lineOf(one.Assertions); c.err != nil {
					return
				}
				lists[key] = text
			}
			line.text = filled(line.text, noAssertions.text, text.text)
			line.summed = filled(line.summed, noAssertions.summed, text.summed)
		}
		c.lines = append(c.lines, line)
	}
	c.cases = nil
}

// filled is the JSON of a case with the list in the place of its empty one.
func filled(line, empty, list []byte) []byte {
	end := bytes.LastIndex(line, empty) + len(empty)
	return slices.Concat(line[:end-len("[]")], list, line[end:])
}
