package native

import (
	"time"

	"weir/engine"
	"weir/workload/move"
	"weir/workload/sequence"
	"weir/workload/traffic"
	"weir/workload/transfer"
)

// caseOf is a case as a rank is told it.
func caseOf(key string, o move.Spec, timeout, before time.Duration) engine.Case {
	c, err := engine.NewCase(key, &o, timeout, nil)
	if err != nil {
		panic(err)
	}
	c.Before = int64(before)
	return c
}

// open is a rank of a launch in this process.
func open(l engine.Launch, self engine.Identity, c *engine.Control) (*rank, error) {
	r, err := native{}.Open(l, self, c)
	if err != nil {
		return nil, err
	}
	return r.(*rank), nil
}

// metricsOf are those of the workload that moves so.
func metricsOf(o move.Spec, parts []*move.Part) (map[string]float64, error) {
	switch {
	case o.Step != nil:
		return sequence.Metrics(o, parts, nil)
	case o.Matrix != nil:
		return traffic.Metrics(o, parts, nil)
	}
	return transfer.Metrics(o, parts)
}
