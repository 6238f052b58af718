package reporters

import "weir/results"

// voidMark stands behind the verdict of a case that has no value because no launch of it counts.
func voidMark(c *results.Case) string {
	if c.Status == results.OK && c.AllVoid() {
		return " (void)"
	}
	return ""
}

// untold is why nothing that a case measured counts, where no inconclusive assertion says it.
func untold(c *results.Case) string {
	why := c.Unmeasured()
	for _, a := range c.Assertions {
		if a.Standing() == string(results.InconclusiveVerdict) {
			return ""
		}
	}
	return plain(why)
}
