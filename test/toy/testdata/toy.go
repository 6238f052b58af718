package fabric

import "github.com/weir-bench/weir/internal/option"

// toy is shm under another name, with an option of its own.
var toy = Fabric{
	Name: "toy", Loopback: true,
	Options: []option.Option{
		{Name: "toy_refuse", Type: option.Bool, Default: false, Process: true, Doc: "whether a rank refuses to open the fabric"},
	},
	Lacks: func(n Needs) string {
		if n.Heap {
			return "fabric toy has no alloc heap"
		}
		return ""
	},
}
