package executor

import "weir/planner"

// valuesFor are the values of names that a case uses: expressions over medians of other runs, in
// the units of the metrics.
func (s *session) valuesFor(c *planner.Case, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range names {
		var err error
		if all[name], err = s.plan.Value(c, name, s.ledger.MedianOf); err != nil {
			return nil, err
		}
	}
	return all, nil
}
