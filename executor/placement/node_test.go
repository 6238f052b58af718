package placement

import (
	"strings"
	"testing"

	"weir/results"
)

// The names in a seat become values of variables, so they must be those of this node's own
// devices.
func TestSeatsAreOfThisNode(t *testing.T) {
	m := Node{
		GPUs: []string{"0", "GPU-4f"}, Node: results.Node{
			RDMA: []results.RDMA{
				{Name: "mlx5_0", Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}, {Port: 2, State: "DOWN"}}},
			},
		},
	}
	if err := m.CheckSeats([]results.Seat{{GPUs: m.GPUs, NICs: []string{"mlx5_0:1"}}, {CPUs: "0-3"}}); err != nil {
		t.Error(err)
	}
	for want, seat := range map[string]results.Seat{
		`GPU "1"`:                           {GPUs: []string{"0", "1"}},
		`GPU "GPU-4f,/tmp"`:                 {GPUs: []string{"GPU-4f,/tmp"}},
		`NIC "mlx5_0:2"`:                    {NICs: []string{"mlx5_0:2"}},
		`NIC "mlx5_0:1\nUCX_LOG_FILE=/tmp"`: {NICs: []string{"mlx5_0:1\nUCX_LOG_FILE=/tmp"}},
	} {
		if err := m.CheckSeats([]results.Seat{seat}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", seat, err)
		}
	}
}
