package results_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"weir/results"
)

func TestWriteFileLeavesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	real, link, pipe := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := results.WriteFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != "new" {
		t.Errorf("what the link names holds %q, %v", b, err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", st.Mode(), err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			got <- err.Error()
			return
		}
		defer f.Close()
		b, _ := io.ReadAll(f)
		got <- string(b)
	}()
	if err := results.WriteFile(pipe, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through" {
		t.Errorf("the reader of the pipe got %q", s)
	}
	if err := results.WriteFile("/dev/null", []byte("x")); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat("/dev/null"); err != nil || st.Mode().IsRegular() {
		t.Fatalf("/dev/null is %v, %v", st.Mode(), err)
	}
}
