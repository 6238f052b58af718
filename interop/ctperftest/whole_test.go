package ctperftest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// After a failed write, as on a full disk, the file does not exist.
func TestHalfAFileIsNone(t *testing.T) {
	dir := t.TempDir()
	path, full := filepath.Join(dir, MetadataFile), errors.New("full")
	for _, want := range []error{full, nil} {
		err := writeWhole(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, "traffic_patterns:\n"); err != nil {
				return err
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file has its name: %v", err)
			}
			return want
		})
		entries, listing := os.ReadDir(dir)
		if listing != nil {
			t.Fatal(listing)
		}
		if whole := want == nil; !errors.Is(err, want) || (len(entries) == 1) != whole {
			t.Errorf("%v, and there are %v", err, entries)
		}
	}
}
