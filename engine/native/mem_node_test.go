package native

import (
	"strings"
	"testing"

	"weir/test/phase"
	"weir/workload/move"

	"golang.org/x/sys/unix"
)

func onNode(numa string) func(*move.Spec) {
	return func(o *move.Spec) { o.NUMA = numa }
}

// bindable skips where a container forbids to bind memory, or the kernel knows no nodes.
func bindable(t *testing.T) {
	t.Helper()
	if _, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, 0, 0, 0, 0, 0, 0); errno != 0 {
		t.Skipf("get_mempolicy: %v", errno)
	}
}

// A node that is not there is an error, which says what there is.
func TestNoSuchMemoryNode(t *testing.T) {
	phase.NotUnderRace(t)
	bindable(t)
	for _, numa := range []string{"63", "1023"} {
		_, err := tryCases(t, "tcp", 2, options(8, onNode(numa)))
		if want := "numa " + numa +
			": this process cannot have memory of such a node: nodes with memory here: 0"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
