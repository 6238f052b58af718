package reporters

import "github.com/weir-bench/weir/results"

// discardedMark follows the verdict of a case without a usable launch.
func discardedMark(c *results.Case) string {
	if c.Status == results.OK && c.AllDiscarded() {
		return " (discarded)"
	}
	return ""
}

// discardedReason says why a case has no usable launch, if no inconclusive assertion does.
func discardedReason(c *results.Case) string {
	why := c.Unmeasured()
	for _, a := range c.Assertions {
		if a.Standing() == string(results.InconclusiveVerdict) {
			return ""
		}
	}
	return plain(why)
}
