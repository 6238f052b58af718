package native

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The images are up to date with kernels*.cu, and no kernel spills registers. The test does not fetch the
// compilers: scripts/kernels does.
func TestImagesAreOfTheKernels(t *testing.T) {
	if _, err := os.Stat("../../.build/cuda/done"); err != nil {
		t.Skip("the compilers for GPUs are not here: scripts/kernels fetches them")
	}
	out, err := exec.Command("../../scripts/kernels", "--check").CombinedOutput()
	lines, kept := strings.Count(string(out), " bytes spill stores, "),
		strings.Count(string(out), " 0 bytes spill stores, 0 bytes spill loads")
	if err != nil || kept == 0 || kept != lines {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestRankOnItsHost(t *testing.T) {
	nodes := []string{"a", "b", "a", "a", "b"}
	for rank, want := range []int{0, 0, 1, 2, 1} {
		if got := indexOnHost(nodes, rank); got != want {
			t.Errorf("rank %d is rank %d of its host, want %d", rank, got, want)
		}
	}
}
