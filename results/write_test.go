package results_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-bench/weir/results"
)

// What a link names is written also where it is not there yet, through any number of links.
func TestWriteFileFollowsLinksToWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "far", "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"first": "near", "near": "far/link", "far/link": "../far/out/real", "folder": "far/out", "loop": "pool",
		"pool": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../real", filepath.Join(dir, "folder", "up")); err != nil {
		t.Fatal(err)
	}
	for link, real := range map[string]string{"first": "far/out/real", "folder/up": "far/real"} {
		if err := results.WriteFile(filepath.Join(dir, link), []byte(link)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, real)); err != nil || string(b) != link {
			t.Errorf("%s: what it names holds %q, %v", link, b, err)
		}
		if st, err := os.Lstat(filepath.Join(dir, link)); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is %v, %v", link, st.Mode(), err)
		}
	}
	if err := results.WriteFile(filepath.Join(dir, "loop"), nil); err == nil {
		t.Error("wrote what a circle of links names")
	}
}

// A file that only its owner may read stays so; a new one is for all.
func TestWriteFileKeepsPermissions(t *testing.T) {
	dir := t.TempDir()
	own, fresh := filepath.Join(dir, "own"), filepath.Join(dir, "fresh")
	if err := os.WriteFile(own, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{own: 0o600, fresh: 0o644} {
		if err := results.WriteFile(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v (%v)", path, st.Mode(), want, err)
		}
	}
}

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

// What fails while it is written leaves the file that was there, and no other.
func TestWriteWithFailsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := results.WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := results.WriteWith(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != "old" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left behind are %v, %v", list, err)
	}
}

// A file that cannot be made is named as it was asked for.
func TestWriteWithNamesWhatWasAskedFor(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "nowhere", "x"): "there is no folder ", "/proc/x": "no file can be made in /proc",
	} {
		err := results.WriteWith(path, func(io.Writer) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), path+": "+want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
