package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// logDir is the agent's log directory. The names of files in it come from a coordinator:
// none leads out of it, neither by ".." nor by a link.
type logDir struct {
	path string
	mu   sync.Mutex
	root *os.Root // nil: there was no log yet
}

func (d *logDir) open() (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != nil {
		return d.root, nil
	}
	err := os.MkdirAll(d.path, 0o755)
	if err == nil {
		d.root, err = os.OpenRoot(d.path)
	}
	return d.root, err
}

// close is called when no task is under way.
func (d *logDir) close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// create makes a log, with the directories above it, and gives the file to write to. A
// log of before is emptied.
func (d *logDir) create(name string) (*logFile, *os.File, error) {
	if err := below("log", name); err != nil {
		return nil, nil, err
	}
	root, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, nil, fmt.Errorf("making a log: %w", err)
	}
	to, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666) // read too, as it is the file that was made
	if err != nil {
		return nil, nil, fmt.Errorf("making a log: %w", err)
	}
	fd, err := unix.FcntlInt(to.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making a log: %w", err), to.Close())
	}
	file := os.NewFile(uintptr(fd), name)
	return &logFile{root: root, name: name, file: file, most: &boundedLog{file: file}}, to, nil
}

// below refuses names of files that are not below a directory, or that have another form.
func below(what, name string) error {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name {
		return fmt.Errorf("the %s %q is not below the agent's log directory", what, name)
	}
	return nil
}

// logFile is a log that a task has made; nil is one that it has not. It stays the same
// file whatever its name stands for later.
type logFile struct {
	root *os.Root
	name string   // below the log directory
	file *os.File // shares its place with whoever writes, so it is only read at places
	most *boundedLog
}

// tail is the last lines before a trace of the Go runtime. What cannot be read has no
// lines.
func (f *logFile) tail() []string { return f.last(logLines) }

func (f *logFile) last(lines int) []string {
	if f == nil {
		return nil
	}
	st, err := f.file.Stat()
	if err != nil {
		return nil
	}
	b := f.read(max(0, st.Size()-tailMax), tailMax)
	if at := trace.FindIndex(b); at != nil {
		b = b[:at[0]]
	}
	return lastLines(b, lines)
}

// Tail is the last lines of the log of a service.
func Tail(file *os.File) []string { return (&logFile{file: file}).last(tailLines) }

// head is the beginning.
func (f *logFile) head() string {
	if f == nil {
		return ""
	}
	return string(f.read(0, headMax))
}

// ends are so much of the beginning, and of the end.
func (f *logFile) ends(most int64) string {
	st, err := f.file.Stat()
	if err != nil {
		return ""
	}
	if st.Size() <= 2*most {
		return string(f.read(0, 2*most))
	}
	return string(f.read(0, most)) + "\n" + string(f.read(st.Size()-most, most))
}

// read reads up to so many bytes from a place; none if that fails.
func (f *logFile) read(from, most int64) []byte {
	b, err := io.ReadAll(io.NewSectionReader(f.file, from, most))
	if err != nil {
		return nil
	}
	return b
}

func (f *logFile) remove() { _ = f.root.Remove(f.name) } // its directory goes with the session

func (f *logFile) close() {
	if f != nil {
		f.file.Close()
	}
}
