// Package phase says which run of the tests a test is for. There are four:
//
//	make quick   go test -short
//	make test    go test: seconds for each test
//	.ci/run      go test with WEIR_LAB=each: all tests, the longest of them for some libraries and sizes of each
//	             kind; then, without it, the race detector over the packages of scripts/concurrent
//	make rest    the same with WEIR_LAB=whole: all of it
//
// Nothing is left out of all of them: make rest runs whatever a function here skips, because it has
// neither -short nor, at first, the race detector, and all packages (TestEveryTestRuns). No test
// asks for -short or for the detector but through this package (TestPhasesAreChosenInOnePlace).
//
// It is test support: no package of weir itself may import it.
package phase

import (
	"os"
	"slices"
	"testing"
)

// lab is the variable that make rest sets (test/lab).
const lab = "WEIR_LAB"

// Short is whether tests are to be short: make quick.
func Short() bool { return testing.Short() }

// Whole is whether everything is to be tried, and not some of each kind: make rest.
func Whole() bool { return every() && os.Getenv(lab) != "each" }

// every is whether no test is skipped for its length.
func every() bool { return !Short() && os.Getenv(lab) != "" }

// Long skips a test that takes a second or more, in make quick.
func Long(t testing.TB) {
	t.Helper()
	if Short() {
		t.Skip("takes long: not with -short")
	}
}

// Rest skips a test in make quick and make test: one that takes ten seconds or more, or that
// repeats for other libraries or sizes what another test shows.
func Rest(t testing.TB) {
	t.Helper()
	Long(t)
	if !every() {
		t.Skip("takes long: with WEIR_LAB=whole, as in make rest")
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

// AtLength is whether a simulation that every run does in brief is done at length: in make test-all and
// make test-cluster.
func AtLength() bool {
	return !Short() && slices.Contains([]string{"all", "required"}, os.Getenv(lab))
}
