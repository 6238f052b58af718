package ep

import "github.com/weir-bench/weir/workload"

// recordedPhases are the steps of an iteration in order.
var recordedPhases = []workload.RecordColumn{
	{Name: "quantise"},
	{Name: "dispatch_send", Title: "dispatch: send"},
	{Name: "dispatch_wait", Title: "dispatch: wait"},
	{Name: "partial", Title: "partial sums"},
	{Name: "combine_send", Title: "combine: send"},
	{Name: "combine_wait", Title: "combine: wait"},
	{Name: "sum"},
}

// charts are the charts of iterations in reports.
var charts = []workload.ChartSpec{
	{
		Title: "Phases of an iteration", Shows: workload.Phases, At: "start", Columns: recordedPhases,
		Doc: "The middle iteration of a launch, from the common start: its phases in order, a row per rank.",
	},
	{
		Title: "Time in each phase, by rank", Shows: workload.ByRank, Columns: recordedPhases,
		Doc: "Means over all iterations of a launch. A rank that waits long in dispatch or combine waits for a slower one.",
	},
}
