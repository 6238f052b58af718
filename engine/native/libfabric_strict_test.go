package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// onlyProviderEnv names the one provider that the tests of libfabric are to use.
const onlyProviderEnv = "WEIR_TEST_PROVIDER"

// strictProvider builds the strict provider of testdata and returns the environment in which libfabric loads
// it: libfabric looks for providers once.
func strictProvider(t *testing.T, env ...string) []string {
	t.Helper()
	providers(t)
	path := library(t, "libstrict-fi.so", filepath.Join("testdata", "libfabric", "strict_provider.c"), "-lfabric")
	return append(env, "FI_PROVIDER_PATH="+filepath.Dir(path), onlyProviderEnv+"=strict",
		onlyPathsEnv+"=libfabric strict")
}

// What network cards require and the providers of a plain host do not: registered local buffers, keys chosen
// by the provider, raw keys, virtual addresses, memory bound to an endpoint, contexts that it writes to,
// short operations, full queues and no delivery confirmation.
func TestLibfabricStrictProvider(t *testing.T) {
	phase.Rest(t)
	for _, keys := range []string{"raw", "plain"} {
		t.Run(keys, func(t *testing.T) {
			out := rerunTests(t, "^Test(Transfer|Patterns|LibfabricKilledPeer)$",
				strictProvider(t, "STRICT_KEYS="+keys)...)
			for _, passed := range []string{
				"Transfer/libfabric_strict", "Patterns/libfabric_strict", "LibfabricKilledPeer/strict/write",
			} {
				if !strings.Contains(out, "--- PASS: Test"+passed+" (") {
					t.Errorf("%s did not pass:\n%s", passed, out)
				}
			}
			if strings.Contains(out, "strict provider:") {
				t.Errorf("a rule was broken:\n%s", out)
			}
		})
	}
}

// A provider that drives a card has RDMA, whatever its name; one without a card, or with a card without a
// link, has not.
func TestLibfabricPaths(t *testing.T) {
	phase.Long(t)
	if os.Getenv(onlyProviderEnv) == "" {
		for _, card := range []string{"", "up", "down"} {
			rerunTests(t, "^TestLibfabricPaths$", strictProvider(t, "STRICT_CARD="+card)...)
		}
		return
	}
	device, access := "card0", results.SoftwareAccess
	switch os.Getenv("STRICT_CARD") {
	case "up":
		access = results.RDMAAccess
	case "":
		device = ""
	}
	found := false
	for _, p := range (native{}).Probe([]string{"libfabric"})["libfabric"].Paths {
		if p.Name != "strict" {
			continue
		}
		found = true
		if p.Access != access || device != "" && p.Device != device {
			t.Errorf("%v, want access %s", p, access)
		}
	}
	if !found {
		t.Error("no path")
	}
}

// Exceeding the limit on locked memory is an error that gives the limit and where to set it.
func TestLibfabricLockedMemory(t *testing.T) {
	phase.Long(t)
	if os.Getenv(onlyProviderEnv) == "" {
		rerunTests(t, "^TestLibfabricLockedMemory$", strictProvider(t, "STRICT_LOCKS=1")...)
		return
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before); err != nil {
		t.Fatal(err)
	}
	const limit = 64 << 10
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := tryCases(t, "libfabric", 2, options(1<<20, provider("strict")))
	want := fmt.Sprintf("Cannot allocate memory; this process may lock %d KiB (ulimit -l)", limit>>10)
	if err == nil || !strings.Contains(err.Error(), "fi_mr_reg: registering ") || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
