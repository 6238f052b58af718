package native

import (
	"os"
	"strings"
	"testing"
)

// Ranks report the libraries that they loaded, as the probe finds them.
func TestLoadedLibraries(t *testing.T) {
	for _, name := range []string{"ucx", "libfabric"} {
		probed := (native{}).Probe([]string{name})[name]
		if !probed.Available {
			t.Logf("no %s here: %s", name, probed.Reason)
			continue
		}
		o := options(4096, once)
		if name == "libfabric" {
			o = options(4096, once, provider(providers(t)[0]))
		}
		ranks, err := tryCases(t, name, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range ranks[0] {
			if len(part.Libraries) == 0 {
				t.Fatalf("%s: rank %d reports no library", name, part.Rank)
			}
			l := part.Libraries[0]
			if l.File != probed.Details["library"] || l.Version != probed.Version || l.Build == "" {
				t.Errorf("%s: rank %d loaded %v, the probe %v", name, part.Rank, l, probed)
			}
		}
	}
	m := member{fabric: "shm"}
	if got := m.loadedLibraries(); len(got) > 0 {
		t.Errorf("shm loaded %v", got)
	}
}

// The tests run over the intended libraries: WEIR_TEST_LIBRARIES is like ucx=1.22.0,libfabric=2.1. Without
// this, tests over a library that the loader does not find would pass with the distribution's, or skip.
func TestLibrariesAreThoseThatWereMeant(t *testing.T) {
	meant := os.Getenv("WEIR_TEST_LIBRARIES")
	if meant == "" {
		t.Skip("WEIR_TEST_LIBRARIES names none")
	}
	for _, one := range strings.Split(meant, ",") {
		library, version, _ := strings.Cut(one, "=")
		if f := (native{}).Probe([]string{library})[library]; !f.Available || f.Version != version {
			t.Errorf("%s is %q (%s), not %s", library, f.Version, f.Reason, version)
		}
	}
}
