package sequence

import (
	_ "embed"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/traffic"
	"github.com/weir-bench/weir/workload/transfer"
)

var named, prefixed = fabric.OptionsOf(true)

// Kind is workload traffic_sequence, which runs many matrices one after the other, as NIXL's sequential-ct-perftest
// does.
var Kind = &workload.Kind{
	Name: "traffic_sequence",
	Doc:  "a sequence of traffic matrices, together and each alone: the ranks of a matrix meet, sleep, and start together. Each pattern of the sequence is a case, and all of them run in one launch",
	Options: slices.Concat([]option.Option{process("fabric")}, named, []option.Option{
		{Name: "op", Type: option.Enum, Default: "write", Values: []string{"write", "read"}, Item: option.MayItem},
		move.MemoryOfRanks(),
		move.VRAMAlloc("memory"),
		{Name: "patterns", Type: option.Patterns, Process: true},
		{Name: "metadata_file", Type: option.File, Into: "patterns"},
		{Name: "generate", Type: option.Model, Into: "patterns"},
		{Name: "pattern", Type: option.Count, Default: int64(0), Min: 0, Max: maxPatterns, Item: option.OnlyItem},
		{Name: "matrix", Type: option.Matrix, Item: option.OnlyItem},
		{
			Name: "sleep_before_launch", Type: option.Time, Default: quantity.Time(0), Min: 0, Max: move.MaxSleep,
			Item: option.MayItem,
		},
		{
			Name: "sleep_after_launch", Type: option.Time, Default: quantity.Time(0), Min: 0, Max: move.MaxSleep,
			Item: option.MayItem,
		},
		{Name: "shards", Type: option.Count, Default: int64(1), Min: 1, Max: move.MaxShards, Item: option.MayItem},
		{Name: "metadata", Type: option.String, Default: "", Item: option.OnlyItem},
		move.OwnCells(false),
		{Name: "ranks", Type: option.Count, Min: 2, Max: option.MostRanks, Process: true, RanksOf: "matrix"},
		{Name: "overlap", Type: option.Bool, Default: true, Process: true},
		{Name: "time_scale", Type: option.Factor, Default: option.Scale(1), Process: true},
		{Name: "iterations", Type: option.Count, Default: int64(3), Min: 1, Max: 4096, Process: true},
		{Name: "warmup", Type: option.Count, Default: int64(1), Min: 0, Max: 1 << 20, Process: true},
		{Name: "isolated_iterations", Type: option.Count, Default: int64(30), Min: 1, Max: 4096, Process: true},
		{Name: "isolated_warmup", Type: option.Count, Default: int64(10), Min: 0, Max: 1 << 20, Process: true},
		process("verify"),
		transfer.Option("pages"),
		transfer.Option("alloc"),
		transfer.Option("numa"),
	}, prefixed),
	Metrics: append([]workload.Metric{
		{Name: "latency", Unit: "s", Better: workload.Lower},
		{Name: "latency.min", Unit: "s", Better: workload.Lower, Quantile: "min"},
		{Name: "latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: "iterations"},
		{Name: "latency.max", Unit: "s", Better: workload.Lower, Quantile: "max"},
		{Name: "isolated_latency", Unit: "s", Better: workload.Lower},
		{Name: "isolated_latency.min", Unit: "s", Better: workload.Lower},
		{Name: "isolated_latency.p50", Unit: "s", Better: workload.Lower, CountedBy: "isolated_iterations"},
		{Name: "isolated_latency.max", Unit: "s", Better: workload.Lower},
		{Name: "slowdown.p50", Better: workload.Lower, Headline: true},
		{Name: "slowdown", Better: workload.Lower},
		{Name: "bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.SlowestRank},
		{Name: "isolated_bandwidth", Unit: "GB/s", Better: workload.Higher},
		{Name: "bandwidth.per_sender", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.min_sender", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "skew", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "skew.p50", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "late", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "drift", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "drift.max", Unit: "s", Better: workload.Lower, MayBeZero: true},
	}, trafficMetrics("bytes", "bytes.own", "senders", "receivers", "bottleneck.bytes", "ceiling", "ceiling.best",
		"ceiling.bandwidth", "ceiling.memcpy",
		"prep.alloc", "prep.register", "prep.connect", "clock.resolution", "clock.cost", "clock.bound")...),
	OneOf: []string{"patterns", "metadata_file", "generate"},
	Checked: append([]string{
		"pattern", "matrix", "own_cells", "ranks", "op", "fabric", "memory", "pages", "alloc", "numa", "time_scale",
		"sleep_before_launch", "sleep_after_launch",
	}, fabric.CheckedOptions(true)...),
	Sequence: "pattern",
	Show: workload.Presentation{
		Columns: []workload.Column{ // those of sequential-ct-perftest, and bytes and ceiling
			{Metric: "bytes", Head: "moves\n", Drop: 4},
			{Metric: "senders", Head: "senders", Drop: 8},
			{Metric: "latency", Head: "latency\n"},
			{Metric: "isolated_latency", Head: "isolated\nlatency"},
			{Metric: "slowdown.p50", Head: "slowdown\np50", Interval: true},
			{Metric: "slowdown", Head: "slowdown\n", Drop: 2},
			{Metric: "bandwidth", Head: "bandwidth\n", Drop: 3},
			{Metric: "ceiling", Head: "% of ceiling", Drop: 1, Percent: true},
		},
		Brief: []string{"bandwidth", "latency.p50", "slowdown.p50"},
	},
}

// maxPatterns limits the patterns of a sequence.
const maxPatterns = 10_000

//go:embed docs.md
var docs string

func init() {
	Kind.Document(docs)
	Kind.Behaviour = behaviour{Path: move.Path{Bounded: "bottleneck.bandwidth"}}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct {
	move.Path
	traffic.Clocks
}

func (behaviour) Spec(v option.Values) (workload.Spec, error) {
	t, err := Decode(v)
	return &t, err
}

// process returns an option of workload transfer that holds for a whole launch.
func process(name string) option.Option {
	o := transfer.Option(name)
	o.Process = true
	return o
}

// alone are prefixes for texts of workload traffic's metrics.
var alone = map[string]string{
	"ceiling":      "isolated pattern: ",
	"ceiling.best": "isolated pattern: ",
}

// trafficMetrics returns metrics of workload traffic by name.
func trafficMetrics(names ...string) []workload.Metric {
	var list []workload.Metric
	for _, name := range names {
		m, ok := traffic.Kind.Metric(name)
		if !ok {
			panic("workload traffic has no metric " + name)
		}
		m.Doc = alone[name] + m.Doc
		list = append(list, m)
	}
	return list
}
