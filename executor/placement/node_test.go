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
