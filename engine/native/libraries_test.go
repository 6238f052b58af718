package native

import (
	"os"
	"strings"
	"testing"
)

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
