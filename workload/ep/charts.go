package ep

import "weir/workload"

// recordedPhases are the steps of an iteration, in their order.
var recordedPhases = []workload.RecordColumn{
	{Name: "quantise"},
	{Name: "dispatch_send", Title: "dispatch: send"},
	{Name: "dispatch_wait", Title: "dispatch: wait"},
	{Name: "partial", Title: "partial sums"},
	{Name: "combine_send", Title: "combine: send"},
	{Name: "combine_wait", Title: "combine: wait"},
	{Name: "sum"},
}

// charts are what reports draw of iterations.
var charts = []workload.Chart{
	{
		Title: "Phases of an iteration", Shows: workload.Phases, At: "start", Columns: recordedPhases,
		Doc: "The iteration in the middle of a launch: from the common start, one phase behind the other, a row for each rank.",
	},
	{
		Title: "Time in each phase, by rank", Shows: workload.ByRank, Columns: recordedPhases,
		Doc: "Means over all iterations of a launch. A rank that waits long in dispatch or combine waits for a slower one.",
	},
}
