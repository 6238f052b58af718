package agent

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/results"
)

func TestVariablesOfABinding(t *testing.T) {
	two := results.Binding{GPUs: []string{"1", "3"}, NICs: []string{"mlx5_0:1", "mlx5_1:1"}}
	device := func(driver string) results.Node {
		return results.Node{RDMA: []results.RDMA{{Name: "mlx5_0", Driver: driver}, {Name: "mlx5_1", Driver: driver}}}
	}
	for _, c := range []struct {
		binding results.Binding
		node    results.Node
		want    string
	}{
		{two, device("mlx5_core"), "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1,3 UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1"},
		{two, device("efa"), "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1,3 FI_EFA_IFACE=mlx5_0,mlx5_1 UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1"},
		{results.Binding{NICs: []string{"mlx5_0:1"}}, device("mlx5_core"),
			"FI_VERBS_DEVICE_NAME=mlx5_0 UCX_NET_DEVICES=mlx5_0:1"},
		{results.Binding{NICs: []string{"eth0"}}, results.Node{}, "FI_TCP_IFACE=eth0 UCX_NET_DEVICES=eth0"},
		{results.Binding{CPUs: "0"}, device("efa"), ""},
		{results.Binding{Env: map[string]string{"LD_PRELOAD": "/tmp/pre.so"}}, results.Node{}, ""},
	} {
		if text := strings.Join(environ.Pairs(bindingVariables(c.binding, c.node)), " "); text != c.want {
			t.Errorf("%v: %s, want %s", c.binding, text, c.want)
		}
	}
}
