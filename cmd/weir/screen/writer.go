package screen

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/printable"
)

// ErrWriter keeps the first error of its Writer, for output of functions that ignore write errors.
type ErrWriter struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (w *ErrWriter) Write(p []byte) (int, error) {
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

// Err is the first error of a write.
func (w *ErrWriter) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Failed reports whether a write failed.
func (w *ErrWriter) Failed() bool { return w.Err() != nil }

// BrokenPipe reports whether the first error is that the reader has closed the pipe.
func (w *ErrWriter) BrokenPipe() bool {
	return errors.Is(w.Err(), unix.EPIPE)
}

// fileOf is the file below a writer, if there is one.
func fileOf(w io.Writer) (*os.File, bool) {
	for {
		switch inner := w.(type) {
		case *ErrWriter:
			w = inner.Writer
		case *printable.Writer:
			w = inner.To
		default:
			f, ok := w.(*os.File)
			return f, ok
		}
	}
}

// SameFile reports whether two writers write to the same file, such as one terminal.
func SameFile(a, b io.Writer) bool {
	f, isFile := fileOf(a)
	g, isToo := fileOf(b)
	if !isFile || !isToo {
		return false
	}
	of, err := f.Stat()
	too, failed := g.Stat()
	return err == nil && failed == nil && os.SameFile(of, too)
}

// Printable filters control sequences from output to a terminal, and from the stream of messages in any
// case. Other output is for programs and is not filtered. Commands for CI runners may not be messages.
func Printable(w io.Writer, messages bool) io.Writer {
	if styles := isTerminal(w); styles || messages {
		return &printable.Writer{To: w, Styles: styles, Commands: !messages}
	}
	return w
}

// Text is stdout for text that only people read: it also filters commands for CI runners.
func Text(stdout io.Writer) io.Writer {
	return &printable.Writer{To: stdout, Styles: isTerminal(stdout)}
}
