// Package bounded reads the files that a user names. Each read has a maximum size, and a pipe that
// sends nothing is an error after some seconds. Errors name the file and the bound.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Maximum sizes in bytes.
const (
	Text   = 64 << 20 // of a text that people or tools write, and of any pipe or device
	Result = 1 << 30  // of a result document or a plan
)

// Silence is how long a pipe may send nothing, also before anything opens it for writing.
const Silence = 10 * time.Second

// ReadFile is os.ReadFile with a maximum size.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.all()
}

// Stdin reads all of stdin.
func Stdin() ([]byte, error) {
	f, err := Of(os.Stdin, Text)
	if err != nil {
		return nil, err
	}
	return f.all()
}

// File is a file that is being read. Reading more than its maximum size is an error.
type File struct {
	file       *os.File
	most, left int64
	size       int64 // 0: not known
	pipe       bool
}

// Open opens a file for reading. A directory and a file that is too large are errors.
func Open(path string, most int64) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe without a writer does not block
	if err != nil {
		return nil, err
	}
	b, err := Of(f, most)
	if err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

// Of bounds the reading of an open file, from where it stands. A directory and a file that is too large are errors.
func Of(f *os.File, most int64) (*File, error) {
	at, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case at.IsDir():
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: unix.EISDIR}
	case !at.Mode().IsRegular():
		most = min(most, Text)
		return &File{f, most, most, 0, at.Mode()&os.ModeNamedPipe != 0}, nil
	case at.Size() > most:
		return nil, tooLarge(f.Name(), most)
	}
	return &File{f, most, most, at.Size(), false}, nil
}

func tooLarge(name string, most int64) error {
	return fmt.Errorf("%s is too large: at most %d MiB of it are read", name, most>>20)
}

func (f *File) Read(into []byte) (int, error) {
	if f.pipe {
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Read(into[:min(int64(len(into)), f.left+1)])
	if f.left -= int64(n); f.left < 0 {
		return 0, tooLarge(f.file.Name(), f.most)
	}
	return n, err
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// wait returns when the pipe can be read or has ended.
func (f *File) wait() error {
	fds := []unix.PollFd{{Fd: int32(f.file.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(Silence); ; {
		n, err := unix.Poll(fds, max(0, int(time.Until(end).Milliseconds())))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n == 0:
			return fmt.Errorf("%s: the pipe sent nothing for %d s", f.file.Name(), int(Silence.Seconds()))
		default:
			return nil
		}
	}
}

func (f *File) all() ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(f.size) + bytes.MinRead)
	_, err := text.ReadFrom(f)
	return text.Bytes(), err
}
