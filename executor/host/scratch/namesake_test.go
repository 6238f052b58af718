package scratch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestForgetProcessTakesOnlyItsFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"12:0:0", "12:0:1", "123:0:0", "2:0:0", "weir-12:0"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forget(dir, 12)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"123:0:0", "2:0:0", "weir-12:0"}; !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
}
