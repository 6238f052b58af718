package fabric

import (
	_ "embed"
	"fmt"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

//go:embed cuda.md
var cudaDocs string

// maxKernelPingPong is the largest message of a ping-pong that kernels run, as in kernels_pingpong_args.h.
const maxKernelPingPong = quantity.Size(64 << 10)

// cuda is the driver of NVIDIA GPUs, which copies memory between GPUs of one host.
var cuda = Fabric{
	Name: "cuda", Docs: cudaDocs, VRAM: true, OutlivesPeers: true, Auto: OnOneNode,
	Transports: []string{"nvlink", "pcie", "staged", "same GPU", "host"}, // paths[] of fab_cuda_peers.c
	Options: []option.Option{
		{
			Name: "cuda_engine", Type: option.Enum, Default: "auto", Process: true,
			Values: []string{"auto", "copy", "sm", "bulk"},
		},
		{Name: "sms", Type: option.Count, Default: int64(0), Min: 0, Max: 1024, Process: true},
	},
	Checked: []string{"cuda_engine", "sms"},
	Lacks: func(n Needs) string {
		switch {
		case !n.VRAM():
			return "fabric cuda moves GPU memory, and neither end of this case is vram"
		case n.Heap && n.Target != VRAM:
			return "fabric cuda has no alloc heap for the target: ranks map each other's buffers, " +
				"and private memory cannot be mapped by another process"
		case (n.Options["cuda_engine"] == "copy" || n.Options["cuda_engine"] == "auto") && n.Options["sms"] != "0":
			return "option sms needs cuda_engine sm or bulk: the copy engine has no multiprocessors"
		}
		return ""
	},
	PostsNothing: func(n Needs) string {
		if n.Mode != "pingpong" || n.Options["cuda_engine"] != "sm" || n.Initiator != VRAM || n.Target != VRAM ||
			n.Block > maxKernelPingPong {
			return ""
		}
		return fmt.Sprintf("with cuda_engine sm, kernels run a ping-pong of up to %v between GPUs without posting messages",
			maxKernelPingPong)
	},
	Environment: Environment{
		Prefixes:      []string{"CUDA_", "WEIR_CUDA_LIBRARY"},
		Libraries:     []string{"libcuda"},
		HostVariables: []string{"CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "WEIR_CUDA_LIBRARY"},
	},
}
