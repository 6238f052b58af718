package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// newFile is the mode of new files.
const newFile = 0o644

// WriteFile writes a file as WriteWith does.
func WriteFile(path string, content []byte) error {
	return WriteWith(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteWith writes a file under a temporary name and renames it, so that readers see all or nothing. Links
// are followed, permissions of an existing file are kept, and devices and pipes are written directly.
func WriteWith(path string, write func(io.Writer) error) error {
	path, err := resolveLinks(path)
	if err != nil {
		return err
	}
	mode := os.FileMode(newFile)
	if st, err := os.Stat(path); err == nil {
		if st.IsDir() {
			return &createError{path + " is a directory, not a file", syscall.EISDIR}
		}
		if !st.Mode().IsRegular() {
			return writeInto(path, write)
		}
		mode = st.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return unmade(path, err)
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	if err = errors.Join(write(f), f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// createError reports a file that cannot be created, without its temporary name.
type createError struct {
	text string
	why  error
}

func (e *createError) Error() string { return e.text }
func (e *createError) Unwrap() error { return e.why }

func unmade(path string, err error) error {
	dir := filepath.Dir(path)
	text := "no file can be made in " + dir
	_, none := os.Stat(dir)
	var said *fs.PathError
	switch {
	case none != nil && errors.Is(none, fs.ErrNotExist):
		text = "there is no folder " + dir
	case errors.Is(err, fs.ErrPermission):
		text = "this user may make no file in " + dir
	case errors.As(err, &said) && !errors.Is(err, fs.ErrNotExist):
		text += ": " + said.Err.Error()
	}
	return &createError{path + ": " + text, err}
}

// writeInto writes to a target that cannot be replaced.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// mostLinks is the maximal length of a chain of links, as in the kernel.
const mostLinks = 40

// resolveLinks follows the links of a path. Unlike filepath.EvalSymlinks it allows the last element to be
// missing.
func resolveLinks(path string) (string, error) {
	for range mostLinks {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // not a link, or missing
		}
		if !filepath.IsAbs(link) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // ".." in a link is relative to its own folder
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many links", path)
}
