package engine

import (
	"strings"
	"testing"

	"weir/results"
	"weir/workload"
)

func node(name string, fabrics map[string]results.Fabric, devices ...results.RDMA) results.Node {
	return results.Node{Name: name, Fabrics: fabrics, RDMA: devices}
}

func TestAutoIsTheBestThatAllNodesHave(t *testing.T) {
	yes := results.Fabric{Available: true}
	all := map[string]results.Fabric{"shm": yes, "tcp": yes, "ucx": yes, "libfabric": {Available: true, Details: map[string]string{"providers": "tcp;ofi_rxm,verbs;ofi_rxm"}}}
	soft := map[string]results.Fabric{"shm": yes, "tcp": yes, "ucx": {Reason: "no libucp.so.0"}, "libfabric": {Available: true, Details: map[string]string{"providers": "tcp;ofi_rxm,shm"}}}
	verbs := map[string]results.Fabric{"tcp": yes, "ucx": {Reason: "no libucp.so.0"}, "libfabric": all["libfabric"]}
	hard := map[string]results.Fabric{"tcp": yes, "ucx": yes}
	up := results.RDMA{Name: "mlx5_0", Driver: "mlx5_core", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}}}
	down := results.RDMA{Name: "mlx5_0", Ports: []results.RDMAPort{{Port: 1, State: "DOWN"}}}
	efa := results.RDMA{Name: "rdmap0", Driver: "efa", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}}}
	dram := workload.TransferOptions{Fabric: Auto, Initiator: "dram", Target: "dram"}
	gpu := workload.TransferOptions{Fabric: Auto, Initiator: "dram", Target: "vram"}
	huge, hugeGPU := dram, gpu
	huge.Pages, hugeGPU.Pages, dram.Pages = "2MiB", "thp", "default"
	heap, hugeHeap := dram, huge
	heap.Alloc, hugeHeap.Alloc, dram.Alloc = "heap", "heap", "fabric"
	for name, c := range map[string]struct {
		o      workload.TransferOptions
		nodes  []results.Node
		fabric string
		says   []string
	}{
		"named":                {workload.TransferOptions{Fabric: "ucx"}, []results.Node{node("a", all)}, "ucx", nil},
		"one node":             {dram, []results.Node{node("a", all, up)}, "shm", []string{"all ranks are on node a"}},
		"one node without shm": {dram, []results.Node{node("a", map[string]results.Fabric{"shm": {Reason: "no memfd"}})}, "tcp", []string{"shm is not available on a: no memfd"}},
		"GPU memory":           {gpu, []results.Node{node("a", all)}, "ucx", []string{"GPU", "cuda is not available on a"}},
		"GPU memory, nothing":  {gpu, []results.Node{node("a", nil)}, "shm", []string{"cuda is not", "ucx is not", "libfabric is not"}},
		"two nodes":            {dram, []results.Node{node("a", all), node("b", all)}, "tcp", []string{"no RDMA device with an active port is on a, b"}},
		"one has no device":    {dram, []results.Node{node("a", all, up), node("b", all)}, "tcp", []string{"is on b"}},
		"one is down":          {dram, []results.Node{node("a", all, up), node("b", all, down)}, "tcp", []string{"active port is on b"}},
		"devices":              {dram, []results.Node{node("a", all, up), node("b", all, up)}, "ucx", []string{"mlx5_0 on a, mlx5_0 on b"}},
		"devices, verbs":       {dram, []results.Node{node("a", all, up), node("b", verbs, up)}, "libfabric", []string{"ucx is not available on b: no libucp.so.0"}},
		"devices, no library":  {dram, []results.Node{node("a", soft, up), node("b", soft, up)}, "tcp", []string{"nothing to use them", "no libucp.so.0", "has no provider for them (it has tcp;ofi_rxm,shm)"}},
		"devices, huge pages":  {huge, []results.Node{node("a", all, up), node("b", all, up)}, "libfabric", []string{"ucx allocates the buffers itself and has no pages 2MiB"}},
		"huge pages, no other": {huge, []results.Node{node("a", hard, up), node("b", hard, up)}, "tcp", []string{"nothing to use them", "has no pages 2MiB", "libfabric is not available on a"}},
		"GPU memory, pages":    {hugeGPU, []results.Node{node("a", all)}, "libfabric", []string{"cuda is not available on a", "has no pages thp"}},
		"heap":                 {heap, []results.Node{node("a", all, up)}, "tcp", []string{"all ranks are on node a, but fabric shm has no alloc heap"}},
		"heap, devices":        {hugeHeap, []results.Node{node("a", all, up), node("b", all, up)}, "ucx", []string{"mlx5_0 on a, mlx5_0 on b"}},
		"EFA":                  {dram, []results.Node{node("a", all, efa), node("b", all, efa)}, "libfabric", []string{"rdmap0 on a"}},
	} {
		got := Choose(c.o, c.nodes)
		if got.Fabric != c.fabric || (got.Reason == "") != (c.says == nil) {
			t.Errorf("%s: %+v", name, got)
		}
		for _, s := range c.says {
			if !strings.Contains(got.Reason, s) {
				t.Errorf("%s: the reason %q does not say %q", name, got.Reason, s)
			}
		}
	}
}
