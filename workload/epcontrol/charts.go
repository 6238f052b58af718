package epcontrol

import "github.com/weir-bench/weir/workload"

// charts are the charts of rounds in reports.
func charts() []workload.ChartSpec {
	var steps []workload.RecordColumn
	for _, name := range Columns() {
		steps = append(steps, workload.RecordColumn{Name: name})
	}
	return []workload.ChartSpec{
		{
			Title: "Steps of a round", Shows: workload.Phases, Columns: steps,
			Doc: "The middle round of a launch: its steps in order, without the time between them, a row per rank.",
		},
		{
			Title: "Time in each step, by rank", Shows: workload.ByRank, Columns: steps,
			Doc: "Means over all rounds of a launch.",
		},
	}
}
