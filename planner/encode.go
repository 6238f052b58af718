// Plans as JSON, written case by case.

package planner

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns the plan as JSON.
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

// Write writes the plan as Plan().Write does, but with only some of its cases in memory.
func (t *Table) Write(w io.Writer) error {
	_, err := write(w, t.frame(), t.Cases())
	return err
}

// write writes a plan with one case on each line, and returns its checksum, which is the last
// member. The checksum covers the compact JSON without itself, with < and > escaped.
func write(w io.Writer, frame *Plan, cases iter.Seq[*Case]) (string, error) {
	empty := *frame
	empty.Cases, empty.Checksum = []*Case{}, ""
	compact, err := plainJSON(&empty)
	var indented bytes.Buffer
	if err := errors.Join(err, json.Indent(&indented, compact, "", "  ")); err != nil {
		return "", fmt.Errorf("encoding plan: %w", err)
	}
	// No text of a plan contains these bytes: quotes in texts are escaped.
	summedHead, summedTail := splitAfter(escaped(compact), `"cases":[`)
	head, tail := splitAfter(indented.Bytes(), `"cases": [`)
	sum := sha256.New()
	sum.Write(summedHead)
	if _, err := w.Write(head); err != nil {
		return "", err
	}
	comma, end := "", ""
	err = encodeCases(cases, func(c *encodedCase) error {
		_, err := fmt.Fprintf(w, "%s\n    %s", comma, c.line)
		fmt.Fprintf(sum, "%s%s", comma, c.summed)
		comma, end = ",", "\n  "
		return err
	})
	if err != nil {
		return "", err
	}
	sum.Write(summedTail)
	checksum := text([32]byte(sum.Sum(nil)))
	_, err = fmt.Fprintf(w, "%s%s,\n  \"checksum\": %q\n}\n", end, bytes.TrimSuffix(tail, []byte("\n}")), checksum)
	return checksum, err
}

func splitAfter(text []byte, member string) (before, after []byte) {
	i := bytes.Index(text, []byte(member)) + len(member)
	return text[:i], text[i:]
}

// plainJSON returns compact JSON in which < and > are not escaped, since assertions have many.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// escaped escapes < and > in JSON.
func escaped(text []byte) []byte {
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.Bytes()
}

// encodedCase is the JSON of a case, for the plan and for the checksum.
type encodedCase struct {
	line, summed []byte
	err          error
}

// lineFormat is the format of result documents for one launch per line.
var lineFormat = []jsontext.Options{
	jsontext.SpaceAfterColon(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true),
}

func encodeCase(c *Case) (out encodedCase) {
	compact, err := plainJSON(c)
	if err == nil {
		out.line, err = jsontext.AppendFormat(make([]byte, 0, len(compact)*9/8), compact, lineFormat...)
	}
	out.summed, out.err = escaped(compact), err
	return out
}

// encodeCases passes the JSON of each case to emit, in order. It encodes batches of cases on all
// processors.
func encodeCases(cases iter.Seq[*Case], emit func(*encodedCase) error) error {
	const most = 1024
	chunk, lines := make([]*Case, 0, most), make([]encodedCase, most)
	flush := func() (err error) {
		onAllProcessors(len(chunk), func(i int) { lines[i] = encodeCase(chunk[i]) })
		for i := 0; i < len(chunk) && err == nil; i++ {
			if err = lines[i].err; err == nil {
				err = emit(&lines[i])
			}
		}
		chunk = chunk[:0]
		return err
	}
	for c := range cases {
		if chunk = append(chunk, c); len(chunk) == most {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
