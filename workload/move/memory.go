package move

import (
	"weir/quantity"
	"weir/workload"
)

// MemoryKind is an option that says in which kind of memory buffers are.
func MemoryKind(name string) workload.Option {
	return workload.Option{Name: name, Type: workload.Enum, Default: "dram", Process: true, Values: []string{"dram"}, Planned: []string{"vram"}}
}

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

// Lacks says why a fabric cannot have the buffers that are asked for, or cannot wait as is
// asked for; "": it can. Others in their place would be measured unsaid.
func (t Spec) Lacks(fabric string) string {
	switch {
	case fabric == "ucx" && !t.Heap() && t.Pages != "" && t.Pages != "default":
		return "fabric ucx allocates the buffers itself and has no pages " + t.Pages + ": alloc heap has them, or UCX's own environment variables decide about them (UCX_POSIX_HUGETLB_MODE)"
	case t.Sleeps() && fabric == "ucx" && (t.API == "" || t.API == "rma"):
		return "api rma of fabric ucx has no wait sleep: nothing wakes the target of a one-sided write; api am, tag and tag_sync have it"
	case t.Sleeps() && fabric != "ucx" && fabric != "libfabric":
		return "fabric " + fabric + " has no wait sleep: fabric libfabric has it, and ucx with api am, tag and tag_sync"
	case fabric == "shm" && t.Heap():
		return "fabric shm has no alloc heap: ranks map each other's buffers, and private memory cannot be mapped by another process"
	}
	return ""
}

// Placement is where the buffers are to be.
func (t Spec) Placement() workload.Placement {
	p, _ := workload.ParseNUMA(t.NUMA) // check has refused what is none
	return p
}
