// Package epcontrol is workload ep_control: making, connecting and destroying the memory of an expert-parallel group.
// Operations, memory sizes and names follow NIXL EP's test_control_plane.py.
package epcontrol

import (
	_ "embed"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// Runner is the name of the runner of its ranks.
const Runner = "native-ep-control"

var named, prefixed = fabric.OptionsOf(true)

// own are the options of the operations.
var own = []option.Option{
	option.CountOption("ranks", 8, 2, option.MostProcesses),
	{
		Name: "operation", Type: option.Enum, Default: Cycle,
		Values: append([]string{Cycle}, Operations()...),
	},
	option.CountOption("experts_per_rank", 8, 1, 4096),
	option.CountOption("tokens", 512, 1, 1<<20),
	option.CountOption("hidden", 4096, 128, 65536),
	option.CountOption("rounds", 5, 1, 4096),
	option.CountOption("warmup", 0, 0, 4096),
	{Name: "storm", Type: option.Bool, Default: true},
}

// Kind is workload ep_control.
var Kind = &workload.Kind{
	Name: "ep_control",
	Doc:  "control plane of an expert-parallel group: init, connect, disconnect, reconnect, destroy",
	Options: slices.Concat([]option.Option{transfer.Option("fabric")},
		option.OfProcess(slices.Concat(named, own)...),
		[]option.Option{
			move.MemoryOfRanks(), move.VRAMAlloc("memory"), transfer.Option("pages"), transfer.Option("alloc"),
			transfer.Option("numa"),
		}, option.OfProcess(prefixed...)),
	Metrics: metrics(),
	Checked: slices.Concat(option.NamesOf(own), fabric.CheckedOptions(true),
		[]string{"fabric", "sim_failure", "memory", "vram_alloc", "pages", "alloc", "numa"}),
	Show: workload.Presentation{
		Columns: []workload.Column{
			{Metric: "init.avg", Head: "init"},
			{Metric: "connect.avg", Head: "connect", Interval: true},
			{Metric: "connect.wait", Head: "waiting\nfor others", Drop: 2},
			{Metric: "disconnect.avg", Head: "disconnect", Drop: 1},
			{Metric: "reconnect.avg", Head: "reconnect"},
			{Metric: "destroy.avg", Head: "destroy"},
			{Metric: "total", Head: "total", Drop: 3},
		},
		Brief:  []string{"total", "init.avg", "connect.avg", "disconnect.avg", "reconnect.avg", "destroy.avg"},
		Charts: charts(),
	},
}

// metrics returns the metrics of each operation, then of its steps.
func metrics() (all []workload.Metric) {
	time := func(name string) workload.Metric {
		return workload.Metric{Name: name, Unit: "s", Better: workload.Lower, MayBeZero: true}
	}
	for _, o := range operations {
		for _, statistic := range []string{".avg", ".min", ".max"} {
			all = append(all, time(o.name+statistic))
		}
		median := time(o.name + ".p50")
		median.Quantile = "p50"
		all = append(all, median)
	}
	all = append(all, time("total"))
	for _, o := range operations {
		for _, step := range o.steps {
			all = append(all, time(o.name+"."+step))
		}
	}
	return append(all,
		workload.Metric{Name: "buffer.bytes", Unit: "B", Better: workload.Neither, Fixed: true},
		workload.Metric{Name: "ranks_passed", Better: workload.Higher, Fixed: true})
}

//go:embed docs.md
var docs string

func init() {
	Kind.Document(docs)
	Kind.Behaviour = behaviour{}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{}

// Spec decodes and checks the options of a case.
func (behaviour) Spec(v option.Values) (workload.Spec, error) { return Decode(v) }

// AmountOf returns the options that decide the size of buffers.
func (behaviour) AmountOf() []string {
	return []string{"operation", "ranks", "experts_per_rank", "tokens", "hidden"}
}

// Passed returns the metric that counts the ranks with verified contents.
func (behaviour) Passed() string { return "ranks_passed" }

// Blocks returns the output of NIXL EP's test.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"nixl-ep": nixlEP}
}
