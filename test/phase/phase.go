// Package phase says which run of the tests a test is for. There are four:
//
//	make quick   go test -short: none that takes long
//	make test    all but those of minutes
//	make rest    under the race detector: none that only costs the detector's time
//	CI           make test and make rest with WEIR_LAB set: those of minutes too
//	             (make test-all does the same with simulations at length)
//
// Nothing is left out of all of them: whatever a function here skips, make test runs with
// WEIR_LAB set, because that has neither -short nor the race detector, and all packages
// (TestEveryTestRunsInMakeTest). No test asks for -short or for the detector but through
// this package (TestPhasesAreChosenInOnePlace).
//
// It is test support: no package of weir itself may import it.
package phase

import (
	"os"
	"slices"
	"testing"
)

// lab is the variable that asks for tests of minutes (executor/lab).
const lab = "WEIR_LAB"

// Short is whether tests are to be short: make quick.
func Short() bool { return testing.Short() }

// Long skips a test that takes long, of make quick.
func Long(t testing.TB) {
	t.Helper()
	if Short() {
		t.Skip("takes long: not with -short")
	}
}

// Minutes skips a test that takes half a minute or more, unless WEIR_LAB asks for it.
func Minutes(t testing.TB) {
	t.Helper()
	Long(t)
	if os.Getenv(lab) == "" {
		t.Skip("takes minutes: with WEIR_LAB=whole")
	}
}

// NotUnderRace skips a test in which nothing runs at once, and one of what the race
// detector does not see, under that: it would only take the detector's time.
func NotUnderRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("has nothing for the race detector")
	}
}

// Serial runs the tests of a package in which nothing runs at once, but not under the
// race detector.
func Serial(m *testing.M) {
	if Race {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// AtLength is whether a simulation that every run does in brief is done at length: in make test-all and
// make test-cluster.
func AtLength() bool {
	return !Short() && slices.Contains([]string{"all", "required"}, os.Getenv(lab))
}
