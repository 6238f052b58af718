package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// unknownNoise counts the cases that needed more launches only because their noise was unknown.
func unknownNoise(doc *results.Document) []string {
	cases := 0
	for _, c := range doc.Cases {
		if len(c.Launches)-c.Discarded() >= assertion.EnoughToPass && passedWithoutNoise(c) {
			cases++
		}
	}
	if cases == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s took %d launches or more because the noise is unknown: with weir run --noise-from SESSION for earlier ones, or targets of weir calibrate, 3 to 5 suffice",
		plural(cases, "case"), assertion.EnoughToPass)}
}

// passedWithoutNoise reports whether a gate of a case passed with several looks and unknown noise. A quantile of the
// tail does not count: it needs launches for its values.
func passedWithoutNoise(c *results.Case) bool {
	for _, a := range c.Assertions {
		if a.Verdict == results.Pass && a.Observed != nil && a.Observed.Noise == "" && a.Observed.CI != nil &&
			len(a.Looks) > 1 && a.Observed.N >= assertion.EnoughToPass && !ofTail(a.Assertion) {
			return true
		}
	}
	return false
}

func ofTail(a assertion.Assertion) bool {
	return slices.ContainsFunc(a.Subject.Leaves(), func(leaf *assertion.Expr) bool {
		return results.Metric{Name: leaf.Metric}.Tail()
	})
}
