package native

import (
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/sequence"
	"github.com/weir-bench/weir/workload/traffic"
	"github.com/weir-bench/weir/workload/transfer"
)

// caseOf returns a case as a rank receives it.
func caseOf(key string, o move.Spec, timeout, before time.Duration) engine.Case {
	c, err := engine.NewCase(key, &o, timeout, nil)
	if err != nil {
		panic(err)
	}
	c.Before = int64(before)
	return c
}

// open opens a rank of a launch in this process.
func open(l engine.Launch, self engine.Identity, c *engine.Control) (*rank, error) {
	r, err := native{}.Open(l, self, c)
	if err != nil {
		return nil, err
	}
	return r.(*rank), nil
}

// metricsOf returns those of the workload that moves data this way.
func metricsOf(o move.Spec, parts []*move.Part) (map[string]float64, error) {
	switch {
	case o.Step != nil:
		return sequence.Metrics(o, parts, nil)
	case o.Matrix != nil:
		return traffic.Metrics(o, parts, nil)
	}
	return transfer.Metrics(o, parts)
}
