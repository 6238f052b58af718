package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder of sessions is no session: the error names one of them.
func TestReadOfAFolderOfSessions(t *testing.T) {
	folder := t.TempDir()
	if _, err := Read(folder); err == nil || strings.Contains(err.Error(), "name a session") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, document), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(filepath.Join(folder, "none")); err == nil || strings.Contains(err.Error(), "name a session") {
		t.Errorf("a file that is not there: %v", err)
	}
	want := "; name a session of " + folder + ", as " + filepath.Join(folder, "b")
	if _, err := Read(folder); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, not %s", err, want)
	}
}
