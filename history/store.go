// Package history keeps the result documents of many sessions and finds where a
// metric has changed. Its stance: the documents are the history and nothing else is,
// so that any of them can be deleted, or copied there by hand; what was added is never
// changed; a change is reported with what was different, and gates nothing.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"weir/results"
)

// StoreError says that the directory of a store could not be read or written: nothing
// is wrong with what was asked of it.
type StoreError struct {
	Doing string
	Err   error
}

func (e *StoreError) Error() string { return e.Doing + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// DefaultDir is where a history is that nobody names.
const DefaultDir = "weir-history"

// Store is a directory with a file for each session.
type Store struct{ Dir string }

// lockName is the file whose lock whoever adds to the directory holds.
const lockName = ".lock"

// Add copies a result document, named by its path or its session directory, into the
// store, and makes the store if there is none. A document that is there already is
// left alone, and added is false; another one of the same session is refused, and so is
// one that was changed (results.ErrChanged). What is wrong with the store itself is a
// StoreError. Calls from several processes do not disturb each other.
func (s Store) Add(path string) (e Entry, added bool, err error) {
	doc, err := results.ReadWhole(path)
	if err != nil {
		return e, false, err
	}
	if doc.Session.ID == "" {
		return e, false, fmt.Errorf("adding %s: it does not name its session", path)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, resultsName)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return e, false, fmt.Errorf("adding %s: %w", path, err)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return e, false, &StoreError{"making the history", err}
	}
	unlock, err := s.lock()
	if err != nil {
		return e, false, &StoreError{"locking the history", err}
	}
	defer unlock()
	list, _, err := s.read()
	if err != nil {
		return e, false, err
	}
	for _, have := range list {
		if have.Session != doc.Session.ID {
			continue
		}
		old, err := os.ReadFile(filepath.Join(s.Dir, have.File))
		if err != nil {
			return e, false, &StoreError{"reading the history", err}
		}
		if !bytes.Equal(old, content) {
			return e, false, fmt.Errorf("%s holds another document of session %s than %s; nothing in a history is changed: delete that file first if it is wrong",
				s.Dir, doc.Session.ID, filepath.Join(s.Dir, have.File))
		}
		return have, false, nil
	}
	file, err := s.free(doc.Session.ID)
	if err != nil {
		return e, false, err
	}
	if err := results.WriteFile(filepath.Join(s.Dir, file), content); err != nil {
		return e, false, &StoreError{"writing into the history", err}
	}
	list, _, err = s.read()
	if err != nil {
		return e, false, err
	}
	for _, have := range list {
		if have.Session == doc.Session.ID {
			return have, true, nil
		}
	}
	return e, false, &StoreError{
		"writing into the history", fmt.Errorf("%s was written and is gone", filepath.Join(s.Dir, file)),
	}
}

// free is a file name for a session that no file has.
func (s Store) free(session string) (string, error) {
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '-'
	}, session)
	base = strings.TrimLeft(base, ".") // hidden files are none of the history's
	if base == "" || base == strings.TrimSuffix(indexName, ".json") {
		base = "session-" + base
	}
	for n := 1; ; n++ {
		file := base + ".json"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.json", base, n)
		}
		_, err := os.Lstat(filepath.Join(s.Dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return file, nil
		}
		if err != nil {
			return "", &StoreError{"looking into the history", err}
		}
	}
}

// lock waits until nobody else adds. The lock goes with the process, however it ends.
func (s Store) lock() (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
