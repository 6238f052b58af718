package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
)

// If all launches of a side were disturbed, that is inconclusive, as in its own session; an error precedes it.
func TestCompareWithOnlyDiscardedLaunches(t *testing.T) {
	values := []float64{10, 10.1, 9.9}
	for name, test := range map[string]struct {
		damage func(base, now *results.Case)
		side   string
		want   results.EffectVerdict
		exit   int
	}{
		"of the base": {
			func(base, _ *results.Case) { disturb(base, 0.5, 0, 1, 2) }, "base", results.Unclear, ExitInconclusive,
		},
		"of the new": {
			func(_, now *results.Case) { disturb(now, 0.5, 0, 1, 2) }, "new", results.Unclear, ExitInconclusive,
		},
		"beside an error": {func(base, now *results.Case) {
			disturb(base, 0.5, 0, 1, 2)
			now.Status, now.Reason = results.Error, "rank 1 died"
		}, "new", results.EffectError, ExitExecution},
	} {
		base, now := separate(values, values)
		test.damage(base.Cases[0], now.Cases[0])
		c, err := Compare(base, now, options)
		if e := only(t, c, err); e.Verdict != test.want || c.ExitCode != test.exit ||
			e.Reasons[0].Place.Side != test.side {
			t.Errorf("%s: %s, exit %d: %s", name, e.Verdict, c.ExitCode, e.Message)
		}
	}
}
