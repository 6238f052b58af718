package native

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
)

func provider(name string) func(*move.Spec) {
	return having("provider", name)
}

// providers are those of libfabric that are tested wherever they are: what they
// demand of registration, progress and delivery differs.
func providers(t testing.TB) []string {
	t.Helper()
	f := (native{}).Probe([]string{"libfabric"})["libfabric"]
	if !f.Available {
		t.Skipf("no libfabric here: %s", f.Reason)
	}
	here := strings.Split(f.Details["providers"], ",")
	if only := os.Getenv(onlyProviderEnv); only != "" {
		if !slices.Contains(here, only) {
			t.Fatalf("no provider %s here: %v", only, here)
		}
		return []string{only}
	}
	var out []string
	for _, p := range []string{"tcp;ofi_rxm", "net", "shm", "sockets", "tcp"} {
		// "tcp" is a provider of its own from 1.18 on; before, the name stands for tcp;ofi_rxm
		if slices.Contains(here, p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		t.Skipf("none of libfabric's providers that are tested is here: %v", here)
	}
	return out
}

// fewer shortens the cases for a provider that hands each operation to a thread of
// its own, which sleeps: each takes milliseconds, and 64 MiB seven seconds.
func fewer(provider string, cases []move.Spec) []move.Spec {
	if provider != "sockets" {
		return cases
	}
	var out []move.Spec
	for i, o := range cases {
		if i%3 == 0 || o.BlockSize >= 1<<20 {
			o.Iterations, o.Warmup, o.InFlight = 2, 1, 2
			o.BlockSize = min(o.BlockSize, 4<<20)
			out = append(out, o)
		}
	}
	return out
}

// Every size and way to move on each provider, with every byte checked.
func TestLibfabricMovesEveryByte(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, p := range providers(t) {
		t.Run(p, func(t *testing.T) {
			var cases []move.Spec
			for _, size := range []quantity.Size{1, 8, 4095, 64 << 10, 1<<20 + 1} {
				for _, how := range [][]func(*move.Spec){{}, {batch4}, {read}, {read, batch4}, {pingpong}} {
					cases = append(cases, options(size, append(how, full, provider(p))...))
				}
			}
			big := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 3, 1, 2 }
			for _, how := range []func(*move.Spec){func(*move.Spec) {}, read, pingpong} {
				cases = append(cases, options(64<<20, full, big, how, provider(p)))
			}
			checkTransfer(t, "libfabric", fewer(p, cases))
		})
	}
}

func TestLibfabricFourRanks(t *testing.T) {
	phase.NotUnderRace(t)
	for _, p := range providers(t) {
		t.Run(p, func(t *testing.T) {
			o := options(64<<10, provider(p), func(o *move.Spec) { o.Ranks = 4 })
			for _, r := range runCases(t, "libfabric", 4, fewer(p, []move.Spec{o})...)[0] {
				if !r.Verified {
					t.Errorf("rank %d is not verified", r.Rank)
				}
			}
		})
	}
}

// Each case starts its messages at 1 again: one that ended with 1 must not be taken
// for the first of the next.
func TestLibfabricSinglePings(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for _, p := range providers(t) {
		once := func(o *move.Spec) { o.Iterations, o.Warmup = 1, 0 }
		var cases []move.Spec
		for range 4 {
			cases = append(cases, options(300000, pingpong, once, provider(p)))
		}
		runCases(t, "libfabric", 2, cases...)
	}
}

// Ranks that chose differently are told so, each naming the other's choice.
func TestLibfabricUnequalProviders(t *testing.T) {
	phase.NotUnderRace(t)
	here := providers(t)
	if len(here) < 2 {
		t.Skip("one provider only")
	}
	ranks, addresses := unlike(t, "libfabric", options(8, provider(here[0])), options(8, provider(here[1])))
	for i, r := range ranks {
		want := fmt.Sprintf("it chose provider %s and this rank %s", here[1-i], here[i])
		if err := r.Connect(addresses); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: got %v, want %q", i, err, want)
		}
	}
	for name, bad := range map[string][]byte{"short": addresses[1][:5], "cut": addresses[1][:len(addresses[1])-1]} {
		if err := ranks[0].Connect([][]byte{addresses[0], bad}); err == nil ||
			!strings.Contains(err.Error(), "its address") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
