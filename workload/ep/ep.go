// Package ep is workload ep: dispatch and combine of tokens between the ranks of a mixture-of-experts layer. Package
// routing makes the routes, and Layout the offsets of all messages, so that every runner moves the same bytes. Options
// and metrics are named as in NIXL EP's performance tests where those have them.
package ep

import (
	_ "embed"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep/routing"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// Names of the runners: of ranks that move bytes, and of fabric sim.
const (
	Runner    = "native-ep"
	SimRunner = "sim-ep"
)

// Engine is an option of fabric cuda that workload ep lacks, see Without.
const Engine = "cuda_engine"

// Without are the options of fabrics that workload ep lacks, each with the reason.
var Without = map[string]string{
	Engine: "kernels of dispatch and combine store by multiprocessors, as cuda_engine sm of other workloads does",
}

var named, prefixed = options()

// options returns the options of the fabrics that move matrices, and of the simulated ones.
func options() (named, prefixed []option.Option) {
	named, prefixed = fabric.OptionsOf(true, Engine)
	for _, f := range fabric.All {
		if f.Simulated {
			prefixed = append(prefixed, f.Options...)
		}
	}
	return named, prefixed
}

func of(name, value string, o option.Option) option.Option {
	o.Where.Options = map[string]string{name: value}
	return o
}

// routed are the options that decide the routes. Cases that differ in them need launches of their own, because memory
// offsets follow from the routes.
var routed = []option.Option{
	option.CountOption("ranks", 8, 2, option.MostProcesses),
	{Name: "tokens", Type: option.Count, Default: int64(512), Min: 1, Max: routing.MaxTokens, Words: checkTokens},
	option.CountOption("hidden", 4096, 128, 65536),
	option.CountOption("experts_per_rank", 8, 1, 4096),
	option.CountOption("top_k", 2, 1, maxSelected),
	{
		Name: "routing", Type: option.Enum, Default: routing.Uniform,
		Values: append(slices.Clone(routing.Kinds), fromFile),
	},
	{Name: "seed", Type: option.Count, Default: int64(1), Min: 0, Max: 1 << 53},
	of("routing", routing.Lognormal, option.Option{
		Name: "maxvio", Type: option.Factor, Default: option.Scale(1),
	}),
	of("routing", routing.Zipf, option.Option{Name: "zipf_s", Type: option.Factor, Default: option.Scale(1)}),
	of("routing", routing.Hot, option.CountOption("hot_experts", 1, 1, 1<<20)),
	of("routing", routing.Hot, option.Option{
		Name: "hot_fraction", Type: option.Percent, Default: hotDefault, Min: 0, Max: 100,
	}),
	of("routing", routing.Group, option.CountOption("groups", 8, 1, 1<<16)),
	{Name: "routes", Type: option.File, Into: "route_table"},
	of("routing", fromFile, option.Option{
		Name: "route_table", Type: option.Data, Default: "", Read: canonicalRoutes,
	}),
	{Name: "masked", Type: option.Percent, Default: noneOfAll, Min: 0, Max: 100},
	option.EnumOption("mode", "e2e", "dispatch", "combine"),
	option.EnumOption("layout", "message", "rank", "packed"),
	option.EnumOption("dispatch_dtype", "fp8", "bf16"),
	of("dispatch_dtype", "fp8", option.EnumOption("scales", "f32", "pow2", "ue8m0")),
	option.EnumOption("combine_dtype", "bf16"),
}

// Kind is workload ep.
var Kind = &workload.Kind{
	Name: "ep",
	Doc:  "dispatch and combine of an expert-parallel layer: tokens go to the ranks of their experts, and sums come back",
	Options: slices.Concat([]option.Option{transfer.Option("fabric")}, named, option.OfProcess(routed...),
		[]option.Option{
			move.MemoryOfRanks(),
			move.VRAMAlloc("memory"),
			Initiated(),
			option.EnumOption("timing", "aligned", "stream"),
			of("memory", fabric.VRAM,
				option.EnumOption("kernel_launch", "each", "dependent", "graph", "graph_dependent")),
			of("memory", fabric.VRAM, option.EnumOption("caches", "warm", "flushed")),
			option.EnumOption("quantise", "timed", "before"),
			option.CountOption("warmup", 10, 0, 1<<20),
			option.CountOption("iterations", 100, 1, 4096),
			option.CountOption("threads", 1, 1, maxThreads),
			transfer.Option("verify"),
			transfer.Option("pages"),
			transfer.Option("alloc"),
			transfer.Option("numa"),
		}, prefixed),
	Metrics: slices.Concat([]workload.Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.min_rank", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{Name: "bandwidth.max_rank", Unit: "GB/s", Better: workload.Higher, FromRanks: results.EachRank},
		{
			Name: "wire_bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.SlowestRank,
			Ceiling: "ceiling.bandwidth",
		},
		{Name: "dedup_bandwidth", Unit: "GB/s", Better: workload.Higher, FromRanks: results.SlowestRank},
		{Name: "latency.avg", Unit: "s", Better: workload.Lower},
		{Name: "latency.min", Unit: "s", Better: workload.Lower},
		{Name: "latency.max", Unit: "s", Better: workload.Lower},
		{Name: "latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: "iterations"},
		{Name: "latency.p90", Unit: "s", Better: workload.Lower, Quantile: "p90", CountedBy: "iterations"},
		{Name: "latency.p99", Unit: "s", Better: workload.Lower, Quantile: "p99", CountedBy: "iterations"},
		{Name: "latency.events", Unit: "s", Better: workload.Lower},
		{Name: "latency.wall", Unit: "s", Better: workload.Lower},
	}, operationMetrics("dispatch"), operationMetrics("combine"), []workload.Metric{
		{Name: "tokens_per_second", Unit: "1/s", Better: workload.Higher},
		{Name: "skew.p50", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "skew.start", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "wait.max", Unit: "s", Better: workload.Lower},
		{Name: "phase.quantise", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "phase.send", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "phase.wait", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "phase.reduce", Unit: "s", Better: workload.Lower, MayBeZero: true},
		{Name: "phase.post", Unit: "s", Better: workload.Lower},
		{Name: "phase.kernel", Unit: "s", Better: workload.Lower},
		{Name: "phase.launch", Unit: "s", Better: workload.Lower},
		{Name: "imbalance", Better: workload.Neither, Fixed: true},
		{Name: "maxvio.reached", Better: workload.Neither, MayBeZero: true, Fixed: true},
		{Name: "ranks_per_token", Better: workload.Neither, Fixed: true},
		{Name: "bytes.logical", Unit: "B", Better: workload.Neither, Fixed: true},
		{Name: "bytes.wire", Unit: "B", Better: workload.Neither, MayBeZero: true, Fixed: true},
		{Name: "bytes.dedup", Unit: "B", Better: workload.Neither, MayBeZero: true, Fixed: true},
		{Name: "ranks_passed", Better: workload.Higher, Fixed: true},
		{Name: "ceiling", Better: workload.Higher},
		{Name: "ceiling.best", Better: workload.Higher, Reference: true},
		{Name: "ceiling.bandwidth", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "ceiling.memcpy", Unit: "GB/s", Better: workload.Neither, Reference: true},
		{Name: "prep.alloc", Unit: "s", Better: workload.Lower},
		{Name: "prep.register", Unit: "s", Better: workload.Lower},
		{Name: "prep.connect", Unit: "s", Better: workload.Lower},
		{Name: "cpu_time_per_gb", Unit: "s/GB", Better: workload.Lower},
		{Name: "context_switches", Better: workload.Lower, MayBeZero: true},
		{Name: "clock.resolution", Unit: "s", Better: workload.Neither},
		{Name: "clock.cost", Unit: "s", Better: workload.Neither},
		{Name: "clock.bound", Unit: "s", Better: workload.Neither, MayBeZero: true},
	}),
	Checked: slices.Concat(option.NamesOf(routed), []string{"fabric", "sim_failure", "timing", "verify", "pages",
		"alloc", "numa", "iterations", "memory", "vram_alloc", "threads", "kernel_launch", "caches", "initiated"},
		fabric.CheckedOptions(true, Engine)),
	Show: workload.Presentation{
		Columns: []workload.Column{
			{Metric: "bytes.logical", Head: "bytes\na rank", Drop: 6},
			{Metric: "bandwidth", Head: "bandwidth\n", Interval: true},
			{Metric: "wire_bandwidth", Head: "wire\nbandwidth", Drop: 3},
			{Metric: "latency.avg", Head: "latency\nof a rank avg", Drop: 4},
			{Metric: "latency.p50", Head: "latency\nof all p50", Drop: 5},
			{Metric: "latency.p99", Head: "latency\nof all p99", Drop: 2},
			{Metric: "ceiling", Head: "% of ceiling", Drop: 1, Percent: true},
		},
		Brief:  []string{"bandwidth", "latency.p50", "latency.p99"},
		Charts: charts,
	},
}

// operationMetrics are the metrics of one of the two operations of mode e2e.
func operationMetrics(name string) []workload.Metric {
	return []workload.Metric{
		{Name: name + ".bandwidth", Unit: "GB/s", Better: workload.Higher},
		{Name: name + ".latency.avg", Unit: "s", Better: workload.Lower},
		{Name: name + ".latency.p50", Unit: "s", Better: workload.Lower, Quantile: "p50", CountedBy: "iterations"},
		{Name: name + ".latency.p99", Unit: "s", Better: workload.Lower, Quantile: "p99", CountedBy: "iterations"},
	}
}

//go:embed docs.md
var docs string

func init() {
	Kind.Document(docs)
	Kind.Behaviour = behaviour{move.Path{Bounded: "wire_bandwidth"}}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{ move.Path }

// Spec decodes and checks the options of a case.
func (behaviour) Spec(v option.Values) (workload.Spec, error) { return Decode(v) }

// AmountOf returns the options that decide which rows go where.
func (behaviour) AmountOf() []string { return append([]string{"routing"}, option.NamesOf(routed)...) }

// Without returns the options of fabrics that workload ep lacks.
func (behaviour) Without() map[string]string { return Without }

// Passed returns the metric that counts the ranks with verified contents.
func (behaviour) Passed() string { return "ranks_passed" }

// Blocks returns the output of NIXL EP's test.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"nixl-ep": nixlEP}
}

func (behaviour) Simulated(option option.Getter) bool {
	name, _ := option("fabric").(string)
	return fabric.Simulated(name)
}

// AcrossHosts returns an iteration, which starts at one rank and ends at another.
func (behaviour) AcrossHosts(m results.MetricValues) workload.Span {
	return workload.Span{Of: "an iteration", Took: m.At("latency.p50"), Bound: m.At("clock.bound")}
}

func (behaviour) Starts(m results.MetricValues) (apart, took float64, ok bool) {
	apart, ok = m.Get("skew.start")
	took, known := m.Get("latency.p50")
	return apart, took, ok && known
}
