package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// The failure of a service names it, also if the process of weir that watches its program was killed.
func TestFailureOfAServiceNamesIt(t *testing.T) {
	for _, c := range []struct {
		failure *results.Failure
		ready   bool
		want    results.Failure
	}{
		{
			nil, true,
			results.Failure{Rank: -1, Node: "b", Phase: "run", Kind: results.Crashed, Cause: "service store ended"},
		},
		{
			&results.Failure{Node: "b", Phase: "run", Kind: results.Crashed, Cause: "killed by signal 9 (SIGKILL)"},
			true, results.Failure{Rank: -1, Node: "b", Phase: "run", Kind: results.Crashed,
				Cause: "service store: killed by signal 9 (SIGKILL)"},
		},
		{
			&results.Failure{
				Node: "b", Phase: "run", Kind: results.Fault, Cause: "service store: exited with status 1",
			},
			false, results.Failure{Rank: -1, Node: "b", Phase: "ready", Kind: results.FailedReady,
				Cause: "service store: exited with status 1"},
		},
	} {
		x := &service{Service: workload.Service{Name: "store"}}
		if c.ready {
			x.facts = &workload.ServiceFacts{}
		}
		if !x.reportHandler(nil)(agent.Report{Node: "b", Outcome: &agent.Outcome{Failure: c.failure}}) {
			t.Errorf("%+v: an outcome does not end the service", c.failure)
		}
		if diff := cmp.Diff(&c.want, x.failure); diff != "" {
			t.Errorf("%+v: %s", c.failure, diff)
		}
	}
}
