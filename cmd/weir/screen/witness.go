package screen

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"weir/printable"
)

// Witness passes on what is written and keeps the first error: what is printed
// along the way is written by many, none of which can do anything about it.
type Witness struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (w *Witness) Write(p []byte) (int, error) {
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

// Failed says whether anything could not be written.
func (w *Witness) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil
}

// Unread says whether what failed is that nobody reads any further.
func (w *Witness) Unread() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Is(w.err, unix.EPIPE)
}

// fileOf is the file that a writer writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	for {
		switch inner := w.(type) {
		case *Witness:
			w = inner.Writer
		case *printable.Writer:
			w = inner.To
		default:
			f, ok := w.(*os.File)
			return f, ok
		}
	}
}

// Printable is a writer for what a person reads: nothing that others have written does
// anything to the terminal. What is no terminal, a program may read as it is, unless it is the
// stream of messages. Reports for CI runners go to the other stream.
func Printable(w io.Writer, messages bool) io.Writer {
	if styles := isTerminal(w); styles || messages {
		return &printable.Writer{To: w, Styles: styles, Commands: !messages}
	}
	return w
}

// Text is stdout for what people read only: nothing in it is a command to a CI runner.
func Text(stdout io.Writer) io.Writer {
	return &printable.Writer{To: stdout, Styles: isTerminal(stdout)}
}
