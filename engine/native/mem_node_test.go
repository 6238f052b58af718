package native

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/move"

	"golang.org/x/sys/unix"
)

func onNode(numa string) func(*move.Spec) {
	return func(o *move.Spec) { o.NUMA = numa }
}

// bindable skips if a container forbids binding memory, or the kernel has no nodes.
func bindable(t *testing.T) {
	t.Helper()
	if _, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, 0, 0, 0, 0, 0, 0); errno != 0 {
		t.Skipf("get_mempolicy: %v", errno)
	}
}

// A missing node is an error that lists the existing ones.
func TestNoSuchMemoryNode(t *testing.T) {
	bindable(t)
	for _, numa := range []string{"63", "1023"} {
		_, err := tryCases(t, "tcp", 2, options(8, onNode(numa)))
		if want := "numa " + numa +
			": no such node for this process: nodes with memory here: 0"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
