package executor

import (
	"fmt"

	"weir/planner"
	"weir/workload"
)

// specOf reads the options of a case, whether they come from the planner or from a plan
// file. known are the values of names in deferred options; nil: they are not known yet,
// and some are assumed.
func specOf(c *planner.Case, known map[string]string) (workload.Spec, *workload.Kind, error) {
	kind, ok := workload.Lookup(c.Workload)
	if !ok {
		return nil, nil, fmt.Errorf("this weir has no workload %q", c.Workload)
	}
	values, err := kind.Normalize(c.Options)
	if err == nil && known != nil {
		values, err = kind.Settle(values, known)
	}
	if err != nil {
		return nil, nil, err
	}
	var spec workload.Spec
	err = kind.Assume(values, func(v workload.Values) (err error) {
		spec, err = kind.Spec(v)
		return err
	})
	return spec, kind, err
}

// demanded is the demand of a case, or why its options cannot be read.
type demanded struct {
	demand workload.Demand
	err    error
}

// demandOf is what a case needs of the cluster. It is read once.
func (s *session) demandOf(c *planner.Case) (workload.Demand, error) {
	if d, known := s.demands[c]; known {
		return d.demand, d.err
	}
	var d demanded
	var spec workload.Spec
	if spec, _, d.err = specOf(c, nil); d.err == nil {
		d.demand = spec.Demand()
	}
	s.demands[c] = d
	return d.demand, d.err
}
