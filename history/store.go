// Package history keeps the result documents of many sessions and detects changes of metrics. The
// documents alone are the history: they can be deleted, or copied there by hand, and are never modified. A
// change is reported with the differences between its sessions, and has no effect on gates.
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

	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
)

// StoreError says that the store's directory cannot be read or written, as opposed to an invalid request.
type StoreError struct {
	Doing string
	Err   error
}

func (e *StoreError) Error() string { return e.Doing + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// DefaultDir is the default directory of a history.
const DefaultDir = "weir-history"

// Store is a directory with a file for each session.
type Store struct {
	Dir string
	// Unindexed keeps no index file: every document is read each time.
	Unindexed bool
}

// lockName is a lock file, held while adding to the directory.
const lockName = ".lock"

// Add copies a result document, given by its path or session directory, into the store, which is created
// if missing. An identical document is left alone with added false; another document of the same session,
// or a modified one (results.ErrChanged), is an error. Problems with the store itself are StoreErrors.
// Concurrent calls from several processes are safe.
func (s Store) Add(path string) (e Entry, added bool, err error) {
	doc, err := results.ReadVerified(path)
	if err != nil {
		return e, false, err
	}
	if doc.Session.ID == "" {
		return e, false, fmt.Errorf("adding %s: it does not name its session", path)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, resultsName)
	}
	content, err := bounded.ReadFile(path, bounded.Result)
	if err != nil {
		return e, false, fmt.Errorf("adding %s: %w", path, err)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return e, false, &StoreError{"creating the history", err}
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
		old, err := bounded.ReadFile(filepath.Join(s.Dir, have.File), bounded.Result)
		if err != nil {
			return e, false, &StoreError{"reading the history", err}
		}
		if !bytes.Equal(old, content) {
			return e, false, fmt.Errorf("%s holds a different document of session %s than %s; a history is never modified: delete that file first if it is wrong",
				s.Dir, doc.Session.ID, filepath.Join(s.Dir, have.File))
		}
		return have, false, nil
	}
	file, err := s.freeName(doc.Session.ID)
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
		"writing into the history", fmt.Errorf("%s disappeared after writing", filepath.Join(s.Dir, file)),
	}
}

// freeName returns an unused file name for a session.
func (s Store) freeName(session string) (string, error) {
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '-'
	}, session)
	base = strings.TrimLeft(base, ".") // hidden files are ignored
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
			return "", &StoreError{"searching the history", err}
		}
	}
}

// lock waits for the store's lock. The kernel releases it when the process ends.
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
