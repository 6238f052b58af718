package serving

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/summary"
)

const atOnce = "all tokens of the answer came at once, as from a proxy that buffers: its itl is 0, or absent if one event " +
	"had them"

// notes are peculiarities of successful requests, and of the path to the endpoint.
func (k *run) notes(records []load.Record) []results.Cause {
	count, succeeded := map[string]int{}, 0
	for i := range records {
		r := &records[i]
		if k.proxy != "" {
			count[k.proxy]++
		}
		if r.Outcome != load.OK {
			continue
		}
		succeeded++
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
		if summary.AtOnce(r) {
			count[atOnce]++
		}
		if known && r.AskedOutput > 0 && r.Output > r.AskedOutput {
			count["the answer has more tokens than were asked for"]++
		}
		if r.Hidden {
			count["the usage counts reasoning that no event brought: itl is of the tokens after it"]++
		}
		if known && k.spec.Exactly() && r.Output < r.AskedOutput {
			count["the answer is shorter than output: {exact: true} asks for"]++
		}
	}
	if 2*count[atOnce] < succeeded { // a fast server sends a short answer at once
		delete(count, atOnce)
	}
	return serving.MostFrequent(count)
}
