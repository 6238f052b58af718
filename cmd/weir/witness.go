package main

import (
	"io"
	"os"
	"sync"
)

// witness passes on what is written and keeps the first error: what is printed
// along the way is written by many, none of which can do anything about it.
type witness struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (w *witness) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil {
			w.err = err
		}
	}
	return n, err
}

// failed says whether anything could not be written.
func (w *witness) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil
}

// fileOf is the file that a writer writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if inner, ok := w.(*witness); ok {
		w = inner.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}
