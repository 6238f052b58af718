package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
)

// charted are the rows of the table of operating characteristics.
var charted = []struct {
	name  string
	model model
	noise float64
}{
	{"lognormal 3 %, truth 0.85", varying(0.85, 0.03), 0},
	{"lognormal 3 %, truth 0.88", varying(0.88, 0.03), 0},
	{"lognormal 3 %, truth 0.90, the edge", varying(0.90, 0.03), 0},
	{"lognormal 3 %, truth 0.92", varying(0.92, 0.03), 0},
	{"lognormal 3 %, truth 1.00", varying(1, 0.03), 0},
	{"lognormal 3 %, truth 1.00, noise known", varying(1, 0.03), 0.03},
	{"lognormal 3 % at the edge, noise known as 1 %", varying(0.90, 0.03), 0.01},
	{"30 % stragglers that lose up to 30 %, truth 0.894", straggling(0.94, 0.01, 0.3, 0.3), 0},
	{"30 % stragglers, truth 0.894, noise known", straggling(0.94, 0.01, 0.3, 0.3), spreadOfStragglers},
	{"two modes 80/20, 20 % apart, truth 0.88", twoModes(0.88, 0.005, 0.2, 0.2), 0},
	{"two modes 80/20, truth 0.88, noise known", twoModes(0.88, 0.005, 0.2, 0.2), 0.0893},
	{"random walk of 2 % a launch, truth 0.88", drifting(0.88, 0.01, 0.02), 0},
	{"random walk of 2 % a launch, truth 0.92", drifting(0.92, 0.01, 0.02), 0},
}

// The page of weir docs statistics has the table that this gate gives.
func TestPageOfStatistics(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	const simulatedSessions, simulatedCases = 2000, 2000
	var b strings.Builder
	b.WriteString(fmt.Sprintf("| %d sessions a row ", simulatedSessions) +
		"| pass % | fail % | inconclusive % | launches |\n|---|---:|---:|---:|---:|\n")
	for _, c := range charted {
		s := c.model.run(simulatedSessions, c.noise)
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f |\n", c.name, s.pass, s.fail, s.open, s.launches)
	}
	golden.Between(t, "statistics.md", "Sessions of each row have fixed seeds.\n\n", "\nLatencies are lognormal",
		b.String())
	b.Reset()
	b.WriteString("| warm-up | called too short % |\n|---|---:|\n")
	for _, s := range steadiness {
		fmt.Fprintf(&b, "| %s | %.1f |\n", s.name, marked(simulatedCases, s.launches, s.rho, s.slow, s.slower))
	}
	b.WriteString("\nAn outlier has a modified z above the limit, which is linear in 1/n between these n, and 3.75 beyond\n100.\n\n" +
		"| launches | limit |\n|---:|---:|\n")
	for _, l := range outlierLimits {
		fmt.Fprintf(&b, "| %d | %.2f |\n", l.n, l.limit)
	}
	golden.After(t, "statistics.md",
		fmt.Sprintf("Parts of a launch vary by 3 %%, launches by 2 %%; %d cases a row.\n\n", simulatedCases),
		b.String())
}
