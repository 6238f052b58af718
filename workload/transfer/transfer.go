package transfer

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

var named, prefixed = fabric.OptionsOf(false)

// Kind is workload transfer, which moves blocks between ranks, as nixlbench and the fabrics' own
// perftests do.
var Kind = &workload.Kind{
	Name: "transfer",
	Doc:  "block transfers between ranks: one-sided writes and reads, streamed with a window or as a ping-pong",
	Options: slices.Concat([]option.Option{
		{
			Name: "fabric", Type: option.Enum, Default: fabric.AutoName, Process: true, Values: fabric.Values(),
		},
	}, named, []option.Option{
		{Name: "op", Type: option.Enum, Default: "write", Values: []string{"write", "read"}},
		move.MemoryKind("initiator"),
		move.MemoryKind("target"),
		move.VRAMAlloc("initiator", "target"),
		{Name: "block_size", Type: option.Size, Required: true, Min: 1, Max: 1 << 40},
		{Name: "batch", Type: option.Count, Default: int64(1), Min: 1, Max: 1 << 20},
		{Name: "iterations", Type: option.Count, Default: int64(100), Min: 1, Max: 1 << 40},
		{Name: "duration", Type: option.Time, Default: quantity.Time(0), Min: 0, Max: 86400e9},
		{Name: "warmup", Type: option.Count, Default: int64(10), Min: 0, Max: 1 << 40},
		{Name: "in_flight", Type: option.Count, Default: int64(16), Min: 1, Max: 4096},
		{Name: "threads", Type: option.Count, Default: int64(1), Min: 1, Max: 64, Process: true},
		{Name: "ranks", Type: option.Count, Default: int64(2), Min: 2, Max: option.MostSimulated, Process: true},
		{
			Name: "pattern", Type: option.Enum, Default: "pairwise",
			Values: []string{"pairwise", "one_to_many", "many_to_one", "ring", "all_to_all"}, Process: true,
		},
		{Name: "bidirectional", Type: option.Bool, Default: false, Process: true},
		{Name: "mode", Type: option.Enum, Default: "stream", Values: []string{"stream", "pingpong"}},
		{Name: "verify", Type: option.Enum, Default: "sample", Values: []string{"none", "sample", "full"}},
		{Name: "reuse", Type: option.Enum, Default: "hot", Values: []string{"hot", "spread"}},
		{
			Name: "pages", Type: option.Enum, Default: "default", Values: []string{"default", "thp", "2MiB", "1GiB"},
			Process: true,
		},
		{Name: "alloc", Type: option.Enum, Default: "fabric", Process: true, Values: []string{"fabric", "heap"}},
		{Name: "wait", Type: option.Enum, Default: "poll", Process: true, Values: []string{"poll", "sleep"}},
		{Name: "numa", Type: option.NUMA, Default: "default", Process: true},
		{Name: "payload", Type: option.Enum, Default: "random", Values: []string{"random", "zero"}},
	}, prefixed),
	Metrics: []workload.Metric{
		{
			Name: "bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.SumOfRanks,
			Ceiling: "ceiling.bandwidth",
		},
		{Name: "bandwidth.min_rank", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "latency.avg", Unit: "s", Better: workload.Lower},
		{Name: "latency.min", Unit: "s", Better: workload.Lower, Quantile: "min"},
		{Name: "latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: stamped},
		{Name: "latency.p90", Unit: "s", Better: workload.Lower, Quantile: "p90", CountedBy: stamped},
		{Name: "latency.p95", Unit: "s", Better: workload.Lower, Quantile: "p95", CountedBy: stamped},
		{Name: "latency.p99", Unit: "s", Better: workload.Lower, Quantile: "p99", CountedBy: stamped},
		{Name: "latency.p999", Unit: "s", Better: workload.Lower, Quantile: "p99.9", CountedBy: stamped},
		{Name: "latency.max", Unit: "s", Better: workload.Lower, Quantile: "max"},
		{Name: "post.avg", Unit: "s", Better: workload.Lower},
		{Name: "post.p99", Unit: "s", Better: workload.Lower, CountedBy: stamped},
		{Name: "transfer.avg", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "transfer.p99", Unit: "s", Better: workload.Lower, MayBeZero: true, CountedBy: stamped},
		{Name: "requests", Better: workload.Neither, Fixed: true},
		{Name: stamped, Better: workload.Neither},
		{Name: "overlap", Better: workload.Higher},
		{Name: "skew", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "skew.end", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "message_rate", Unit: "1/s", Better: workload.Higher},
		{Name: "ceiling", Better: workload.Higher},
		{Name: "ceiling.best", Better: workload.Higher, Reference: true},
		{Name: "ceiling.bandwidth", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "ceiling.memcpy", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "prep.alloc", Unit: "s", Better: workload.Lower},
		{Name: "prep.register", Unit: "s", Better: workload.Lower},
		{Name: "prep.connect", Unit: "s", Better: workload.Lower},
		{Name: "prep.request", Unit: "s", Better: workload.Lower},
		{Name: "prep.request.p99", Unit: "s", Better: workload.Lower},
		{Name: "prep.lists", Unit: "s", Better: workload.Lower},
		{Name: "prep.lists.p99", Unit: "s", Better: workload.Lower},
		{Name: "prep.reregister", Unit: "s", Better: workload.Lower},
		{Name: "prep.reregister.p99", Unit: "s", Better: workload.Lower},
		{Name: "cpu_time_per_gb", Unit: "s/GB", Better: workload.Lower},
		{Name: "context_switches", Better: workload.Lower, MayBeZero: true},
		{Name: "clock.resolution", Unit: "s", Better: workload.Neither},
		{Name: "clock.cost", Unit: "s", Better: workload.Neither},
		{Name: "clock.bound", Unit: "s", Better: workload.Neither, MayBeZero: true},
	},
	Checked: append([]string{
		"pattern", "bidirectional", "ranks", "mode", "op", "iterations", "block_size", "batch", "in_flight", "threads",
		"fabric", "initiator", "target", "reuse", "pages", "alloc", "wait", "numa", "duration",
	}, fabric.CheckedOptions(false)...),
	Show: workload.Presentation{
		Columns: []workload.Column{
			{Metric: "bandwidth", Head: "bandwidth\n", Interval: true},
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
	Kind.Document(docs)
	Kind.Behaviour = behaviour{move.Path{Bounded: "bandwidth"}}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{ move.Path }

// LeastTime returns the duration of the timed part.
func (behaviour) LeastTime(v option.Values) time.Duration {
	d, _ := v["duration"].(quantity.Time)
	return time.Duration(d)
}

// OnceRounded returns the quantiles that are rounded in older documents.
func (behaviour) OnceRounded() []string {
	return []string{
		"latency.p90", "latency.p95", "latency.p99", "latency.p999", "post.p99", "transfer.p99", "prep.request.p99",
		"prep.lists.p99", "prep.reregister.p99",
	}
}

// Tables returns nixlbench's table.
func (behaviour) Tables() map[string]workload.ForeignTable {
	return map[string]workload.ForeignTable{"nixlbench": nixlbench}
}

func (behaviour) Spec(v option.Values) (workload.Spec, error) {
	t, err := Decode(v)
	return &t, err
}

func (behaviour) Simulated(option option.Getter) bool {
	name, _ := option("fabric").(string)
	return fabric.Simulated(name)
}

// Decode reads the values of a transfer case; options that are absent have their defaults.
func Decode(v option.Values) (move.Spec, error) {
	var t move.Spec
	get := Kind.Get(v)
	err := get.Read(map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "initiator": &t.Initiator, "target": &t.Target, "pattern": &t.Pattern,
		"mode":   &t.Mode,
		"verify": &t.Verify, "reuse": &t.Reuse, "pages": &t.Pages, "alloc": &t.Alloc, "wait": &t.Wait, "numa": &t.NUMA,
		"payload": &t.Payload, "vram_alloc": &t.VRAMAlloc,
	}, map[string]*int64{
		"batch": &t.Batch, "iterations": &t.Iterations, "warmup": &t.Warmup, "in_flight": &t.InFlight,
		"threads": &t.Threads, "ranks": &t.Ranks,
	})
	if err != nil {
		return t, err
	}
	size, ok := get("block_size").(quantity.Size)
	if !ok {
		return t, fmt.Errorf("option block_size is missing")
	}
	t.BlockSize = size
	if t.FabricOptions, err = fabric.Read(t.Fabric, get); err != nil {
		return t, err
	}
	if t.Duration, ok = get("duration").(quantity.Time); !ok {
		return t, fmt.Errorf("option duration is %T, not a time", get("duration"))
	}
	if t.Bidirectional, ok = get("bidirectional").(bool); !ok {
		return t, fmt.Errorf("option bidirectional is %T, not true or false", get("bidirectional"))
	}
	if fabric.Simulated(t.Fabric) {
		if t.Sim, err = fabric.ReadSimulation(get, t.Ranks); err != nil {
			return t, err
		}
	}
	return t, t.Check()
}
