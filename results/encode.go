package results

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Documents are formatted for pagers and line-based tools: session members are indented, and each member
// of a case, launch, estimate and assertion has a line.

// encoding writes deterministically and replaces invalid UTF-8, which logs may contain.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// Encode returns the document as JSON. Empty lists and maps are written as empty, not as null.
func (d *Document) Encode() ([]byte, error) {
	var b bytes.Buffer
	err := d.EncodeTo(&b)
	return b.Bytes(), err
}

// Write writes the document atomically, under a temporary name that is renamed.
func (d *Document) Write(path string) error { return WriteWith(path, d.EncodeTo) }

// encodeAtOnce is the number of cases held as text at a time.
const encodeAtOnce = 256

// EncodeTo writes the sealed document, a few cases at a time.
func (d *Document) EncodeTo(w io.Writer) error {
	if err := d.encodeTo(w); err != nil {
		return fmt.Errorf("encoding results: %w", err)
	}
	return nil
}

func (d *Document) encodeTo(w io.Writer) error {
	head, _, _, err := d.frame()
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	seals := make([]string, len(d.Cases))
	err = writeList(w, d.Cases, func(i int) (text []byte, err error) {
		text, seals[i], err = encodeCase(d.Cases[i])
		return text, err
	})
	if err != nil {
		return err
	}
	if err := d.seal(seals); err != nil {
		return err
	}
	_, between, tail, err := d.frame()
	if err != nil {
		return err
	}
	if _, err := w.Write(between); err != nil {
		return err
	}
	err = writeList(w, d.Assertions, func(i int) ([]byte, error) { return encodeLine(d.Assertions[i]) })
	if err != nil {
		return err
	}
	_, err = w.Write(tail)
	return err
}

// seal sets the seal of the document and those of its cases.
func (d *Document) seal(cases []string) error {
	for i, c := range d.Cases {
		c.Seal = cases[i]
	}
	around := struct {
		Document
		Cases int `json:"cases,omitzero"`
	}{Document: *d}
	around.Seal = ""
	text, err := json.Marshal(&around, encoding)
	if err != nil {
		return err
	}
	d.Seal, err = sealOver(text[:len(text)-1], "", cases)
	return err
}

// frame returns the text of the document around its cases and assertions.
func (d *Document) frame() (head, between, tail []byte, err error) {
	around := *d
	around.Cases, around.Assertions = nil, nil
	text, err := json.Marshal(&around, encoding, jsontext.WithIndent("  "))
	head, text, _ = bytes.Cut(text, []byte("\n  \"cases\": []"))
	between, tail, _ = bytes.Cut(text, []byte("\n  \"assertions\": []"))
	return append(head, "\n  \"cases\": "...), append(between, "\n  \"assertions\": "...), tail, err
}

// writeList encodes a list's elements on all processors and writes them.
func writeList[T any](w io.Writer, all []T, encode func(i int) ([]byte, error)) error {
	if len(all) == 0 {
		_, err := io.WriteString(w, "[]")
		return err
	}
	open := "[\n    "
	for from := 0; from < len(all); from += encodeAtOnce {
		n := min(encodeAtOnce, len(all)-from)
		texts, errs := make([][]byte, n), make([]error, n)
		workers := runtime.GOMAXPROCS(0)
		var wg sync.WaitGroup
		for first := range workers {
			wg.Go(func() {
				for i := first; i < n; i += workers {
					texts[i], errs[i] = encode(from + i)
				}
			})
		}
		wg.Wait()
		for i, text := range texts {
			if errs[i] != nil {
				return errs[i]
			}
			if _, err := io.WriteString(w, open); err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			open = ",\n    "
		}
	}
	_, err := io.WriteString(w, "\n  ]")
	return err
}

// encodeLine encodes a value on one line.
func encodeLine(v any) ([]byte, error) {
	return json.Marshal(v, encoding, jsontext.SpaceAfterColon(true))
}

// expandedMembers are members of a case with a line for each element.
var expandedMembers = []string{`"launches"`, `"metrics"`, `"assertions"`}

// encodeCase encodes a case with its seal as the last member.
func encodeCase(c *Case) (text []byte, seal string, err error) {
	if c == nil {
		return []byte("null"), "", nil
	}
	bare := *c
	bare.Seal = ""
	line, err := encodeLine(&bare)
	if err != nil {
		return nil, "", err
	}
	if seal, err = sealOf(slices.Clone(line), ""); err != nil {
		return nil, "", err
	}
	line = fmt.Appendf(line[:len(line)-1], ",\"seal\": %q}", seal)
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true))
	text, err = appendLines(make([]byte, 0, len(line)+len(line)/8), dec, "\n    ", expandedMembers)
	return text, seal, err
}

// appendLines appends the next value with a line for each member, and for each element of members named in
// deeper.
func appendLines(b []byte, dec *jsontext.Decoder, line string, deeper []string) ([]byte, error) {
	open, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	kind := open.Kind()
	b = append(b, byte(kind))
	inner, between := line+"  ", line+"  "
	for dec.PeekKind() != kind+2 { // } or ]
		b = append(b, between...)
		between = "," + inner
		var name jsontext.Value
		if kind == '{' {
			if name, err = dec.ReadValue(); err != nil {
				return nil, err
			}
			b = append(append(b, name...), ": "...)
		}
		if slices.Contains(deeper, string(name)) {
			b, err = appendLines(b, dec, inner, nil)
		} else {
			var text jsontext.Value
			text, err = dec.ReadValue()
			b = append(b, text...)
		}
		if err != nil {
			return nil, err
		}
	}
	if between != inner {
		b = append(b, line...)
	}
	_, err = dec.ReadToken()
	return append(b, byte(kind+2)), err
}
