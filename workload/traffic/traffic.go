package traffic

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

var named, prefixed = fabric.OptionsOf(true)

// Kind is workload traffic, which moves the cells of a matrix, as NIXL's ct-perftest does.
var Kind = &workload.Kind{
	Name: "traffic",
	Doc:  "one traffic matrix, moved repeatedly: each rank moves the bytes of its row to the others, all starting together",
	Options: slices.Concat([]option.Option{transfer.Option("fabric")}, named, []option.Option{
		transfer.Option("op"),
		move.MemoryOfRanks(),
		move.VRAMAlloc("memory"),
		{Name: "matrix", Type: option.Matrix, Process: true},
		{Name: "matrix_file", Type: option.File, Into: "matrix"},
		{Name: "generate", Type: option.Generator, Into: "matrix", Process: true},
		{Name: "ranks", Type: option.Count, Min: 2, Max: option.MostRanks, Process: true, RanksOf: "matrix"},
		move.OwnCells(true),
		{Name: "shards", Type: option.Count, Default: int64(1), Min: 1, Max: 1 << 20},
		{Name: "iterations", Type: option.Count, Default: int64(50), Min: 1, Max: 4096},
		{Name: "warmup", Type: option.Count, Default: int64(10), Min: 0, Max: 1 << 20},
		transfer.Option("verify"),
		transfer.Option("pages"),
		transfer.Option("alloc"),
		transfer.Option("numa"),
	}, prefixed),
	Metrics: []workload.Metric{
		{Name: "latency.avg", Unit: "s", Better: workload.Lower},
		{Name: "latency.min", Unit: "s", Better: workload.Lower, Quantile: "min"},
		{Name: "latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: "iterations"},
		{Name: "latency.p90", Unit: "s", Better: workload.Lower, Quantile: "p90", CountedBy: "iterations"},
		{Name: "latency.p95", Unit: "s", Better: workload.Lower, Quantile: "p95", CountedBy: "iterations"},
		{Name: "latency.p99", Unit: "s", Better: workload.Lower, Quantile: "p99", CountedBy: "iterations"},
		{Name: "latency.max", Unit: "s", Better: workload.Lower, Quantile: "max"},
		{Name: "bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.SlowestRank},
		{Name: "bandwidth.per_sender", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.min_sender", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.per_receiver", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.min_receiver", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "latency.max_receiver", Unit: "s", Better: workload.Lower},
		{Name: "bytes", Unit: "B", Better: workload.Neither, Fixed: true},
		move.OwnBytes,
		{Name: "senders", Better: workload.Neither, Fixed: true},
		{Name: "receivers", Better: workload.Neither, Fixed: true},
		{Name: "skew", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "skew.p50", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "bottleneck.bytes", Unit: "B", Better: workload.Neither},
		{Name: "bottleneck.bandwidth", Unit: "GB/s", Better: workload.Higher, Ceiling: "ceiling.bandwidth"},
		{Name: "ceiling", Better: workload.Higher},
		{Name: "ceiling.best", Better: workload.Higher, Reference: true},
		{Name: "ceiling.bandwidth", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "ceiling.memcpy", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "prep.alloc", Unit: "s", Better: workload.Lower},
		{Name: "prep.register", Unit: "s", Better: workload.Lower},
		{Name: "prep.connect", Unit: "s", Better: workload.Lower},
		{Name: "prep.request", Unit: "s", Better: workload.Lower},
		{Name: "prep.lists", Unit: "s", Better: workload.Lower},
		{Name: "cpu_time_per_gb", Unit: "s/GB", Better: workload.Lower},
		{Name: "context_switches", Better: workload.Lower, MayBeZero: true},
		{Name: "clock.resolution", Unit: "s", Better: workload.Neither},
		{Name: "clock.cost", Unit: "s", Better: workload.Neither},
		{Name: "clock.bound", Unit: "s", Better: workload.Neither, MayBeZero: true},
	},
	OneOf: []string{"matrix", "matrix_file", "generate"},
	Checked: append([]string{
		"matrix", "own_cells", "generate", "ranks", "op", "fabric", "memory", "pages", "alloc", "numa",
	}, fabric.CheckedOptions(true)...),
	Show: workload.Presentation{
		Columns: []workload.Column{
			{Metric: "bytes", Head: "moves\n", Drop: 4},
			{Metric: "senders", Head: "senders", Drop: 8},
			{Metric: "bandwidth", Head: "bandwidth\n", Interval: true},
			{Metric: "bandwidth.per_sender", Head: "per sender\n", Drop: 9},
			{Metric: "latency.avg", Head: "latency\navg", Drop: 4},
			{Metric: "latency.p50", Head: "latency\np50", Drop: 5},
			{Metric: "latency.p99", Head: "latency\np99", Drop: 2},
			{Metric: "ceiling", Head: "% of ceiling", Drop: 1, Percent: true},
		},
		Brief: []string{"bandwidth", "latency.p50", "latency.p99"},
	},
}

//go:embed docs.md
var docs string

func init() {
	Kind.Document(strings.Replace(docs, "{generators}", option.GeneratorDocs(), 1))
	Kind.Check = func(v option.Values) error { // set here, because decode uses Kind
		_, err := decode(v, option.Generated.Check)
		return err
	}
	Kind.Behaviour = behaviour{Path: move.Path{Bounded: "bottleneck.bandwidth"}}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct {
	move.Path
	Clocks
}

// AmountOf returns the options that generate a matrix.
func (behaviour) AmountOf() []string { return []string{"generate", "ranks"} }

func (behaviour) Spec(v option.Values) (workload.Spec, error) {
	t, err := Decode(v)
	return &t, err
}

// Amount summarizes a generated matrix.
func (behaviour) Amount(v option.Values) string {
	t, err := Decode(v)
	if err != nil {
		return ""
	}
	return option.Amount(t.Matrix)
}

// Decode reads the values of a traffic case for runners, with the matrix written or generated.
func Decode(v option.Values) (move.Spec, error) { return decode(v, option.Generated.Matrix) }

// decode is Decode with a function that makes or checks a generated matrix.
func decode(v option.Values, generate func(g option.Generated, ranks int) (*matrix.Matrix, error)) (move.Spec,
	error) {
	t := move.Spec{Pattern: move.MatrixPattern, Mode: "stream", Reuse: "hot", Payload: "random", Batch: 1, Threads: 1}
	get := Kind.Get(v)
	err := get.Read(map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "memory": &t.Initiator, "verify": &t.Verify, "pages": &t.Pages,
		"alloc": &t.Alloc, "numa": &t.NUMA, "vram_alloc": &t.VRAMAlloc,
	}, map[string]*int64{"iterations": &t.Iterations, "warmup": &t.Warmup, "shards": &t.Shards})
	if err != nil {
		return t, err
	}
	t.Target = t.Initiator
	if t.FabricOptions, err = fabric.Read(t.Fabric, get); err != nil {
		return t, err
	}
	m, err := decodeMatrix(v, generate)
	if err == nil {
		err = t.SetMatrix(m, get("own_cells"))
	}
	if err != nil {
		return t, err
	}
	t.Intern(v["matrix"], v["generate"], v["ranks"], v["own_cells"])
	t.Fit()
	return t, t.Check()
}

// decodeMatrix makes the matrix of a case.
func decodeMatrix(v option.Values, generate func(g option.Generated, ranks int) (*matrix.Matrix,
	error)) (*matrix.Matrix, error) {
	ranks, counted := v["ranks"].(int64)
	written, isWritten := v["matrix"].(string)
	generated, isGenerated := v["generate"].(string)
	switch {
	case isWritten == isGenerated:
		return nil, fmt.Errorf("give exactly one of the options matrix, matrix_file and generate")
	case isGenerated && !counted:
		return nil, fmt.Errorf("option generate needs the option ranks: a generator makes a matrix of any size")
	case isGenerated:
		g, err := option.ParseGenerated(generated)
		if err != nil {
			return nil, fmt.Errorf("option generate: %w", err)
		}
		m, err := generate(g, int(ranks))
		if err != nil {
			return nil, fmt.Errorf("option generate: %s between %d ranks: %w", g, ranks, err)
		}
		return m, nil
	}
	m, err := option.ParseMatrix(written)
	if err == nil && counted && ranks != int64(m.Ranks()) {
		err = fmt.Errorf("it has %d ranks, but option ranks is %d: leave ranks out, or make them equal",
			m.Ranks(), ranks)
	}
	if err != nil {
		return nil, fmt.Errorf("option matrix: %w", err)
	}
	return m, nil
}
