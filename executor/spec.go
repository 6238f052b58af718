package executor

import (
	"fmt"
	"slices"

	"weir/planner"
	"weir/workload"
)

// specOf reads the options of a case, whether they come from the planner or from a plan
// file. known are the values of names in deferred options; nil: they are not known yet,
// and some are assumed.
func specOf(c *planner.Case, known map[string]string) (asked, error) {
	kind, ok := workload.Lookup(c.Workload)
	if !ok {
		return asked{}, fmt.Errorf("this weir has no workload %q", c.Workload)
	}
	values, err := kind.Normalize(c.Options)
	if err == nil && known != nil {
		values, err = kind.Settle(values, known)
	}
	if err != nil {
		return asked{}, err
	}
	a := asked{Kind: kind, options: values}
	err = kind.Assume(values, func(v workload.Values) (err error) {
		a.spec, err = kind.Spec(v)
		return err
	})
	if err != nil {
		return a, err
	}
	a.demand = a.spec.Demand()
	if kind.Beside != nil {
		var beside []workload.Service
		if beside, err = kind.Beside(values); err != nil {
			return a, err
		}
		a.demand.Services = slices.Concat(a.demand.Services, beside)
	}
	return a, nil
}

// asked is what a case asks of a launch.
type asked struct {
	*workload.Kind
	spec    workload.Spec
	options workload.Values
	demand  workload.Demand
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
	var a asked
	a, d.err = specOf(c, nil)
	d.demand = a.demand
	s.demands[c] = d
	return d.demand, d.err
}
