package reporters

import (
	"fmt"

	"github.com/weir-bench/weir/results"
)

// simulatedBanner says which numbers were simulated; "" if none.
func simulatedBanner(doc *results.Document) string {
	if !doc.Simulated() {
		return ""
	}
	n, launched := simulatedCases(doc)
	if n == launched {
		return "SIMULATED: no data was moved; these numbers come from a declared model"
	}
	return fmt.Sprintf("SIMULATED IN PART: the numbers of %d of %s come from a declared model", n,
		plural(launched, "case"))
}

// simulatedCases counts the simulated cases, and those with launches.
func simulatedCases(doc *results.Document) (n, launched int) {
	for _, c := range doc.Cases {
		if len(c.Launches) > 0 {
			launched++
		}
		if c.Simulated() {
			n++
		}
	}
	return n, launched
}

// mixesSimulated reports whether some cases are simulated and others are not: rows need a mark only then.
func mixesSimulated(doc *results.Document) bool {
	n, launched := simulatedCases(doc)
	return n > 0 && n < launched
}

// simulatedMark follows the verdict of a simulated case.
func simulatedMark(c *results.Case) string {
	if c.Simulated() {
		return "(simulated)"
	}
	return ""
}
