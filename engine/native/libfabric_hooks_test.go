//go:build weirtest

package native

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// Providers without delivery confirmation: a fenced read, or a read ordered after the writes. Requests longer
// than one operation are split.
func TestLibfabricWaysOfDelivery(t *testing.T) {
	phase.Rest(t)
	t.Cleanup(func() { libfabricLimits(0, 0) })
	for way, words := range []string{"delivery complete", "flushed by a fenced read", "flushed by an ordered read"} {
		tried, granted := 0, 0
		for _, p := range allProviders(t) {
			if p == "sockets" && way != 1 {
				continue // it takes longest; the other providers here have no fences
			}
			libfabricLimits(1<<way, 1000)
			t.Run(words+"/"+p, func(t *testing.T) {
				tried++
				cases := []move.Spec{
					options(8, full, provider(p)), options(4097, full, batch4, provider(p)),
					options(10000, full, read, provider(p)),
					options(1000, full, pingpong, provider(p)), options(12345, full, pingpong, provider(p)),
					options(7000, provider(p)),
				}
				out, err := tryCases(t, "libfabric", 2, shortened(p, cases)...)
				if err != nil && strings.Contains(err.Error(), "cannot be confirmed") {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				granted++
				if got := out[0][0].Transport; !strings.Contains(got, words) ||
					!strings.HasPrefix(got, "libfabric/"+p+" (") {
					t.Errorf("transport %q, want %s and %s", got, p, words)
				}
			})
		}
		if tried > 0 && granted == 0 {
			t.Errorf("no provider here is %s", words)
		}
	}
}

// The lower of two ranks connects first: the higher one is notified of it, or it would wait here for an hour.
func TestLibfabricLowerRanksConnect(t *testing.T) {
	phase.Long(t)
	libfabricListening(int64(time.Hour))
	t.Cleanup(func() { libfabricListening(0) })
	for _, p := range providers(t) {
		t.Run(p, func(t *testing.T) {
			ring := trafficOf(generated(matrix.Ring(3, 100)), provider(p))
			if _, err := tryCases(t, "libfabric", 3, ring); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLibfabricRefusals(t *testing.T) {
	here := allProviders(t)
	t.Cleanup(func() { libfabricLimits(0, 0) })
	_, err := tryCases(t, "libfabric", 2, options(8, provider("carrierpigeon")))
	if err == nil || !strings.Contains(err.Error(), "no provider named carrierpigeon") ||
		!strings.Contains(err.Error(), here[0]) {
		t.Errorf("got %v, want those that are here", err)
	}
	if slices.Contains(here, "shm") {
		l := engine.Launch{
			Fabric: "libfabric", Ranks: 2, Nodes: []string{"a", "b"},
			Cases: []engine.Case{caseOf("a", options(8, provider("shm")), 1e9, 0)},
		}
		_, err := open(l, engine.Identity{}, control(t))
		if err == nil || !strings.Contains(err.Error(),
			"no provider named shm can write and read remote memory between hosts") {
			t.Errorf("shm between hosts: got %v", err)
		}
		libfabricLimits(1<<1, 0)
		_, err = tryCases(t, "libfabric", 2, options(8, provider("shm")))
		if err == nil || !strings.Contains(err.Error(), "neither completes writes on delivery") {
			t.Errorf("no way to know of delivery: got %v", err)
		}
	}
}
