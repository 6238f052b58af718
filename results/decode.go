package results

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weir-bench/weir/results/assertion"
)

// decode reads exactly one document, its cases on all processors. With verify, changed says what
// contradicts its seals and its plan.
func decode(in io.Reader, verify bool) (d *Document, changed, err error) {
	dec := jsontext.NewDecoder(in)
	if dec.PeekKind() != '{' {
		return nil, nil, errors.Join(dec.SkipValue(), errors.New("it is no object"))
	}
	_, _ = dec.ReadToken()
	crew := newReaders(verify)
	frame, err := decodeFrame(dec, crew)
	cases, seals, wrong := crew.close()
	if err = errors.Join(err, wrong); err != nil {
		return nil, nil, err
	}
	d = new(Document)
	if err := json.Unmarshal(append(slices.Clone(frame), '}'), d); err != nil {
		return nil, nil, err
	}
	d.Cases = cases
	d.ReadUnsealed = d.Seal == "" && !slices.ContainsFunc(cases, func(c *Case) bool { return c != nil && c.Seal != "" })
	if verify {
		if changed = d.complete(); changed == nil {
			changed = d.verify(seals, frame)
		}
	}
	return d, changed, nil
}

// decodeFrame passes cases to the readers, and returns the text of everything else without its end.
func decodeFrame(dec *jsontext.Decoder, crew *readers) (frame jsontext.Value, err error) {
	next := byte('{')
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		before := len(frame)
		frame = append(append(append(frame, next), name...), ':')
		if string(frame[before+1:]) == `"cases":` && dec.PeekKind() == '[' {
			frame = frame[:before]
			if err := crew.decode(dec); err != nil {
				return nil, err
			}
			continue
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		frame, next = append(frame, value...), ','
	}
	if next == '{' {
		frame = append(frame, '{')
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, fmt.Errorf("something follows the document, at byte %d", dec.InputOffset()))
	}
	return frame, nil
}

// readers decode cases on all processors in any order.
type readers struct {
	cases []*readCase
	todo  chan *readCase
	free  sync.Pool // of buffers
	wg    sync.WaitGroup
}

// readCase is a decoded case with its seal, or an error.
type readCase struct {
	text jsontext.Value
	c    *Case
	seal string
	err  error
}

func newReaders(sealed bool) *readers {
	workers := runtime.GOMAXPROCS(0)
	r := &readers{todo: make(chan *readCase, 4*workers)}
	for range workers {
		r.wg.Go(func() {
			options := sharing()
			for t := range r.todo {
				t.err = json.Unmarshal(t.text, &t.c, options)
				if t.err == nil && sealed && t.c != nil {
					t.seal, t.err = sealOf(t.text, t.c.Seal)
				}
				buffer := t.text[:0]
				r.free.Put(&buffer)
				t.text = nil
			}
		})
	}
	return r
}

// decode reads the list of cases.
func (r *readers) decode(dec *jsontext.Decoder) error {
	_, _ = dec.ReadToken()
	for dec.PeekKind() != ']' {
		text, err := dec.ReadValue()
		if err != nil {
			return err
		}
		t := new(readCase)
		if buffer, ok := r.free.Get().(*jsontext.Value); ok {
			t.text = *buffer
		}
		t.text = append(t.text, text...)
		r.cases = append(r.cases, t)
		r.todo <- t
	}
	_, err := dec.ReadToken()
	return err
}

// close returns the cases with the seals computed from their text.
func (r *readers) close() (cases []*Case, seals []string, err error) {
	close(r.todo)
	r.wg.Wait()
	for i, t := range r.cases {
		if t.err != nil {
			return nil, nil, fmt.Errorf("case %d: %w", i, t.err)
		}
		cases, seals = append(cases, t.c), append(seals, t.seal)
	}
	return cases, seals, nil
}

// sharing decodes values that many cases share only once, which saves most of the memory. Duplicate names
// in objects were rejected before.
func sharing() json.Options {
	var launch, estimates []string
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(json.JoinUnmarshalers(
		interned[string](), interned[[]string](), interned[[]Transport](), interned[[]ProviderFact](),
		interned[[]Variable](),
		interned[[]Binding](), interned[*assertion.Expr](),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, m *MetricValues) error { return m.readJSON(dec, &launch) }),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder,
			n *Named[MetricEstimate]) error {
			return n.readJSON(dec, &estimates)
		}),
	)))
}

// mostKept limits the number of values kept for sharing.
const mostKept = 4096

// interned decodes each text of a type once.
func interned[T any]() *json.Unmarshalers {
	seen := map[string]T{}
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
		text, err := dec.ReadValue()
		if err != nil {
			return err
		}
		v, ok := seen[string(text)]
		if !ok {
			if err := json.Unmarshal(text, &v); err != nil {
				return err
			}
			if len(seen) < mostKept {
				seen[string(text)] = v
			}
		}
		*into = v
		return nil
	})
}
