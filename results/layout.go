package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
)

// A document is laid out for people with a pager and for programs with little
// memory: what is there once is indented as usual, each member of a case has a line,
// and so has each launch, estimate and assertion of it.

// Encode is the document as JSON. Lists and maps that hold nothing are written
// as empty, not as null, so that readers need no case for it.
func (d *Document) Encode() ([]byte, error) {
	var b bytes.Buffer
	err := d.EncodeTo(&b)
	return b.Bytes(), err
}

// Write writes the document under a temporary name and renames it, so that a
// reader never sees half of it.
func (d *Document) Write(path string) error { return WriteWith(path, d.EncodeTo) }

// encodeAtOnce is how many cases are held as text at a time.
const encodeAtOnce = 256

// EncodeTo writes what Encode gives, sealed, a few cases at a time.
func (d *Document) EncodeTo(w io.Writer) error {
	d.fill()
	d.seal()
	frame := *d
	frame.Cases, frame.Assertions = []*Case{}, []*AssertionVerdict{}
	text, err := compact(&frame)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return fmt.Errorf("encoding results: %w", err)
	}
	head, rest, _ := bytes.Cut(b.Bytes(), []byte("\n  \"cases\": []"))
	between, tail, _ := bytes.Cut(rest, []byte("\n  \"assertions\": []"))
	if _, err := w.Write(append(head, "\n  \"cases\": "...)); err != nil {
		return err
	}
	if err := writeList(w, d.Cases, layCase); err != nil {
		return err
	}
	if _, err := w.Write(append(between, "\n  \"assertions\": "...)); err != nil {
		return err
	}
	if err := writeList(w, d.Assertions, layLine); err != nil {
		return err
	}
	_, err = w.Write(tail)
	return err
}

// writeList writes a member of the document whose elements are laid out each by
// itself, on all processors.
func writeList[T any](w io.Writer, all []T, lay func(b, text []byte) []byte) error {
	if len(all) == 0 {
		_, err := io.WriteString(w, "[]")
		return err
	}
	open := "[\n"
	for some := range slices.Chunk(all, encodeAtOnce) {
		texts, errs := make([][]byte, len(some)), make([]error, len(some))
		workers := runtime.GOMAXPROCS(0)
		var wg sync.WaitGroup
		for first := range workers {
			wg.Go(func() {
				for i := first; i < len(some); i += workers {
					var text []byte
					if text, errs[i] = compact(some[i]); errs[i] == nil {
						texts[i] = lay(make([]byte, 0, len(text)+len(text)/8), text)
					}
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
			open = ",\n"
		}
	}
	_, err := io.WriteString(w, "\n  ]")
	return err
}

// compact is a value as JSON on one line.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // assertions are full of < and >
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding results: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// laidOut are the members of a case whose own members have a line each.
var laidOut = []string{"launches", "metrics", "assertions"}

// layCase appends a case, given as compact JSON.
func layCase(b, text []byte) []byte {
	return lay(b, text, func(depth int, name string) bool { return depth == 1 || depth == 2 && slices.Contains(laidOut, name) })
}

// layLine appends a value on a line of its own.
func layLine(b, text []byte) []byte {
	return lay(b, text, func(int, string) bool { return false })
}

// lay appends a value of the document, given as compact JSON, and has lines for the
// members of those parts at depth one and two that are open. name is the member of the
// value that a part is of.
func lay(b, text []byte, opens func(depth int, name string) bool) []byte {
	const indent = "    "
	line := func(depth int) {
		b = append(b, '\n')
		for range depth {
			b = append(b, "  "...)
		}
		b = append(b, indent...)
	}
	b = append(b, indent...)
	depth, name := 0, ""
	var open [3]bool // by depth
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if depth == 1 {
				name = string(text[i+1 : end])
			}
			b = append(b, text[i:end+1]...)
			i = end
			continue
		}
		lined := func() bool { return depth < len(open) && open[depth] }
		switch c {
		case '{', '[':
			depth++
			b = append(b, c)
			if depth < len(open) {
				open[depth] = text[i+1] != c+2 && opens(depth, name) // neither {} nor []
			}
			if lined() {
				line(depth)
			}
		case '}', ']':
			if lined() {
				line(depth - 1)
			}
			depth--
			b = append(b, c)
		case ',':
			b = append(b, c)
			if lined() {
				line(depth)
			}
		case ':':
			b = append(b, ": "...)
		default:
			b = append(b, c)
		}
	}
	return b
}
