package executor

import (
	"encoding/json"
	"fmt"
	"time"

	"weir/engine"
	"weir/planner"
	"weir/workload"
)

// specOf reads the options of a case, whether they come from the planner or from a plan
// file.
func specOf(c *planner.Case) (workload.Spec, *workload.Kind, error) {
	kind, ok := workload.Lookup(c.Workload)
	if !ok {
		return nil, nil, fmt.Errorf("this weir has no workload %q", c.Workload)
	}
	values, err := kind.Normalize(c.Options)
	if err != nil {
		return nil, nil, err
	}
	spec, err := kind.Spec(values)
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
	if spec, _, d.err = specOf(c); d.err == nil {
		d.demand = spec.Demand()
	}
	s.demands[c] = d
	return d.demand, d.err
}

// engineCase is a case as its ranks are told it. Parts of megabytes that the case before
// has too are not made again.
func engineCase(c *planner.Case, spec, before workload.Spec, last []engine.Case) (engine.Case, error) {
	out := engine.Case{Key: c.Key, Timeout: int64(c.Timeout * float64(time.Second))}
	var err error
	if out.Spec, err = json.Marshal(spec); err != nil {
		return out, fmt.Errorf("case %s: encoding its options: %w", c.Key, err)
	}
	large, ok := spec.(workload.Large)
	switch {
	case !ok:
		return out, nil
	case before != nil && large.SameLarge(before):
		out.Large = last[len(last)-1].Large
		return out, nil
	}
	if out.Large, err = large.Large(); err != nil {
		return out, fmt.Errorf("case %s: encoding its options: %w", c.Key, err)
	}
	return out, nil
}
