package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

// mostOfARun is how many cases of a run have a line each on a terminal; more share one.
const mostOfARun = 2

// variancesShort is variances for a terminal: a line for each run and metric.
func variancesShort(doc *results.Document) (out []string) {
	for _, run := range byRun(doc) {
		var of ordered.Groups[string, varying]
		for _, c := range run {
			for _, v := range variancesOf(c) {
				of.Add(v.metric, v)
			}
		}
		for _, list := range of.All() {
			if len(list) <= mostOfARun {
				for _, v := range list {
					out = append(out, v.line())
				}
			} else {
				out = append(out, folded(list, run[0].Run))
			}
		}
	}
	return out
}

// folded is one line for a metric of several cases: the range of each level.
func folded(list []varying, run string) string {
	var levels ordered.Groups[string, float64]
	for _, v := range list {
		for _, l := range v.levels {
			levels.Add(l.Of, l.CV)
		}
	}
	var parts []string
	for of, all := range levels.All() {
		parts = append(parts, fmt.Sprintf("%s to %s between %s", cvText(slices.Min(all)), cvText(slices.Max(all)),
			levelsOf[of]))
	}
	return fmt.Sprintf("%s of %s of %s varies by %s", plain(list[0].metric), plural(len(list), "case"), plain(run),
		sentence(", ", parts...))
}

// byRun groups the cases by run, in document order.
func byRun(doc *results.Document) (out [][]*results.Case) {
	var runs ordered.Groups[string, *results.Case]
	for _, c := range doc.Cases {
		runs.Add(c.Run, c)
	}
	for _, cases := range runs.All() {
		out = append(out, cases)
	}
	return out
}
