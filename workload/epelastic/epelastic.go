// Package epelastic is workload ep_elastic: an expert-parallel group with ranks that join, leave and die while tokens
// are dispatched and combined. Phases and plan files are those of NIXL EP's elastic test.
package epelastic

import (
	_ "embed"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// Runner is the name of the runner of its ranks.
const Runner = "native-ep-elastic"

var named, prefixed = fabric.OptionsOf(true, ep.Engine)

// own are the options of the group and its steps.
var own = []option.Option{
	{Name: "phases", Type: option.Structure, Read: canonicalPhases},
	{Name: "plan_file", Type: option.File, Into: "plan"},
	{Name: "plan", Type: option.Data, Default: "", Read: canonicalPlan},
	option.CountOption("iterations", 200, 4, 1<<16),
	option.CountOption("tokens", 128, 1, 1<<16),
	option.CountOption("hidden", 7168, 128, 65536),
	option.CountOption("top_k", 8, 1, 64),
	option.CountOption("experts_per_rank", 2, 1, 4096),
	option.CountOption("seed", 1, 0, 1<<53),
	{
		Name: "silence", Type: option.Time, Default: quantity.Time(1e9), Min: 1e6, Max: 600e9,
	},
	{Name: "layout", Type: option.Enum, Default: "message", Values: []string{"message", "rank", "packed"}},
	{Name: "dispatch_dtype", Type: option.Enum, Default: "fp8", Values: []string{"fp8", "bf16"}},
	{
		Name: "scales", Type: option.Enum, Default: "f32", Values: []string{"f32", "pow2", "ue8m0"},
		Where: option.OnlyWhere{Options: map[string]string{"dispatch_dtype": "fp8"}},
	},
}

// Kind is workload ep_elastic.
var Kind = &workload.Kind{
	Name: "ep_elastic",
	Doc:  "an expert-parallel group that grows, shrinks and loses ranks while tokens are dispatched and combined: each phase is a case, and all of them run in one launch",
	Options: slices.Concat([]option.Option{transfer.Option("fabric")}, option.OfProcess(named...),
		option.OfProcess(own...), []option.Option{
			{Name: "phase", Type: option.Count, Default: int64(0), Min: 0, Max: maxPhases, Item: option.OnlyItem},
			move.MemoryOfRanks(), move.VRAMAlloc("memory"), ep.Initiated(), transfer.Option("pages"),
			transfer.Option("alloc"), transfer.Option("numa"),
		}, option.OfProcess(prefixed...)),
	Metrics: metrics(),
	Checked: slices.Concat(option.NamesOf(own),
		[]string{"fabric", "phase", "memory", "vram_alloc", "initiated", "pages", "alloc", "numa"},
		fabric.CheckedOptions(true, ep.Engine)),
	OneOf:    []string{"phases", "plan_file"},
	Sequence: "phase",
	Show: workload.Presentation{
		Columns: []workload.Column{
			{Metric: "scale_up.time", Head: "scale up"},
			{Metric: "detect.time", Head: "detect"},
			{Metric: "recover.time", Head: "recover"},
			{Metric: "stall.max", Head: "longest\nstep", Interval: true},
			{Metric: "rate.before", Head: "rate\nbefore", Drop: 1},
			{Metric: "rate.after", Head: "rate\nafter"},
			{Metric: "wrong_tokens", Head: "wrong\ntokens", Drop: 2},
		},
		Brief: []string{"rate.after", "stall.max", "recover.time", "scale_up.time"},
		Moments: map[string]workload.Moment{
			"order": {Text: "the order to change"}, "joined": {Text: "joined"}, "left": {Text: "left"},
			"killed": {Text: "killed", Fault: true}, "muted": {Text: "muted", Fault: true},
			"noticed": {Text: "masked", By: true}, "regrouped": {Text: "connected again"},
			"prepare": {Text: "prepares its next steps"},
		},
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
	Kind.Check = func(v option.Values) error {
		_, err := Decode(v)
		return err
	}
	Kind.Behaviour = behaviour{}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{}

// AmountOf returns the options that change the group.
func (behaviour) AmountOf() []string { return changing }

// CountedBy returns the options that decide the largest number of ranks.
func (behaviour) CountedBy() []string { return []string{"phases", "plan"} }

// Without returns the options of fabrics that dispatch and combine lack.
func (behaviour) Without() map[string]string { return ep.Without }

// Blocks returns the output in the form of NIXL EP's tests.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"nixl-ep": nixlEP}
}
