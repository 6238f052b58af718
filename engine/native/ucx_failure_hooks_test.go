//go:build weirtest

package native

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/workload/move"
)

// A network interface that UCX listed and that is missing when it opens it, like those of containers and of
// namespaces, is not an error of a rank, unless it happens repeatedly.
func TestUCXDeviceThatIsGone(t *testing.T) {
	needs(t, "ucx")
	t.Cleanup(func() { ucxDevicesGone(0) })
	ucxDevicesGone(3)
	runCases(t, "ucx", 2, options(8, api("tag")))
	ucxDevicesGone(100)
	if _, err := tryCases(t, "ucx", 2, options(8)); err == nil ||
		!strings.Contains(err.Error(), "ucp_worker_create: No such device") {
		t.Errorf("got %v", err)
	}
}

// If UCX cannot register memory, its own or not, its error gives the limit on locked memory.
func TestUCXLockedMemory(t *testing.T) {
	needs(t, "ucx")
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ucxRefusesMemory(0) })
	for _, c := range []struct {
		limit  uint64
		change func(*move.Spec)
		want   string
	}{
		{64 << 10, heap, "ucp_mem_map: registering [0-9]+ bytes: Input/output error; this process may lock 64 KiB \\(ulimit -l\\)$"},
		{64 << 10, func(*move.Spec) {}, "ucp_mem_map: allocating [0-9]+ bytes: Input/output error; this process may lock 64 KiB \\(ulimit -l\\)$"},
		{64 << 20, heap, "ucp_mem_map: registering [0-9]+ bytes: Input/output error$"},
	} {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK,
			&unix.Rlimit{Cur: c.limit, Max: max(c.limit, before.Max)}); err != nil {
			t.Logf("a limit of %d bytes: %v", c.limit, err)
			continue
		}
		ucxRefusesMemory(1)
		_, err := tryCases(t, "ucx", 2, options(1<<20, c.change))
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before); err != nil {
			t.Fatal(err)
		}
		if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
