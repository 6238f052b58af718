package move

import (
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

// MemoryKind is an option for the kind of memory of the buffers of an end.
func MemoryKind(name string) option.Option {
	return option.Option{
		Name: name, Type: option.Enum, Default: "dram", Process: true, Values: []string{"dram", fabric.VRAM},
	}
}

// MemoryOfRanks is the option for the kind of memory of all buffers. The default is vram for a fabric that moves GPU
// memory only.
func MemoryOfRanks() option.Option {
	o := MemoryKind("memory")
	o.DefaultBy = &option.DefaultBy{Option: "fabric", Values: map[string]any{"cuda": fabric.VRAM}}
	return o
}

// VRAMAlloc is the option for the allocator of GPU memory, which exists if one of these options is vram.
func VRAMAlloc(kinds ...string) option.Option {
	o := options[vramAlloc]
	o.Where.Options, o.Where.Any = map[string]string{}, len(kinds) > 1
	for _, name := range kinds {
		o.Where.Options[name] = fabric.VRAM
	}
	return o
}

// VRAM reports whether an end is in GPU memory.
func (t Spec) VRAM() bool { return t.Initiator == fabric.VRAM || t.Target == fabric.VRAM }

// heapAlloc is the value of option alloc for private memory of a rank.
const heapAlloc = "heap"

// Sleeps reports whether a waiting rank sleeps until it is woken.
func (t Spec) Sleeps() bool { return t.Wait == "sleep" }

// Heap reports whether a rank's buffers are private memory.
func (t Spec) Heap() bool { return t.Alloc == heapAlloc }

// ReservedPage returns the size of the buffers' huge pages if they are reserved beforehand; else 0.
func (t Spec) ReservedPage() quantity.Size {
	size, err := quantity.ParseSize(t.Pages)
	if err != nil {
		return 0 // default, thp
	}
	return size
}

// Lacks says which needs of a case a fabric cannot meet; "" if it meets all. A case never gets other buffers than
// requested without notice.
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

// PostsNothing says why no request of a case is posted; "" if requests are.
func (t Spec) PostsNothing() string { return fabric.PostsNothing(t.Fabric, t.needs()) }

// NoStage says why a case lacks a metric of a stage of its requests; "" if it has it, or that is unknown.
func (t Spec) NoStage(metric string) string { return fabric.NoStage(t.Fabric, metric, t.FabricOptions) }

// Placement returns the NUMA placement of the buffers.
func (t Spec) Placement() option.Placement {
	p, _ := option.ParseNUMA(t.NUMA) // invalid values have been refused by check
	return p
}
