// Package ep is workload ep: dispatch and combine of tokens between the ranks of a
// mixture-of-experts layer. Routes come from package routing; what each rank sends to which
// place follows from them here (Layout), so that every runner moves the same bytes. Names of
// options and metrics follow NIXL EP's performance tests where these have one.
package ep

import (
	_ "embed"
	"slices"

	"weir/fabric"
	"weir/results"
	"weir/routing"
	"weir/workload"
	"weir/workload/move"
	"weir/workload/transfer"
)

// Names of what executes the ranks: between memories, and of fabric sim.
const (
	Runner    = "native-ep"
	SimRunner = "sim-ep"
)

// Engine is an option of fabric cuda that dispatch and combine have not, as Without says.
const Engine = "cuda_engine"

// Without are the options of fabrics that dispatch and combine have not.
var Without = map[string]string{
	Engine: "kernels of dispatch and combine store by multiprocessors, as cuda_engine sm of other workloads does",
}

var named, prefixed = options()

// options are those of the fabrics that move matrices, and of the simulated ones.
func options() (named, prefixed []workload.Option) {
	named, prefixed = fabric.OptionsOf(true, Engine)
	for _, f := range fabric.All {
		if f.Simulated {
			prefixed = append(prefixed, f.Options...)
		}
	}
	return named, prefixed
}

func of(name, value string, o workload.Option) workload.Option {
	o.For = map[string]string{name: value}
	return o
}

// routed are the options that decide the routes: cases that differ in them need launches of
// their own, because places in memory follow from the routes.
var routed = []workload.Option{
	workload.CountOption("ranks", 8, 2, workload.MostProcesses),
	{Name: "tokens", Type: workload.Count, Default: int64(512), Min: 1, Max: routing.MostTokens, Words: checkTokens},
	workload.CountOption("hidden", 4096, 128, 65536),
	workload.CountOption("experts_per_rank", 8, 1, 4096),
	workload.CountOption("top_k", 2, 1, mostSelected),
	{
		Name: "routing", Type: workload.Enum, Default: routing.Uniform,
		Values: append(slices.Clone(routing.Kinds), fromFile),
	},
	{Name: "seed", Type: workload.Count, Default: int64(1), Min: 0, Max: 1 << 53},
	of("routing", routing.Lognormal, workload.Option{
		Name: "maxvio", Type: workload.Factor, Default: workload.Scale(1),
	}),
	of("routing", routing.Zipf, workload.Option{Name: "zipf_s", Type: workload.Factor, Default: workload.Scale(1)}),
	of("routing", routing.Hot, workload.CountOption("hot_experts", 1, 1, 1<<20)),
	of("routing", routing.Hot, workload.Option{
		Name: "hot_fraction", Type: workload.Percent, Default: hotDefault, Min: 0, Max: 100,
	}),
	of("routing", routing.Group, workload.CountOption("groups", 8, 1, 1<<16)),
	{Name: "routes", Type: workload.File, Into: "route_table"},
	of("routing", fromFile, workload.Option{
		Name: "route_table", Type: workload.Data, Default: "", Read: canonicalRoutes,
	}),
	{Name: "masked", Type: workload.Percent, Default: noneOfAll, Min: 0, Max: 100},
	workload.EnumOption("mode", "e2e", "dispatch", "combine"),
	workload.EnumOption("layout", "message", "rank", "packed"),
	workload.EnumOption("dispatch_dtype", "fp8", "bf16"),
	of("dispatch_dtype", "fp8", workload.EnumOption("scales", "f32", "pow2", "ue8m0")),
	workload.EnumOption("combine_dtype", "bf16"),
}

// Kind is workload ep.
var Kind = &workload.Kind{
	Name: "ep",
	Doc:  "dispatch and combine of an expert-parallel layer: tokens go to the ranks of their experts, and sums come back",
	Options: slices.Concat([]workload.Option{transfer.Option("fabric")}, named, workload.OfProcess(routed...),
		[]workload.Option{
			move.MemoryOfRanks(),
			move.VRAMAlloc("memory"),
			workload.EnumOption("timing", "aligned", "stream"),
			of("memory", fabric.VRAM,
				workload.EnumOption("kernel_launch", "each", "dependent", "graph", "graph_dependent")),
			of("memory", fabric.VRAM, workload.EnumOption("caches", "warm", "flushed")),
			workload.EnumOption("quantise", "timed", "before"),
			workload.CountOption("warmup", 10, 0, 1<<20),
			workload.CountOption("iterations", 100, 1, 4096),
			workload.CountOption("threads", 1, 1, mostThreads),
			transfer.Option("verify"),
			transfer.Option("pages"),
			transfer.Option("alloc"),
			transfer.Option("numa"),
		}, prefixed),
	Without: Without,
	Charts:  charts,
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
	Checked: slices.Concat(workload.NamesOf(routed), []string{"fabric", "sim_failure", "timing", "verify", "pages",
		"alloc", "numa", "iterations", "memory", "vram_alloc", "threads", "kernel_launch", "caches"},
		fabric.CheckedOptions(true, Engine)),
	Columns: []workload.Column{
		{Metric: "bytes.logical", Head: "bytes\na rank", Drop: 6},
		{Metric: "bandwidth", Head: "bandwidth\n", Interval: true},
		{Metric: "wire_bandwidth", Head: "wire\nbandwidth", Drop: 3},
		{Metric: "latency.avg", Head: "latency\nof a rank avg", Drop: 4},
		{Metric: "latency.p50", Head: "latency\nof all p50", Drop: 5},
		{Metric: "latency.p99", Head: "latency\nof all p99", Drop: 2},
		{Metric: "ceiling", Head: "% of ceiling", Drop: 1, Percent: true},
	},
	Brief: []string{"bandwidth", "latency.p50", "latency.p99"},
}

// operationMetrics are those of one of the two operations of mode e2e.
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
	Kind.Check = func(v workload.Values) error {
		_, err := Decode(v)
		return err
	}
	Kind.Behaviour = workload.Behaviour{
		Spec:      func(v workload.Values) (workload.Spec, error) { return Decode(v) },
		Simulated: simulated, Reduce: reduce, Recompute: recompute, Amount: amount,
		AmountOf:  append([]string{"routing"}, workload.NamesOf(routed)...),
		OfCeiling: move.OfCeiling, Carries: move.Carries("wire_bandwidth"),
		AcrossHosts: acrossHosts, Starts: starts, Moves: moves,
		Unmeasured: unmeasured, UnmeasuredBy: unmeasuredBy,
		Passed: "ranks_passed",
		Blocks: map[string]workload.ForeignBlock{"nixl-ep": nixlEP},
	}
	workload.Register(Kind)
}

func simulated(option workload.Getter) bool {
	name, _ := option("fabric").(string)
	return fabric.Simulated(name)
}

// acrossHosts is an iteration, which begins at one rank and ends at another.
func acrossHosts(m results.MetricValues) workload.Span {
	return workload.Span{Of: "an iteration", Took: m.At("latency.p50"), Bound: m.At("clock.bound")}
}

func starts(m results.MetricValues) (apart, took float64, ok bool) {
	apart, ok = m.Get("skew.start")
	took, known := m.Get("latency.p50")
	return apart, took, ok && known
}
