package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/reports"
)

// writable finds paths that cannot be written before anything is measured for
// them.
func (f *flags) writable(rs []reports.Report) error {
	for _, r := range rs {
		if r.Path == "" || r.Path == "-" || f.out != "" && filepath.Dir(r.Path) == filepath.Clean(f.out) {
			continue // the session makes its own directory
		}
		if err := CanReplace(r.Path); err != nil {
			return exit.Usage("--report %s=%s: %w", r.Name, r.Path, err)
		}
	}
	if f.resume == "" {
		if err := canMake(f.out); err != nil {
			if f.out == "" {
				return exit.Usage("the session's directory cannot be made: %w; name another place with --out", err)
			}
			return exit.Usage("--out %s: %w", f.out, err)
		}
	}
	return nil
}

// CanReplace says why a file cannot be put at a path, nil if it can.
func CanReplace(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return errors.New("it is a directory")
	}
	return canAddTo(filepath.Dir(path))
}

// canAddTo says why no file can be made in a directory, nil if one can.
func canAddTo(dir string) error {
	probe, err := os.CreateTemp(dir, ".weir-*.tmp") // what the mode bits say is not the whole truth
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

// canMake says why a directory cannot be made where it is not yet, nil if it can.
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
