package executor

import (
	"fmt"
	"slices"

	"weir/planner"
	"weir/results"
)

// valuesFor are the values of names that a case uses: expressions over medians of other runs, in
// the units of the metrics.
func (s *session) valuesFor(c *planner.Case, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range names {
		var err error
		if all[name], err = s.plan.Value(c, name, s.medianOf); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *session) medianOf(of *planner.Case, metric string) (float64, error) {
	v, ok := median(s.ledger.Case(of.Key), metric)
	if !ok {
		return 0, fmt.Errorf("no launch of %s has measured %s", of.Key, metric)
	}
	return v, nil
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
