package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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
