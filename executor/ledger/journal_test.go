package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/bounded"
)

// An incomplete line on a full disk is removed, so that the journal stays readable.
func TestAJournalOnAFullDiskStaysReadable(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8192"); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path := filepath.Join(dir, JournalName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &Ledger{journal: f}
	for _, line := range []struct {
		size int
		fits bool
	}{{5000, true}, {5000, false}, {100, true}} {
		err := s.Record(Record{Case: &CaseRecord{Key: "c", Reason: strings.Repeat("x", line.size)}})
		if (err == nil) != line.fits {
			t.Errorf("a line of %d bytes: %v", line.size, err)
		}
	}
	all, err := ReadJournal(path)
	if err != nil || len(all) != 2 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

// A journal that no session can have written is refused at once.
func TestStrangeJournalsAreRefused(t *testing.T) {
	dir := t.TempDir()
	large, pipe := filepath.Join(dir, "large"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, bounded.Result+1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{large: "is too large: at most 1024 MiB", pipe: "is no regular file"} {
		if _, err := ReadJournal(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
