package native

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func provider(name string) func(*move.Spec) {
	return withOptions("provider", name)
}

// allProviders returns those of libfabric that are tested if installed: they differ in their needs of registration,
// progress and delivery.
func allProviders(t testing.TB) []string {
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

// providers are those that this run of the tests tries: one, or all in make rest.
func providers(t testing.TB) []string {
	t.Helper()
	all := allProviders(t)
	if !phase.Whole() {
		return all[:1]
	}
	return all
}

// shortened shortens the cases for a provider that runs each operation on a thread of its own, which sleeps: each
// takes milliseconds, and 64 MiB seven seconds.
func shortened(provider string, cases []move.Spec) []move.Spec {
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

// Ranks that selected different providers fail, each naming the other's choice.
func TestLibfabricUnequalProviders(t *testing.T) {
	here := allProviders(t)
	if len(here) < 2 {
		t.Skip("one provider only")
	}
	ranks, addresses := openUnequal(t, "libfabric", options(8, provider(here[0])), options(8, provider(here[1])))
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
