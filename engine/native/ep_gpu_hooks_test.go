//go:build weirtest

package native

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/test/phase"
	"weir/workload"
)

// A kernel that waits for a rank that starts none ends at its deadline, and says for whom it waited.
func TestKernelsOfASilentRank(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, "TestKernelsOfASilentRank")
		return
	}
	epPatience = 10 * time.Second
	defer idleKernels(-1)
	for mode, want := range map[string]string{
		"dispatch": "waited for the counts of rank 1", "combine": "waited for the rows of rank 1",
	} {
		idleKernels(1)
		v := kernelValues(workload.Values{"ranks": int64(2), "mode": mode, "verify": "none"})
		_, err := runEP(t, "cuda", v)
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Text, want) || !strings.Contains(e.Text, "until its deadline") ||
			e.Peer != 1 {
			t.Errorf("%s: got %v, want %q", mode, err, want)
		}
	}
}
