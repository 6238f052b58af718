package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// Read reads a document from a file, or from the results.json of a session
// directory. What many cases have in common, such as the nodes of launches, is one
// value in all of them: who changes it makes a new one.
func Read(path string) (*Document, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer f.Close()
	in, err := again(f)
	if err != nil {
		return nil, fmt.Errorf("reading results %s: %w", path, err)
	}
	d, err := decode(in)
	if err != nil {
		return nil, fmt.Errorf("reading results %s: %w", path, err)
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("%s is a %q document; this weir reads %q", path, d.Schema, Schema)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("reading results %s: %w", path, err)
	}
	return d, nil
}

// sizeLimit is the largest document that is read, in bytes. A case of
// twelve launches with its assertions takes some 20 KiB.
const sizeLimit = 1 << 30

// again is a file that can be read twice, which a pipe and a device cannot.
func again(f *os.File) (io.ReadSeeker, error) {
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return f, nil
	}
	b, err := bounded(f)
	return bytes.NewReader(b), err
}

// bounded reads a file that is not too large to be a document. A device or a
// pipe has no size beforehand, so the limit holds while reading.
func bounded(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, sizeLimit+1))
	if err == nil && len(b) > sizeLimit {
		err = fmt.Errorf("it is larger than %d bytes", sizeLimit)
	}
	return b, err
}

// decode reads a document case by case on all processors, if it is laid out as
// Encode and jq lay it out; else whole.
func decode(in io.ReadSeeker) (*Document, error) {
	d, err := decodeByCase(in)
	if !errors.Is(err, errLayout) {
		return d, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b, err := bounded(in)
	if err != nil {
		return nil, err
	}
	d = new(Document)
	return d, json.Unmarshal(b, d)
}

// errLayout says that a document is laid out in another way, or is none.
var errLayout = errors.New("not laid out by case")

// Lines of a document, without their ends, and two lengths of which files are.
const (
	casesBegin = `  "cases": [`
	caseEnd    = `    }`
	window     = 256 << 10
)

// decodeByCase takes a document apart at lines between which its cases stand. A
// string has no line in it, so where each part is a value by itself and all around
// them is a document, the whole is what the parts are.
func decodeByCase(r io.Reader) (*Document, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, sizeLimit+1), window)
	rest, line, err := until(in, nil, func(line []byte) bool { return string(line) == casesBegin })
	if err != nil || line == nil {
		return nil, errors.Join(err, errLayout)
	}
	crew := newReaders()
	last := false
	for !last && err == nil && line != nil {
		var text []byte
		text, line, err = until(in, crew.buffer(), func(line []byte) bool {
			last = string(line) == caseEnd
			return last || string(line) == caseEnd+","
		})
		if line != nil {
			crew.give(text, !last)
		}
	}
	cases, ok := crew.close()
	if err != nil {
		return nil, err
	}
	if !last || !ok {
		return nil, errLayout
	}
	rest = append(rest, "null\n"...)
	if rest, _, err = until(in, rest, func([]byte) bool { return false }); err != nil {
		return nil, err
	}
	d := new(Document)
	if json.Unmarshal(rest, d) != nil || len(d.Cases) != 1 || d.Cases[0] != nil {
		return nil, errLayout
	}
	d.Cases = cases
	return d, nil
}

// until appends lines up to and with the one that is looked for, which is given
// without its end too; nil at the end of the file.
func until(in *bufio.Reader, b []byte, found func(line []byte) bool) (all, line []byte, err error) {
	start := len(b)
	for {
		part, err := in.ReadSlice('\n')
		b = append(b, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return b, nil, nil
		case err != nil:
			return b, nil, err
		case len(b) > start && found(b[start:len(b)-1]):
			return b, b[start : len(b)-1], nil
		}
		start = len(b)
	}
}

// readers decode cases on all processors, in whatever order, into theirs.
type readers struct {
	cases []*Case
	texts chan caseText
	free  chan []byte
	bad   atomic.Bool
	wg    sync.WaitGroup
}

type caseText struct {
	text []byte // in a buffer that is free afterwards
	into *Case
}

func newReaders() *readers {
	workers := runtime.GOMAXPROCS(0)
	r := &readers{texts: make(chan caseText, 4*workers), free: make(chan []byte, 8*workers)}
	for range workers {
		r.wg.Go(func() {
			seen := newKept()
			for t := range r.texts {
				c, err := decodeCase(t.text, seen)
				if err != nil {
					r.bad.Store(true)
				} else {
					*t.into = *c
				}
				select {
				case r.free <- t.text[:0]:
				default:
				}
			}
		})
	}
	return r
}

// buffer is one for the text of a case.
func (r *readers) buffer() []byte {
	select {
	case b := <-r.free:
		return b
	default:
		return nil
	}
}

// give has the lines of a case decoded. Behind all but the last is a comma.
func (r *readers) give(text []byte, comma bool) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	if comma {
		text = text[:len(text)-1]
	}
	c := new(Case)
	r.cases = append(r.cases, c)
	r.texts <- caseText{text, c}
}

func (r *readers) close() (cases []*Case, ok bool) {
	close(r.texts)
	r.wg.Wait()
	return r.cases, !r.bad.Load()
}
