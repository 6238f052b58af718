//go:build weirtest

package native

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
)

// A kernel that waits for a rank without kernels ends at its deadline and names that rank.
func TestKernelsOfASilentRank(t *testing.T) {
	phase.Rest(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, "TestKernelsOfASilentRank")
		return
	}
	epTimeout = 10 * time.Second
	idleKernels(1)
	defer idleKernels(-1)
	t.Run("both", func(t *testing.T) { // ends when both have
		for mode, want := range map[string]string{
			"dispatch": "waited for the counts of rank 1", "combine": "waited for the rows of rank 1",
		} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				v := kernelValues(option.Values{"ranks": int64(2), "mode": mode, "verify": "none"})
				_, err := runEP(t, "cuda", v)
				var e *engine.Error
				if !errors.As(err, &e) || !strings.Contains(e.Text, want) ||
					!strings.Contains(e.Text, "until its deadline") || e.Peer != 1 {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		}
	})
}

// Operations that the host does not check are verified too: stale contents are found in each of them.
func TestStaleContentsOfKernels(t *testing.T) {
	phase.Rest(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, "TestStaleContentsOfKernels")
		return
	}
	defer staleKernels(-1)
	launches := []option.Values{
		{"timing": "aligned"}, {"timing": "stream"}, {"timing": "stream", "kernel_launch": "dependent"},
		{"timing": "stream", "kernel_launch": "graph"}, {"timing": "stream", "kernel_launch": "graph_dependent"},
	}
	// checked after each operation, and after both
	for i, iteration := range []int{1, 6} {
		for k, layout := range epLayoutNames {
			for m, mode := range []string{"dispatch", "combine", "e2e"} {
				for n, launch := range launches {
					if ((k+m)%2 != i || (k+m+n)%len(launches) != 0) && !phase.AtLength() {
						continue // each with some of the others in every run, and all with all at length
					}
					staleKernels(iteration)
					v := kernelValues(option.Values{"layout": layout, "mode": mode, "iterations": int64(9)})
					maps.Copy(v, launch)
					_, err := runEP(t, "cuda", v)
					want := fmt.Sprintf("in iteration %d of 9 back-to-back ones", iteration)
					var e *engine.Error
					if !errors.As(err, &e) || !strings.Contains(e.Text, want) ||
						mode != "e2e" && !strings.Contains(e.Text, "of a "+mode) {
						t.Errorf("%s %s %v: got %v, want %q", layout, mode, launch, err, want)
					}
				}
			}
		}
	}
}
