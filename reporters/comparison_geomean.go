package reporters

import (
	"fmt"
	"math"

	"weir/results"
)

// geomeanLines say of each metric with more than one case how much all of them changed
// together: the geometric mean of new over base.
func geomeanLines(c *results.Comparison) (lines []string) {
	type sum struct {
		logs  float64
		cases int
	}
	var order []string
	of := map[string]*sum{}
	for _, e := range c.Effects {
		if e.Base == nil || e.New == nil || !(e.Base.Value > 0) || !(e.New.Value > 0) {
			continue // a value that is 0 or less has no ratio
		}
		s := of[e.Metric]
		if s == nil {
			s = &sum{}
			of[e.Metric] = s
			order = append(order, e.Metric)
		}
		s.logs += math.Log(e.New.Value / e.Base.Value)
		s.cases++
	}
	for _, metric := range order {
		if s := of[metric]; s.cases > 1 {
			ratio := math.Exp(s.logs / float64(s.cases))
			lines = append(lines, fmt.Sprintf("geomean of %s: %s %+.3g%% (new/base %.4g)", plural(s.cases, "case"),
				plain(metric), 100*(ratio-1), ratio))
		}
	}
	return lines
}
