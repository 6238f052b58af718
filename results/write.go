package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// newFile is the mode of a file that was not there before.
const newFile = 0o644

// WriteFile writes a file as WriteWith does.
func WriteFile(path string, content []byte) error {
	return WriteWith(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteWith has a file written under a temporary name beside it and renames it, so
// that a reader never sees half of it, nor anything if writing failed. What a link
// names is written, there or not, and not the link; a file that is there keeps its
// permissions; a device or a pipe is written to.
func WriteWith(path string, write func(io.Writer) error) error {
	path, err := followed(path)
	if err != nil {
		return err
	}
	mode := os.FileMode(newFile)
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
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

// unmadeError says that a file cannot be made, without the temporary name that it was to have.
type unmadeError struct {
	text string
	why  error
}

func (e *unmadeError) Error() string { return e.text }
func (e *unmadeError) Unwrap() error { return e.why }

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
	return &unmadeError{path + ": " + text, err}
}

// writeInto writes to what cannot be replaced.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// mostLinks is how many links lead on to each other at most, as in the kernel.
const mostLinks = 40

// followed is the path of what a path names through links. The last one may name a
// file that is not there yet, which filepath.EvalSymlinks refuses.
func followed(path string) (string, error) {
	for range mostLinks {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or nothing at all
		}
		if !filepath.IsAbs(link) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // a link's ".." is its own folder's
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many links", path)
}
