// Package scratch makes directories that do not outlive their session. Each
// holds a locked file; the kernel drops the lock with the process, however it
// ends, so the next session can tell what a killed one left and remove it. What
// it did not make itself, it never touches.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"weir/quantity"
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

// Want is what a directory must have.
type Want struct {
	Free    int64 // bytes that are free
	Longest int   // bytes that the path of its root may have; 0: any
}

// Make makes a directory in the first of the roots that has what is wanted, after it has
// swept that root. The error says why none of them has it.
func (w Want) Make(roots ...string) (*Dir, error) {
	var reasons []string
	for i, root := range roots {
		if slices.Contains(roots[:i], root) {
			continue
		}
		Sweep(root)
		d, err := w.makeIn(root)
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, err.Error())
	}
	return nil, fmt.Errorf("no temporary directory%s: %s; name one by TMPDIR", w.words(), strings.Join(reasons, ", "))
}

// Prefer is Make, or where no root has what is wanted, makes one in the first that lets it.
func (w Want) Prefer(roots ...string) (*Dir, error) {
	d, err := w.Make(roots...)
	if err != nil {
		d, err = Want{}.Make(roots...)
	}
	return d, err
}

func (w Want) makeIn(root string) (*Dir, error) {
	if w.Longest > 0 && len(root) > w.Longest {
		return nil, fmt.Errorf("%s is longer than %d bytes, which is too long for the path of a socket", root,
			w.Longest)
	}
	var of unix.Statfs_t
	if err := unix.Statfs(root, &of); err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	// a file system that counts no blocks does not say what is free
	if free := int64(of.Bavail) * of.Bsize; of.Blocks > 0 && free < w.Free {
		return nil, fmt.Errorf("%s has %v free", root, quantity.Size(free))
	}
	path, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return nil, reasonIn(root, err)
	}
	lock, err := lockIn(path)
	if err != nil {
		os.RemoveAll(path)
		return nil, reasonIn(root, err)
	}
	return &Dir{path: path, lock: lock}, nil
}

// reasonIn says why nothing can be made in a root, without the random names in it.
func reasonIn(root string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", root, err)
}

func (w Want) words() string {
	if w.Free == 0 {
		return " can be made"
	}
	return fmt.Sprintf(" has the %v that are needed", quantity.Size(w.Free))
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
	// whose it is, for who finds it
	if _, err := fmt.Fprintf(f, "process %d, with temporary files in %s\n", os.Getpid(), os.TempDir()); err != nil {
		f.Close()
		return nil, err
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
