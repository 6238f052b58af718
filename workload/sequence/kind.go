package sequence

import (
	_ "embed"
	"slices"

	"weir/fabric"
	"weir/quantity"
	"weir/results"
	"weir/workload"
	"weir/workload/move"
	"weir/workload/traffic"
	"weir/workload/transfer"
)

var named, prefixed = fabric.OptionsOf(true)

// Kind is workload traffic_sequence, which plays many matrices one after the other, as NIXL's
// sequential-ct-perftest does.
var Kind = &workload.Kind{
	Name: "traffic_sequence",
	Doc:  "traffic matrices one after the other: the ranks of each meet, sleep, and start together; and each again alone. Each pattern of the sequence is a case, and all of them run in one launch",
	Options: slices.Concat([]workload.Option{process("fabric")}, named, []workload.Option{
		{Name: "op", Type: workload.Enum, Default: "write", Values: []string{"write", "read"}, Item: workload.MayItem},
		move.MemoryOfRanks(),
		move.VRAMAlloc("memory"),
		{Name: "patterns", Type: workload.Patterns, Process: true},
		{Name: "metadata_file", Type: workload.File, Into: "patterns"},
		{Name: "generate", Type: workload.Model, Into: "patterns"},
		{Name: "pattern", Type: workload.Count, Default: int64(0), Min: 0, Max: mostPatterns, Item: workload.OnlyItem},
		{Name: "matrix", Type: workload.Matrix, Item: workload.OnlyItem},
		{
			Name: "sleep_before_launch", Type: workload.Time, Default: quantity.Time(0), Min: 0, Max: move.MaxSleep,
			Item: workload.MayItem,
		},
		{
			Name: "sleep_after_launch", Type: workload.Time, Default: quantity.Time(0), Min: 0, Max: move.MaxSleep,
			Item: workload.MayItem,
		},
		{Name: "shards", Type: workload.Count, Default: int64(1), Min: 1, Max: move.MostShards, Item: workload.MayItem},
		{Name: "metadata", Type: workload.String, Default: "", Item: workload.OnlyItem},
		move.OwnCells(false),
		{Name: "ranks", Type: workload.Count, Min: 2, Max: workload.MostRanks, Process: true, RanksOf: "matrix"},
		{Name: "overlap", Type: workload.Bool, Default: true, Process: true},
		{Name: "time_scale", Type: workload.Factor, Default: workload.Scale(1), Process: true},
		{Name: "iterations", Type: workload.Count, Default: int64(3), Min: 1, Max: 4096, Process: true},
		{Name: "warmup", Type: workload.Count, Default: int64(1), Min: 0, Max: 1 << 20, Process: true},
		{Name: "isolated_iterations", Type: workload.Count, Default: int64(30), Min: 1, Max: 4096, Process: true},
		{Name: "isolated_warmup", Type: workload.Count, Default: int64(10), Min: 0, Max: 1 << 20, Process: true},
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
	Columns: []workload.Column{ // those of sequential-ct-perftest, and what was moved
		{Metric: "bytes", Head: "moves\n", Drop: 4},
		{Metric: "senders", Head: "senders", Drop: 8},
		{Metric: "latency", Head: "latency\n"},
		{Metric: "isolated_latency", Head: "isolated\nlatency"},
		{Metric: "slowdown.p50", Head: "slowdown\np50", Interval: true},
		{Metric: "slowdown", Head: "slowdown\n", Drop: 2},
		{Metric: "bandwidth", Head: "bandwidth\n", Drop: 3},
		{Metric: "ceiling", Head: "% of ceiling", Drop: 1, Percent: true},
	},
	Brief:    []string{"bandwidth", "latency.p50", "slowdown.p50"},
	Sequence: "pattern",
}

// mostPatterns is how many patterns a sequence has at most.
const mostPatterns = 10_000

//go:embed docs.md
var docs string

func init() {
	Kind.Document(docs)
	Kind.Check = func(v workload.Values) error { // here, because it looks at the options above
		_, err := Decode(v)
		return err
	}
	Kind.Behaviour = workload.Behaviour{
		Spec: spec, Arrange: arrange, Reduce: reduce, Together: together, Timetable: timetable,
		OfCeiling: move.OfCeiling, Carries: move.Carries("bottleneck.bandwidth"),
		AcrossHosts: traffic.AcrossHosts, Starts: traffic.Starts,
	}
	workload.Register(Kind)
}

func spec(v workload.Values) (workload.Spec, error) {
	t, err := Decode(v)
	return &t, err
}

// process is an option of Transfer's that is one for a whole launch.
func process(name string) workload.Option {
	o := transfer.Option(name)
	o.Process = true
	return o
}

// alone says of metrics of workload traffic what they are in a sequence.
var alone = map[string]string{
	"ceiling":      "of the pattern alone: ",
	"ceiling.best": "of the pattern alone: ",
}

// trafficMetrics are metrics of workload traffic by their names.
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
