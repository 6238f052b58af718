package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"weir/executor/ledger"
)

// fullError says that there is no space for what a session writes into its directory.
type fullError struct {
	dir   string
	cause error
}

func (e *fullError) Error() string {
	text := fmt.Sprintf("writing into %s: %v: free some space there", e.dir, e.cause)
	if _, err := os.Stat(filepath.Join(e.dir, ledger.JournalName)); err != nil {
		return text
	}
	return text + ", then go on with weir run --resume " + e.dir + "; its journal has what was measured until then"
}

func (e *fullError) Unwrap() error { return e.cause }

// told is the error of all that went wrong in a session. Of a file system that is full it
// tells once, whatever could not be written.
func told(dir string, all error) error {
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

// parts are the errors that were joined.
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

// fullCause is why nothing more can be written into a directory, nil if that is not what an
// error says.
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
