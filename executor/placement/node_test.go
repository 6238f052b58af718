package placement

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// The names in a binding become values of variables, so they must be names of this node's devices.
func TestSeatsAreOfThisNode(t *testing.T) {
	m := Node{
		GPUs: []string{"0", "GPU-4f"}, Node: results.Node{
			RDMA: []results.RDMA{
				{Name: "mlx5_0", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}, {Port: 2, State: "DOWN"}}},
			},
		},
	}
	bindings := []results.Binding{{GPUs: m.GPUs, NICs: []string{"mlx5_0:1"}}, {CPUs: "0-3"}}
	if err := m.CheckBindings(bindings); err != nil {
		t.Error(err)
	}
	for want, binding := range map[string]results.Binding{
		`GPU "1"`:                           {GPUs: []string{"0", "1"}},
		`GPU "GPU-4f,/tmp"`:                 {GPUs: []string{"GPU-4f,/tmp"}},
		`NIC "mlx5_0:2"`:                    {NICs: []string{"mlx5_0:2"}},
		`NIC "mlx5_0:1\nUCX_LOG_FILE=/tmp"`: {NICs: []string{"mlx5_0:1\nUCX_LOG_FILE=/tmp"}},
	} {
		if err := m.CheckBindings([]results.Binding{binding}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", binding, err)
		}
	}
}

// Agents of one host are known as such, in whatever order they join.
func TestNodesOfOneHost(t *testing.T) {
	c := NewCluster(false)
	for _, n := range []struct{ name, host, same string }{
		{"n2", "h", ""}, {"n1", "h", "n2"}, {"n3", "other", ""}, {"n2", "h", ""}, {"n4", "h", "n2"}, {"n5", "", ""},
		{"n6", "", ""},
	} {
		c.Join(n.name, Node{Host: n.host})
		if got := c.Nodes[n.name].Node.SameHost; got != n.same {
			t.Errorf("%s is on the host of %q, want %q", n.name, got, n.same)
		}
	}
}
