package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/results"
	"weir/test/phase"
)

// onlyProviderEnv names the one provider that the tests of libfabric are to use.
const onlyProviderEnv = "WEIR_TEST_PROVIDER"

// strictProvider builds the provider of testdata that asks for all that network
// cards ask for, and gives the folder where libfabric finds it.
func strictProvider(t *testing.T) string {
	t.Helper()
	providers(t)
	dir := t.TempDir()
	out, err := exec.Command("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1", "-shared", "-fPIC",
		"-o", filepath.Join(dir, "libstrict-fi.so"), filepath.Join("testdata", "libfabric", "strict_provider.c"),
		"-lfabric").CombinedOutput()
	if err != nil {
		t.Fatalf("building the provider: %v\n%s", err, out)
	}
	return dir
}

// again runs tests of this package once more, in a process that has the strict
// provider: libfabric looks for providers once.
func again(t *testing.T, dir, tests string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.timeout=5m", "-test.run", tests)
	cmd.Env = append(append(os.Environ(), "FI_PROVIDER_PATH="+dir, onlyProviderEnv+"=strict"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// What network cards demand and the providers of a plain host do not: registered
// local buffers, keys that the provider chooses, raw keys, virtual addresses, memory
// bound to an endpoint, contexts that it writes to, short operations, full queues and
// no word about delivery.
func TestLibfabricStrictProvider(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	dir := strictProvider(t)
	const tests = "^TestLibfabric(MovesEveryByte|FourRanks|SinglePings|KilledPeer)$"
	for _, keys := range []string{"raw", "plain"} {
		t.Run(keys, func(t *testing.T) {
			out := again(t, dir, tests, "STRICT_KEYS="+keys)
			for _, passed := range []string{
				"MovesEveryByte/strict", "FourRanks/strict", "SinglePings", "KilledPeer/strict/write",
			} {
				if !strings.Contains(out, "--- PASS: TestLibfabric"+passed+" (") {
					t.Errorf("%s did not pass:\n%s", passed, out)
				}
			}
			if strings.Contains(out, "strict provider:") {
				t.Errorf("a rule was broken:\n%s", out)
			}
		})
	}
}

// A provider that drives a card has RDMA, whatever its name, and one whose card has no
// link, or that has none, does not.
func TestLibfabricPaths(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(onlyProviderEnv) == "" {
		dir := strictProvider(t)
		for _, card := range []string{"", "up", "down"} {
			again(t, dir, "^TestLibfabricPaths$", "STRICT_CARD="+card)
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

// Memory that may not be locked is an error that says how much may be, and where
// that is set.
func TestLibfabricLockedMemory(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(onlyProviderEnv) == "" {
		again(t, strictProvider(t), "^TestLibfabricLockedMemory$", "STRICT_LOCKS=1")
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
