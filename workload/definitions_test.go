package workload_test

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// A run that declares metrics has its own table, other runs that of their workload; cases of documents without tables
// have those of this version.
func TestDefinitionsOfACase(t *testing.T) {
	one := func(name string, zero bool) []workload.Metric {
		return []workload.Metric{{Name: name, Better: workload.Lower, MayBeZero: zero}}
	}
	now := &results.Document{Metrics: []workload.MetricTable{
		{Workload: "w", Definitions: one("all", false)}, {Workload: "w", Run: "r", Definitions: one("own", true)},
		{Workload: "transfer", Definitions: one("skew", false)},
	}}
	older := &results.Document{
		Metrics: []workload.MetricTable{
			{Workload: "w", Definitions: one("older", true)}, {Workload: "v", Definitions: one("other", false)},
		},
	}
	d := workload.DefinitionsOf(now, older)
	for _, c := range []struct {
		workload, run, metric string
		has, mayBeZero        bool
	}{
		{"w", "x", "all", true, false}, {"w", "r", "own", true, true}, {"w", "r", "all", false, false},
		{"w", "x", "own", false, true},
		{"w", "x", "older", false, true}, {"v", "x", "other", true, false},
		{"transfer", "x", "skew", true, false}, {"transfer", "x", "bandwidth", false, false},
		// no document defines them
		{"traffic", "x", "bandwidth", true, false}, {"traffic", "x", "skew.p50", true, true},
		{"unknown", "x", "bandwidth", false, false}, {"unknown", "x", "availability", true, true},
	} {
		if _, has := d.Metric(&results.Case{Workload: c.workload, Run: c.run}, c.metric); has != c.has {
			t.Errorf("run %s of %s has %s: %v", c.run, c.workload, c.metric, has)
		}
		if zero := d.MayBeZero("", c.metric); zero != c.mayBeZero {
			t.Errorf("%s may be 0: %v", c.metric, zero)
		}
	}
}
