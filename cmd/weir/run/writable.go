package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/reports"
)

// writable checks, before anything is measured, that all output paths can be written.
func (f *flags) writable(rs []reports.Report) error {
	for _, r := range rs {
		if r.Path == "" || r.Path == "-" || f.out != "" && filepath.Dir(r.Path) == filepath.Clean(f.out) {
			continue // the session creates its directory
		}
		if err := CanReplace(r.Path); err != nil {
			return exit.Usage("--report %s=%s: %w", r.Name, r.Path, err)
		}
	}
	if f.history != "" {
		if err := canMake(f.history); err != nil {
			return exit.Usage("--history %s: %w", f.history, err)
		}
	}
	if f.resume == "" {
		if err := canMake(f.out); err != nil {
			if f.out == "" {
				return exit.Usage("cannot create the session directory: %w; give another one with --out", err)
			}
			return exit.Usage("--out %s: %w", f.out, err)
		}
	}
	return nil
}

// CanReplace is an error if no file can be written at a path.
func CanReplace(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return errors.New("it is a directory")
	}
	return canAddTo(filepath.Dir(path))
}

// canAddTo is an error if no file can be created in a directory.
func canAddTo(dir string) error {
	probe, err := os.CreateTemp(dir, ".weir-*.tmp") // mode bits are not sufficient
	if errors.Is(err, fs.ErrNotExist) {
		if st, failed := os.Stat(dir); failed == nil && st.IsDir() {
			return fmt.Errorf("no files can be made in %s", dir)
		}
		return fmt.Errorf("the directory %s does not exist", dir)
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if err != nil {
		return fmt.Errorf("nothing can be written in %s: %w", dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// canMake is an error if a directory does not exist and cannot be created.
func canMake(dir string) error {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		switch {
		case err == nil && st.IsDir():
			return canAddTo(dir)
		case err == nil:
			return fmt.Errorf("%s is a file", dir)
		case !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
			return err
		}
	}
}
