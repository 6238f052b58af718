package move

import (
	"weir/fabric"
	"weir/quantity"
	"weir/workload"
)

// MemoryKind is an option that says in which kind of memory the buffers of an end are.
func MemoryKind(name string) workload.Option {
	return workload.Option{
		Name: name, Type: workload.Enum, Default: "dram", Process: true, Values: []string{"dram", fabric.VRAM},
	}
}

// MemoryOfRanks is the option that says in which kind of memory all buffers are. A fabric that moves
// memory of GPUs only has that by default.
func MemoryOfRanks() workload.Option {
	o := MemoryKind("memory")
	o.DefaultBy = &workload.DefaultBy{Option: "fabric", Values: map[string]any{"cuda": fabric.VRAM}}
	return o
}

// VRAMAlloc is an option that says how memory of a GPU is allocated, where one of these options
// asks for it.
func VRAMAlloc(kinds ...string) workload.Option {
	o := options[vramAlloc]
	o.For, o.ForAny = map[string]string{}, len(kinds) > 1
	for _, name := range kinds {
		o.For[name] = fabric.VRAM
	}
	return o
}

// VRAM says whether an end is in the memory of a GPU.
func (t Spec) VRAM() bool { return t.Initiator == fabric.VRAM || t.Target == fabric.VRAM }

// heapAlloc is the value of option alloc for private memory of a rank.
const heapAlloc = "heap"

// Sleeps says whether a rank that waits for others sleeps until it is woken.
func (t Spec) Sleeps() bool { return t.Wait == "sleep" }

// Heap says whether a rank's buffers are private memory of its own.
func (t Spec) Heap() bool { return t.Alloc == heapAlloc }

// ReservedPage is the size of the huge pages that the buffers are of if these are set
// aside beforehand; 0: they are of other pages.
func (t Spec) ReservedPage() quantity.Size {
	size, err := quantity.ParseSize(t.Pages)
	if err != nil {
		return 0 // default, thp
	}
	return size
}

// Lacks says what of a case a fabric cannot do; "": it can do all. Buffers of another kind
// than those asked for would be measured unsaid.
func (t Spec) Lacks(name string) string {
	return fabric.Lacks(name, t.needs())
}

func (t Spec) needs() fabric.Needs {
	return fabric.Needs{
		Op: t.Op, Mode: t.Mode, Pages: t.Pages, InFlight: t.InFlight, Block: t.BlockSize, Heap: t.Heap(),
		Sleeps: t.Sleeps(), Matrix: t.Pattern == MatrixPattern, Initiator: t.Initiator, Target: t.Target,
		Options: t.FabricOptions,
	}
}

// PostsNothing says why nobody posts the requests of a case; "": somebody does.
func (t Spec) PostsNothing() string { return fabric.PostsNothing(t.Fabric, t.needs()) }

// NoStage says why a case has no metric of a stage of its requests; "": it has it, or nobody knows.
func (t Spec) NoStage(metric string) string { return fabric.NoStage(t.Fabric, metric, t.FabricOptions) }

// Placement is where the buffers are to be.
func (t Spec) Placement() workload.Placement {
	p, _ := workload.ParseNUMA(t.NUMA) // check has refused what is none
	return p
}
