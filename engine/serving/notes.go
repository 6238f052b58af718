package serving

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

// notes are peculiarities of successful requests, and of the path to the endpoint.
func (k *run) notes(records []load.Record) []results.Cause {
	count := map[string]int{}
	for i := range records {
		r := &records[i]
		if k.proxy != "" {
			count[k.proxy]++
		}
		if r.Outcome != load.OK {
			continue
		}
		if r.Open {
			count["the server kept the answer open after [DONE]: weir closed the connection"]++
		}
		if r.Doubt != "" {
			count[r.Doubt+": it is ignored"]++
		}
		known := r.Source == load.ByUsage || r.Source == load.ByTokenizer
		if known && r.Blank > 0 && r.Output > len(r.Events) {
			count["empty events came before the first with output, and there are more tokens than events: its ttft may be "+
				"too long"]++
		}
		if r.Hidden {
			count["the usage counts reasoning that no event brought: itl is of the tokens after it"]++
		}
		if known && k.spec.Exactly() && r.Output < r.AskedOutput {
			count["the answer is shorter than output: {exact: true} asks for"]++
		}
	}
	return serving.MostFrequent(count)
}
