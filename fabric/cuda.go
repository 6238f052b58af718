package fabric

import (
	_ "embed"

	"weir/workload"
)

//go:embed cuda.md
var cudaDocs string

// cuda is the driver of NVIDIA's GPUs, which moves memory between those of one host.
var cuda = Fabric{
	Name: "cuda", Docs: cudaDocs, VRAM: true, OutlivesPeers: true, Auto: OnOneNode,
	Options: []workload.Option{
		{
			Name: "cuda_engine", Type: workload.Enum, Default: "auto", Process: true,
			Values: []string{"auto", "copy", "sm", "bulk"},
		},
		{Name: "sms", Type: workload.Count, Default: int64(0), Min: 0, Max: 1024, Process: true},
	},
	Checked: []string{"cuda_engine", "sms"},
	Lacks: func(n Needs) string {
		switch {
		case !n.VRAM():
			return "fabric cuda moves memory of GPUs, and neither end of this case is vram"
		case n.Heap && n.Target != VRAM:
			return "fabric cuda has no alloc heap for the target: ranks map each other's buffers, " +
				"and private memory cannot be mapped by another process"
		case (n.Options["cuda_engine"] == "copy" || n.Options["cuda_engine"] == "auto") && n.Options["sms"] != "0":
			return "option sms is of cuda_engine sm and bulk: the copy engine has no multiprocessors"
		}
		return ""
	},
	Environment: Environment{
		Prefixes:      []string{"CUDA_", "WEIR_CUDA_LIBRARY"},
		HostVariables: []string{"CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "WEIR_CUDA_LIBRARY"},
	},
}
