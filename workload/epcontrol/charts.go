package epcontrol

import "weir/workload"

// charts are what reports draw of rounds.
func charts() []workload.Chart {
	var steps []workload.RecordColumn
	for _, name := range Columns() {
		steps = append(steps, workload.RecordColumn{Name: name})
	}
	return []workload.Chart{
		{
			Title: "Steps of a round", Shows: workload.Phases, Columns: steps,
			Doc: "The round in the middle of a launch: its steps one behind the other without what is between them, a row for each rank.",
		},
		{
			Title: "Time in each step, by rank", Shows: workload.ByRank, Columns: steps,
			Doc: "Means over all rounds of a launch.",
		},
	}
}
