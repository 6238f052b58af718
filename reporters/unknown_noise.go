package reporters

import (
	"fmt"

	"weir/assertion"
	"weir/results"
)

// unknownNoise says how many cases took launches that they need only because nothing was known of their noise.
func unknownNoise(doc *results.Document) []string {
	cases := 0
	for _, c := range doc.Cases {
		if len(c.Launches)-c.Voids() >= assertion.EnoughToPass && passedBlindly(c) {
			cases++
		}
	}
	if cases == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s took %d launches or more, because nothing was known of the noise here: with weir run --noise-from DIR of earlier sessions, or targets of weir calibrate, it is 3 to 5",
		plural(cases, "case"), assertion.EnoughToPass)}
}

// passedBlindly says whether a gate of a case passed, of several looks, without a noise that was known.
func passedBlindly(c *results.Case) bool {
	for _, a := range c.Assertions {
		if a.Verdict == results.Pass && a.Observed != nil && a.Observed.Noise == "" && a.Observed.CI != nil &&
			len(a.Looks) > 1 && a.Observed.N >= assertion.EnoughToPass {
			return true
		}
	}
	return false
}
