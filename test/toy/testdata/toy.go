package fabric

import "weir/workload"

// toy is shm under another name, with an option of its own.
var toy = Fabric{
	Name: "toy", Loopback: true,
	Options: []workload.Option{
		{Name: "toy_refuse", Type: workload.Bool, Default: false, Process: true, Doc: "whether a rank refuses to open the fabric"},
	},
	Lacks: func(n Needs) string {
		if n.Heap {
			return "fabric toy has no alloc heap"
		}
		return ""
	},
}
