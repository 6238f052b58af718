// Package epelastic is workload ep_elastic: an expert-parallel group whose ranks join, leave and
// die while tokens are dispatched and combined. Its phases, and what a plan file is, are those of
// NIXL EP's elastic test.
package epelastic

import (
	_ "embed"
	"slices"

	"weir/fabric"
	"weir/quantity"
	"weir/workload"
	"weir/workload/ep"
	"weir/workload/move"
	"weir/workload/transfer"
)

// Runner executes the ranks.
const Runner = "native-ep-elastic"

var named, prefixed = fabric.OptionsOf(true, ep.Engine)

// own are the options of the group and its steps.
var own = []workload.Option{
	{Name: "phases", Type: workload.Structure, Read: canonicalPhases},
	{Name: "plan_file", Type: workload.File, Into: "plan"},
	{Name: "plan", Type: workload.Data, Default: "", Read: canonicalPlan},
	workload.CountOption("iterations", 200, 4, 1<<16),
	workload.CountOption("tokens", 128, 1, 1<<16),
	workload.CountOption("hidden", 7168, 128, 65536),
	workload.CountOption("top_k", 8, 1, 64),
	workload.CountOption("experts_per_rank", 2, 1, 4096),
	workload.CountOption("seed", 1, 0, 1<<53),
	{
		Name: "silence", Type: workload.Time, Default: quantity.Time(1e9), Min: 1e6, Max: 600e9,
	},
	{Name: "layout", Type: workload.Enum, Default: "message", Values: []string{"message", "rank", "packed"}},
	{Name: "dispatch_dtype", Type: workload.Enum, Default: "fp8", Values: []string{"fp8", "bf16"}},
	{
		Name: "scales", Type: workload.Enum, Default: "f32", Values: []string{"f32", "pow2", "ue8m0"},
		For: map[string]string{"dispatch_dtype": "fp8"},
	},
}

// Kind is workload ep_elastic.
var Kind = &workload.Kind{
	Name: "ep_elastic",
	Doc:  "an expert-parallel group that grows, shrinks and loses ranks while tokens are dispatched and combined: each phase is a case, and all of them run in one launch",
	Options: slices.Concat([]workload.Option{transfer.Option("fabric")}, workload.OfProcess(named...),
		workload.OfProcess(own...), []workload.Option{
			{Name: "phase", Type: workload.Count, Default: int64(0), Min: 0, Max: mostPhases, Item: workload.OnlyItem},
			move.MemoryOfRanks(), move.VRAMAlloc("memory"), transfer.Option("pages"), transfer.Option("alloc"),
			transfer.Option("numa"),
		}, workload.OfProcess(prefixed...)),
	Without: ep.Without,
	Metrics: metrics(),
	Checked: slices.Concat(workload.NamesOf(own),
		[]string{"fabric", "phase", "memory", "vram_alloc", "pages", "alloc", "numa"},
		fabric.CheckedOptions(true, ep.Engine)),
	OneOf:     []string{"phases", "plan_file"},
	CountedBy: []string{"phases", "plan"}, Count: countRanks,
	Items: items,
	Columns: []workload.Column{
		{Metric: "scale_up.time", Head: "scale up"},
		{Metric: "detect.time", Head: "detect"},
		{Metric: "recover.time", Head: "recover"},
		{Metric: "stall.max", Head: "longest\nstep", Interval: true},
		{Metric: "rate.before", Head: "rate\nbefore", Drop: 1},
		{Metric: "rate.after", Head: "rate\nafter"},
		{Metric: "wrong_tokens", Head: "wrong\ntokens", Drop: 2},
	},
	Brief:    []string{"rate.after", "stall.max", "recover.time", "scale_up.time"},
	Sequence: "phase",
	Moments: map[string]workload.Moment{
		"order": {Text: "the order to change"}, "joined": {Text: "joined"}, "left": {Text: "left"},
		"killed": {Text: "killed", Fault: true}, "muted": {Text: "fell silent", Fault: true},
		"noticed": {Text: "masked", By: true}, "regrouped": {Text: "connected again"},
		"prepare": {Text: "makes the rows of its next steps"},
	},
}

func metrics() []workload.Metric {
	time := func(name string) workload.Metric {
		return workload.Metric{Name: name, Unit: "s", Better: workload.Lower, MayBeZero: true}
	}
	number := func(name string, better workload.Direction) workload.Metric {
		return workload.Metric{Name: name, Better: better, MayBeZero: true}
	}
	rate := func(name string) workload.Metric {
		return workload.Metric{Name: name, Unit: "1/s", Better: workload.Higher}
	}
	return []workload.Metric{
		number("group.ranks", workload.Neither),
		number("joined", workload.Neither), number("left", workload.Neither), number("killed", workload.Neither),
		number("muted", workload.Neither),
		time("scale_up.time"), time("scale_up.open"), time("scale_up.connect"), time("scale_down.time"),
		time("detect.time"), time("kernels.stop"), time("recover.time"), time("stall.max"),
		rate("rate.before"), rate("rate.during"), rate("rate.after"),
		number("wrong_tokens", workload.Lower), number("lost_tokens", workload.Lower),
		number("mask.wrong", workload.Lower),
		{Name: "latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: "latency.steps"},
		{Name: "latency.p99", Unit: "s", Better: workload.Lower, Quantile: "p99", CountedBy: "latency.steps"},
		number("latency.steps", workload.Neither),
		time("clock.bound"),
	}
}

//go:embed docs.md
var docs string

func init() {
	Kind.Document(docs)
	Kind.Check = func(v workload.Values) error {
		_, err := Decode(v)
		return err
	}
	Kind.Behaviour = workload.Behaviour{
		Spec:   spec,
		Reduce: reduce, Recompute: recompute, Amount: amount, AmountOf: changing,
		Unmeasured: unmeasured, UnmeasuredBy: unmeasuredBy,
		Blocks: map[string]workload.ForeignBlock{"nixl-ep": nixlEP},
	}
	workload.Register(Kind)
}
