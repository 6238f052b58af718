// Package scratch makes temporary directories. Each has a locked file: the kernel releases the lock with
// the process, so that later sessions recognise and remove leftovers. Other directories are never touched.
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

	"github.com/weir-bench/weir/internal/quantity"
)

const (
	prefix   = "weir-"
	lockName = ".weir-scratch"
	newLock  = lockName + ".new" // the lock file before it is locked
)

// Dir is a directory of this process.
type Dir struct {
	path string
	lock *os.File
}

// Want are requirements on a directory.
type Want struct {
	Free    int64 // free bytes
	Longest int   // longest path of its root, in bytes; 0: any
}

// Make makes a directory in the first suitable root, after sweeping it. The error has the reason for each root.
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

// Prefer is Make, or without a suitable root, Make without requirements.
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
	// a file system without blocks does not report free space
	if free := int64(of.Bavail) * int64(of.Bsize); of.Blocks > 0 && free < w.Free {
		return nil, fmt.Errorf("%s has %v free", root, quantity.Size(free))
	}
	var err error
	for range attempts {
		var path string
		if path, err = os.MkdirTemp(root, prefix); err != nil {
			break
		}
		var lock *os.File
		if lock, err = lockIn(path); err == nil {
			return &Dir{path: path, lock: lock}, nil
		}
		os.RemoveAll(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
	}
	return nil, reasonIn(root, err)
}

// attempts is the number of attempts, as a sweep of another session may remove a directory before it is locked.
const attempts = 10

// reasonIn is an error about a root, without the random name of the directory.
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

// lockIn creates the lock file under another name and renames it when it is locked, so that a sweep never
// sees it unlocked while its owner lives.
func lockIn(dir string) (*os.File, error) {
	early := filepath.Join(dir, newLock)
	f, err := os.OpenFile(early, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", early, err)
	}
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
	return errors.Join(remove(d.path), d.lock.Close())
}

// remove removes the lock file last: a sweep finds what a process leaves that is killed meanwhile.
func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}

// Sweep removes what sessions that no longer live left in root. It is best
// effort: what it cannot remove, the next session tries again.
func Sweep(root string) {
	found, _ := filepath.Glob(filepath.Join(root, prefix+"[0-9]*")) // only a bad pattern is an error
	for _, dir := range found {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
			continue
		}
		if !ifUnlocked(filepath.Join(dir, lockName), func() { _ = remove(dir) }) && st.Mode&0o777 == 0o700 {
			sweepUnfinished(dir)
		}
	}
}

// sweepUnfinished removes a directory without a lock file if there is nothing in it: its process
// was killed before it had the lock, or after it had removed it.
func sweepUnfinished(dir string) {
	early := filepath.Join(dir, newLock)
	ifUnlocked(early, func() { os.Remove(early) })
	_ = unix.Rmdir(dir) // fails if anything is in it
}

// ifUnlocked calls f while it holds the lock of a file that nobody else holds. It says whether
// the file is there.
func ifUnlocked(path string, f func()) (there bool) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		f()
	}
	return true
}
