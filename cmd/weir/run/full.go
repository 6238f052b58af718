package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/ledger"
)

// fullError means that the file system of the session directory is full.
type fullError struct {
	dir   string
	cause error
}

func (e *fullError) Error() string {
	text := fmt.Sprintf("writing into %s: %v: free some space there", e.dir, e.cause)
	if _, err := os.Stat(filepath.Join(e.dir, ledger.JournalName)); err != nil {
		return text
	}
	return text + ", then continue with weir run --resume " + e.dir + "; its journal has the measurements so far"
}

func (e *fullError) Unwrap() error { return e.cause }

// reportFullOnce replaces all errors about a full file system by a single one.
func reportFullOnce(dir string, all error) error {
	var full error
	var others []error
	for _, err := range parts(all) {
		if cause := fullCause(err, dir); cause != nil {
			full = &fullError{dir, cause}
		} else {
			others = append(others, err)
		}
	}
	return errors.Join(append(others, full)...)
}

// parts are the joined errors.
func parts(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, parts(one)...)
	}
	return all
}

// fullCause is the errno of an error about a full file system below dir, else nil.
func fullCause(err error, dir string) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(failed, unix.ENOSPC) && !errors.Is(failed, unix.EDQUOT) {
		return nil
	}
	if to, err := filepath.Rel(dir, failed.Path); err != nil || to == ".." || strings.HasPrefix(to, "../") {
		return nil
	}
	return failed.Err
}
