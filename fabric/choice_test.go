package fabric_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

func node(name string, fabrics map[string]results.Fabric, devices ...results.RDMA) results.Node {
	return results.Node{Name: name, Fabrics: fabrics, RDMA: devices}
}

func TestAutoChoosesTheBestCommonFabric(t *testing.T) {
	yes := results.Fabric{Available: true}
	over := func(paths ...string) results.Fabric { // transport/device, with a star where a device does it
		f := results.Fabric{Available: true}
		for _, p := range paths {
			p, device := strings.CutSuffix(p, "*")
			access := map[bool]string{true: results.RDMAAccess, false: results.SoftwareAccess}[device]
			transport, card, _ := strings.Cut(p, "/")
			f.Paths = append(f.Paths, results.Path{Name: transport, Device: card, Access: access})
		}
		return f
	}
	fabrics := func(ucx, libfabric results.Fabric) map[string]results.Fabric {
		return map[string]results.Fabric{"shm": yes, "tcp": yes, "ucx": ucx, "libfabric": libfabric}
	}
	noUCX := results.Fabric{Reason: "no libucp.so.0"}
	softUCX, softLibfabric := over("tcp/eth0"), over("tcp;ofi_rxm/eth0", "something new/eth0")
	verbs := over("tcp;ofi_rxm/eth0", "verbs;ofi_rxm/mlx5_0*")
	all := fabrics(over("tcp/eth0", "rc_mlx5/mlx5_0:1*"), verbs)
	soft := fabrics(softUCX, softLibfabric)
	bare := fabrics(noUCX, softLibfabric)
	second := fabrics(noUCX, verbs)
	hard := map[string]results.Fabric{"tcp": yes, "ucx": all["ucx"]}
	without := fabrics(softUCX, verbs) // UCX without its module for the card
	messages := fabrics(over("ud_verbs/rdmap0:1"), over("efa/rdmap0*"))
	both := fabrics(noUCX, over("cxi/cxi0*", "verbs;ofi_rxm/mlx5_0*"))
	other := fabrics(noUCX, over("cxi/cxi0*"))
	broken := fabrics(results.Fabric{Available: true,
		Details: map[string]string{results.OtherHosts: "ucp_init: No such device"}}, results.Fabric{Available: true})
	up := results.RDMA{Name: "mlx5_0", Driver: "mlx5_core", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}}}
	down := results.RDMA{Name: "mlx5_0", Ports: []results.RDMAPort{{Port: 1, State: "DOWN"}}}
	efa := results.RDMA{Name: "rdmap0", Driver: "efa", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}}}
	dram := move.Spec{Fabric: fabric.AutoName, Initiator: "dram", Target: "dram"}

	huge := dram
	huge.Pages, dram.Pages = "2MiB", "default"
	heap, hugeHeap := dram, huge
	heap.Alloc, hugeHeap.Alloc, dram.Alloc = "heap", "heap", "fabric"
	for name, c := range map[string]struct {
		o      move.Spec
		nodes  []results.Node
		fabric string
		says   []string
	}{
		"named":    {move.Spec{Fabric: "ucx"}, []results.Node{node("a", all)}, "ucx", nil},
		"one node": {dram, []results.Node{node("a", all, up)}, "shm", []string{"all ranks are on node a"}},
		"one node without shm": {dram, []results.Node{node("a",
			map[string]results.Fabric{"shm": {Reason: "no memfd"}})}, "tcp",
			[]string{"shm is not available on a: no memfd"}},
		"two nodes": {dram, []results.Node{node("a", soft), node("b", soft)}, "tcp",
			[]string{"no RDMA device with an active port is on a, b"}},
		"one has no device": {dram, []results.Node{node("a", all, up), node("b", soft)}, "tcp", []string{"is on b"}},
		"one is down": {dram, []results.Node{node("a", all, up), node("b", soft, down)}, "tcp",
			[]string{"active port is on b"}},
		"devices": {dram, []results.Node{node("a", all, up), node("b", all, up)}, "ucx",
			[]string{"ucx has RDMA on all: rc_mlx5/mlx5_0:1 on a, b"}},
		"not the library's": {dram, []results.Node{node("a", without, up), node("b", all, up)},
			"libfabric verbs;ofi_rxm", []string{
				"libfabric has RDMA on all: verbs;ofi_rxm/mlx5_0 on a, b; ucx has no RDMA on a: it has tcp/eth0 (software)",
			}},
		"neither's": {dram, []results.Node{node("a", soft, up), node("b", all, up)}, "tcp", []string{
			"nothing to use them", "ucx has no RDMA on a: it has tcp/eth0 (software)",
			"libfabric has no RDMA on a: it has tcp;ofi_rxm/eth0 (software), something new/eth0 (software)",
		}},
		"devices, verbs": {dram, []results.Node{node("a", all, up), node("b", second, up)},
			"libfabric verbs;ofi_rxm", []string{"ucx is not available on b: no libucp.so.0"}},
		"devices, no library": {dram, []results.Node{node("a", bare, up), node("b", bare, up)}, "tcp",
			[]string{"nothing to use them", "no libucp.so.0", "libfabric has no RDMA on a"}},
		"devices, huge pages": {huge, []results.Node{node("a", all, up), node("b", all, up)},
			"libfabric verbs;ofi_rxm", []string{"ucx allocates the buffers itself and has no pages 2MiB"}},
		"huge pages, no other": {huge, []results.Node{node("a", hard, up), node("b", hard, up)}, "tcp", []string{
			"nothing to use them", "has no pages 2MiB", "libfabric is not available on a",
		}},
		"heap": {heap, []results.Node{node("a", all, up)}, "tcp",
			[]string{"all ranks are on node a, but fabric shm has no alloc heap"}},
		"heap, devices": {hugeHeap, []results.Node{node("a", all, up), node("b", all, up)}, "ucx",
			[]string{"rc_mlx5/mlx5_0:1 on a, b"}},
		"messages only": {dram, []results.Node{node("a", messages, efa), node("b", messages, efa)},
			"libfabric efa", []string{"efa/rdmap0 on a, b", "ucx has no RDMA on a"}},
		"unknown to the kernel": {dram, []results.Node{node("a", other), node("b", other)}, "libfabric cxi",
			[]string{"cxi/cxi0 on a, b"}},
		"the common provider": {dram, []results.Node{node("a", both, up), node("b", second, up)},
			"libfabric verbs;ofi_rxm", []string{"verbs;ofi_rxm/mlx5_0 on a, b"}},
		"no common provider": {dram, []results.Node{node("a", other, up), node("b", second, up)}, "tcp", []string{
			"no provider with RDMA that all nodes have: cxi/cxi0 on a; verbs;ofi_rxm/mlx5_0 on b",
		}},
		"no paths": {dram, []results.Node{node("a", broken, up), node("b", all, up)}, "tcp", []string{
			"ucx has no RDMA on a: ucp_init: No such device",
			"libfabric has no RDMA on a: it does not reach other hosts",
		}},
	} {
		got := fabric.Choose(c.o.Demand().OfFabric(), c.nodes)
		if strings.TrimSpace(got.Fabric+" "+got.Options["provider"]) != c.fabric ||
			(got.Reason == "") != (c.says == nil) {
			t.Errorf("%s: %+v", name, got)
		}
		for _, s := range c.says {
			if !strings.Contains(got.Reason, s) {
				t.Errorf("%s: the reason %q does not say %q", name, got.Reason, s)
			}
		}
	}
}
