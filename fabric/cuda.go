package fabric

import (
	_ "embed"
	"fmt"

	"weir/quantity"
	"weir/workload"
)

//go:embed cuda.md
var cudaDocs string

// mostOfKernels is the largest message of a ping-pong that kernels run: pingpong_args.h of the engine has the same.
const mostOfKernels = quantity.Size(64 << 10)

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
	PostsNothing: func(n Needs) string {
		if n.Mode != "pingpong" || n.Options["cuda_engine"] != "sm" || n.Initiator != VRAM || n.Target != VRAM ||
			n.Block > mostOfKernels {
			return ""
		}
		return fmt.Sprintf("kernels run a ping-pong of up to %v between GPUs with cuda_engine sm, and nobody posts its "+
			"messages", mostOfKernels)
	},
	Environment: Environment{
		Prefixes:      []string{"CUDA_", "WEIR_CUDA_LIBRARY"},
		HostVariables: []string{"CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "WEIR_CUDA_LIBRARY"},
	},
}
