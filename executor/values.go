package executor

import (
	"fmt"
	"slices"
	"strconv"

	"weir/planner"
	"weir/results"
)

// valuesFor are the numbers of other runs that texts of a case name: medians over launches, in
// the units of the metrics.
func (s *session) valuesFor(c *planner.Case, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range names {
		of, metric, err := s.plan.Value(c, name)
		if err != nil {
			return nil, err
		}
		v, ok := median(s.ledger.Case(of.Key), metric)
		if !ok {
			return nil, fmt.Errorf("%s: no launch of %s has measured it", name, of.Key)
		}
		all[name] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return all, nil
}

// median is that of a metric over the launches of a case that succeeded.
func median(c *results.Case, metric string) (float64, bool) {
	var all []float64
	for _, l := range c.Launches {
		if v, ok := l.Metrics.Get(metric); ok && l.Status == results.OK {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	half := len(all) / 2
	if len(all)%2 == 1 {
		return all[half], true
	}
	return (all[half-1] + all[half]) / 2, true
}
