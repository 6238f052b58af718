package bounded

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFilesUpToTheirSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(path, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadFile(path, 4); err == nil || !strings.Contains(err.Error(), path+" is too large: at most 0 MiB") {
		t.Error(err)
	}
	f, err := Open(path, 5) // that grows afterwards
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, []byte("123456"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "is too large") {
		t.Error(err)
	}
}

// A pipe is read as a shell's <(command) gives it: it may begin late and come in pieces.
func TestPipesAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		for range 1000 {
			if err == nil {
				_, err = io.WriteString(w, strings.Repeat("x", 1000))
			}
		}
		if err != nil {
			t.Error(err)
		}
		w.Close()
	}()
	if text, err := ReadFile(path, Text); err != nil || len(text) != 1_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
