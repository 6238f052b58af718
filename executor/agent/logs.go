package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/sys/unix"
)

// logDir is the agent's log directory. File names come from a coordinator: none may lead out of the directory, by
// ".." or links.
type logDir struct {
	path string
	mu   sync.Mutex
	root *os.Root // nil: no log so far
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

func (d *logDir) close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// create creates or empties a log, with its directories, and returns also the file to write to.
func (d *logDir) create(name string) (*logFile, *os.File, error) {
	if err := checkLocal("log", name); err != nil {
		return nil, nil, err
	}
	root, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, nil, fmt.Errorf("making a log: %w", err)
	}
	to, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666) // logFile reads it
	if err != nil {
		return nil, nil, fmt.Errorf("making a log: %w", err)
	}
	fd, err := unix.FcntlInt(to.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making a log: %w", err), to.Close())
	}
	file := os.NewFile(uintptr(fd), name)
	return &logFile{root: root, name: name, file: file, bounded: &boundedLog{file: file}}, to, nil
}

// checkLocal refuses file names that are not below a directory or not clean.
func checkLocal(what, name string) error {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name {
		return fmt.Errorf("the %s %q is not below the agent's log directory", what, name)
	}
	return nil
}

// logFile is the log of a task; nil: the task has none.
type logFile struct {
	root    *os.Root
	name    string   // below the log directory
	file    *os.File // shares its offset with writers, so reads give offsets
	bounded *boundedLog
}

// tail are the last lines, without stack traces of the Go runtime; nil: they cannot be read.
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

// Tail are the last lines of the log of a service.
func Tail(file *os.File) []string { return (&logFile{file: file}).last(tailLines) }

func (f *logFile) head() string {
	if f == nil {
		return ""
	}
	return string(f.read(0, headMax))
}

func (f *logFile) headAndTail(most int64) string {
	st, err := f.file.Stat()
	if err != nil {
		return ""
	}
	if st.Size() <= 2*most {
		return string(f.read(0, 2*most))
	}
	return string(f.read(0, most)) + "\n" + string(f.read(st.Size()-most, most))
}

// read reads up to most bytes at an offset; nil: it failed.
func (f *logFile) read(from, most int64) []byte {
	b, err := io.ReadAll(io.NewSectionReader(f.file, from, most))
	if err != nil {
		return nil
	}
	return b
}

func (f *logFile) remove() { _ = f.root.Remove(f.name) } // its directory is removed with the session's

func (f *logFile) close() {
	if f != nil {
		f.file.Close()
	}
}

const (
	logLines = 20
	lineMax  = 500
	tailMax  = 64 << 10
)

// trace matches the beginning of the Go runtime's stack traces, which follow the reason of a crash.
var trace = regexp.MustCompile(`(?m)^(goroutine \d+ |runtime stack:$)`)

// reasons are the prefixes of messages of weir and of the Go runtime that say why a process ends.
var reasons = []string{"weir: ", "fatal error: ", "panic: ", "runtime: ", "runtime/cgo: "}

// lastReason is the last line of a log that says why its process ended.
func lastReason(log []string) (text string, ok bool) {
	for _, line := range slices.Backward(log) {
		for _, r := range reasons {
			if text, ok = strings.CutPrefix(line, r); ok {
				return text, true
			}
		}
	}
	return "", false
}

// lastLines are the last n lines of a text, without control characters.
func lastLines(b []byte, n int) []string {
	b = bytes.TrimRight(b, "\r\n \t")
	if len(b) == 0 {
		return nil
	}
	lines := strings.Split(strings.ToValidUTF8(string(b), "�"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
		if len(line) > lineMax {
			line = strings.ToValidUTF8(line[:lineMax], "") + "…"
		}
		lines[i] = line
	}
	return lines
}

// logPieceSize is how much of a log is reported at a time, in bytes.
const logPieceSize = 1 << 20

// ship reports a complete log and removes it, if the log directory is not the session's. While ranks measure, logs
// stay on the node: sending them would take processor time.
func (a *Agent) ship(task string, log *logFile) {
	if !a.o.ShipLogs || log == nil {
		return
	}
	defer log.remove()
	for from := int64(0); from <= maxOutput; { // a note may follow
		piece := log.read(from, logPieceSize)
		if len(piece) > 0 || from == 0 {
			a.report(Report{Task: task, Log: &Log{Name: log.name, From: from, Text: piece}})
		}
		if from += int64(len(piece)); len(piece) < logPieceSize {
			return
		}
	}
}
