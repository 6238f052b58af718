package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link anywhere in a session's directory is found; the directory itself may be reached by a link.
func TestASessionWritesThroughNoLink(t *testing.T) {
	for _, name := range []string{"events.ndjson", "results.json", "report.md", "logs", "samples/a/0.bin"} {
		base := t.TempDir()
		dir := filepath.Join(base, "out")
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		alias := filepath.Join(base, "alias")
		if err := os.Symlink(dir, alias); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, alias + "/."} {
			if err := noLinks(path); err != nil {
				t.Error(err)
			}
		}
		if err := os.Symlink(filepath.Join(base, "victim"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		err := noLinks(dir)
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)+" is a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
		if top := !strings.Contains(name, "/"); top && NoLinks(dir) == nil {
			t.Errorf("%s is not found at the end", name)
		}
	}
	if err := noLinks(filepath.Join(t.TempDir(), "none yet")); err != nil {
		t.Error(err)
	}
}
