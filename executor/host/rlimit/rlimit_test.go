package rlimit

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// bound sets a soft limit for a test.
func bound(t *testing.T, resource int, most uint64) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(resource, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(resource, &old); err != nil {
			t.Error(err)
		}
	})
}

func TestCheckNamesTheLimit(t *testing.T) {
	bound(t, unix.RLIMIT_NOFILE, 200)
	bound(t, unix.RLIMIT_NPROC, 500)
	tried := 0
	TryThreads = func(threads int) bool { tried++; return threads <= 30 }
	t.Cleanup(func() { TryThreads = nil })
	for name, test := range map[string]struct {
		needs Needs
		want  string
	}{
		"enough": {Needs{Descriptors: 200, Threads: 30}, ""},
		"files": {Needs{Descriptors: 201, Threads: 31},
			"may have 200 files open and needs 201: raise the limit with ulimit -n"},
		"threads":       {Needs{Threads: 31}, "may have 500 processes and threads, which does not leave the 31 more that are needed: raise the limit with ulimit -u"},
		"unlimited all": {Needs{AddressSpace: 1 << 62}, ""},
	} {
		err := Check(test.needs)
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if tried == 0 {
		t.Error("no thread was tried")
	}
	bound(t, unix.RLIMIT_NPROC, manyThreads)
	tried = 0
	if err := Check(Needs{Threads: 31}); err != nil || tried != 0 {
		t.Errorf("with a limit that nobody reaches: %v, %d tried", err, tried)
	}
}
