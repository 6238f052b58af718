// Package epcontrol is workload ep_control: what it takes to make, connect and take apart the
// memory of an expert-parallel group. Operations, the size of the memory and the names follow NIXL
// EP's test_control_plane.py.
package epcontrol

import (
	_ "embed"
	"slices"

	"weir/fabric"
	"weir/workload"
	"weir/workload/move"
	"weir/workload/transfer"
)

// Runner executes the ranks.
const Runner = "native-ep-control"

var named, prefixed = fabric.OptionsOf(true)

// own are the options of the operations.
var own = []workload.Option{
	workload.CountOption("ranks", 8, 2, workload.MostProcesses),
	{
		Name: "operation", Type: workload.Enum, Default: Cycle,
		Values: append([]string{Cycle}, Operations()...),
	},
	workload.CountOption("experts_per_rank", 8, 1, 4096),
	workload.CountOption("tokens", 512, 1, 1<<20),
	workload.CountOption("hidden", 4096, 128, 65536),
	workload.CountOption("rounds", 5, 1, 4096),
	workload.CountOption("warmup", 0, 0, 4096),
	{Name: "storm", Type: workload.Bool, Default: true},
}

// Kind is workload ep_control.
var Kind = &workload.Kind{
	Name: "ep_control",
	Doc:  "control plane of an expert-parallel group: init, connect, disconnect, reconnect, destroy",
	Options: slices.Concat([]workload.Option{transfer.Option("fabric")},
		workload.OfProcess(slices.Concat(named, own)...),
		[]workload.Option{
			move.MemoryOfRanks(), move.VRAMAlloc("memory"), transfer.Option("pages"), transfer.Option("alloc"),
			transfer.Option("numa"),
		}, workload.OfProcess(prefixed...)),
	Metrics: metrics(),
	Charts:  charts(),
	Checked: slices.Concat(workload.NamesOf(own), fabric.CheckedOptions(true),
		[]string{"fabric", "sim_failure", "memory", "vram_alloc", "pages", "alloc", "numa"}),
	Columns: []workload.Column{
		{Metric: "init.avg", Head: "init"},
		{Metric: "connect.avg", Head: "connect", Interval: true},
		{Metric: "connect.wait", Head: "waiting\nfor others", Drop: 2},
		{Metric: "disconnect.avg", Head: "disconnect", Drop: 1},
		{Metric: "reconnect.avg", Head: "reconnect"},
		{Metric: "destroy.avg", Head: "destroy"},
		{Metric: "total", Head: "total", Drop: 3},
	},
	Brief: []string{"total", "init.avg", "connect.avg", "disconnect.avg", "reconnect.avg", "destroy.avg"},
}

// metrics are those of each operation, then of its steps.
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
	Kind.Check = func(v workload.Values) error {
		_, err := Decode(v)
		return err
	}
	Kind.Behaviour = workload.Behaviour{
		Spec:   func(v workload.Values) (workload.Spec, error) { return Decode(v) },
		Reduce: reduce, Recompute: recompute, Amount: amount,
		AmountOf: []string{"operation", "ranks", "experts_per_rank", "tokens", "hidden"},
		Passed:   "ranks_passed",
		Blocks:   map[string]workload.ForeignBlock{"nixl-ep": nixlEP},
	}
	workload.Register(Kind)
}
