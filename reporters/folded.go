package reporters

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/results"
)

// mostOfARun is how many cases of a run have a line each on a terminal; more share one.
const mostOfARun = 2

// variancesShort is variances for a terminal: a line for each run and metric.
func variancesShort(doc *results.Document) (out []string) {
	for _, run := range byRun(doc) {
		var names []string
		of := map[string][]varying{}
		for _, c := range run {
			for _, v := range variancesOf(c) {
				if of[v.metric] == nil {
					names = append(names, v.metric)
				}
				of[v.metric] = append(of[v.metric], v)
			}
		}
		for _, name := range names {
			if list := of[name]; len(list) <= mostOfARun {
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
	var order []string
	least, most := map[string]float64{}, map[string]float64{}
	for _, v := range list {
		for _, l := range v.levels {
			if _, known := most[l.Of]; !known {
				order = append(order, l.Of)
				least[l.Of] = math.Inf(1)
			}
			least[l.Of], most[l.Of] = min(least[l.Of], l.CV), max(most[l.Of], l.CV)
		}
	}
	var parts []string
	for _, of := range order {
		parts = append(parts, fmt.Sprintf("%s to %s between %s", cvText(least[of]), cvText(most[of]), levelsOf[of]))
	}
	return fmt.Sprintf("%s of %s of %s varies by %s", plain(list[0].metric), plural(len(list), "case"), plain(run),
		sentence(", ", parts...))
}

// byRun groups the cases by run, in document order.
func byRun(doc *results.Document) (out [][]*results.Case) {
	at := map[string]int{}
	for _, c := range doc.Cases {
		i, seen := at[c.Run]
		if !seen {
			i = len(out)
			at[c.Run], out = i, append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}
