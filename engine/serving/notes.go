package serving

import (
	"weir/results"
	load "weir/serving"
	"weir/workload/serving"
)

// notes are what is odd about requests that did not fail, and about the way to the endpoint.
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
		if r.Doubt != "" {
			count[r.Doubt+": it is not believed"]++
		}
		known := r.Source == load.ByUsage || r.Source == load.ByTokenizer
		if known && r.Blank > 0 && r.Output > len(r.Events) {
			count["empty events came before the first with output, and there are more tokens than events: its ttft may be "+
				"too long"]++
		}
		if known && k.spec.Exactly() && r.Output < r.AskedOutput {
			count["the answer is shorter than output: {exact: true} asks for"]++
		}
	}
	return serving.MostFrequent(count)
}
