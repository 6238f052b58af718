// Package scratch makes directories that do not outlive their session. Each
// holds a locked file; the kernel drops the lock with the process, however it
// ends, so the next session can tell what a killed one left and remove it. What
// it did not make itself, it never touches.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	prefix   = "weir-"
	lockName = ".weir-scratch"
)

// Dir is a directory of this process.
type Dir struct {
	path string
	lock *os.File
}

// Make makes a directory in the first of the roots that lets it, after it has
// swept that root.
func Make(roots ...string) (*Dir, error) {
	var errs []error
	for _, root := range roots {
		Sweep(root)
		d, err := makeIn(root)
		if err == nil {
			return d, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("making a temporary directory: %w", errors.Join(errs...))
}

func makeIn(root string) (*Dir, error) {
	path, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockIn(path)
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return &Dir{path: path, lock: lock}, nil
}

// lockIn makes the lock file under another name and renames it once it is
// locked, so that nobody ever sees it unlocked while its owner lives.
func lockIn(dir string) (*os.File, error) {
	early := filepath.Join(dir, lockName+".new")
	f, err := os.OpenFile(early, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", early, err)
	}
	if err := os.Rename(early, filepath.Join(dir, lockName)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Path is where the directory is.
func (d *Dir) Path() string { return d.path }

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.path)
	return errors.Join(err, d.lock.Close())
}

// Sweep removes what sessions that no longer live left in root. It is best
// effort: what it cannot remove, the next session tries again.
func Sweep(root string) {
	found, _ := filepath.Glob(filepath.Join(root, prefix+"*", lockName)) // only a bad pattern is an error
	for _, path := range found {
		sweepOne(path)
	}
}

func sweepOne(lock string) {
	dir := filepath.Dir(lock)
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
		return
	}
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.RemoveAll(dir)
	}
}
