package ledger

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// The fingerprint depends on what affects results, not on momentary states and names.
func TestFingerprintIsOfWhatNumbersDependOn(t *testing.T) {
	node := func(change func(*results.Node)) results.Environment {
		n := results.Node{
			Name: "a", CPU: results.CPU{Model: "x", Turbo: "on"},
			Memory: results.Memory{
				Total: 1 << 34, Hugepages: []results.Hugepages{{Size: 2 << 20, Total: 4, Free: 4}}, LockLimit: "65536",
			},
			NICs: []results.NIC{
				{Name: "eth0", State: "up", MTU: 1500, Speed: "10 Gb/s", Driver: "ixgbe"},
				{Name: "eth1", MTU: 9000, Driver: "ena"},
			},
			GPUs: []results.GPU{
				{
					Name: "g", Bus: "0000:01:00.0", Clocks: &results.GPUClocks{SM: 345, SMMax: 1980},
					Power: &results.GPUPower{Limit: 700},
				},
			},
			RDMA: []results.RDMA{
				{
					Name: "mlx5_0", Driver: "mlx5_core", Firmware: "1",
					Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE", Rate: "400 Gb/s"}},
				},
			},
		}
		change(&n)
		return results.Environment{Nodes: []results.Node{n}}
	}
	base := fingerprint(node(func(*results.Node) {}))
	for name, change := range map[string]func(*results.Node){
		"name":                                func(n *results.Node) { n.Name = "b" },
		"a link's state":                      func(n *results.Node) { n.NICs[0].State = "down" },
		"its speed, unknown while it is down": func(n *results.Node) { n.NICs[0].Speed = "" },
		"a container's interface": func(n *results.Node) {
			n.NICs = append([]results.NIC{{Name: "docker0", MTU: 1500},
				{Name: "veth12ab", MTU: 1450, Speed: "10 Gb/s"}}, n.NICs...)
		},
		"the order of names": func(n *results.Node) { slices.Reverse(n.NICs) },
		"free huge pages":    func(n *results.Node) { n.Memory.Hugepages[0].Free = 1 },
		"lock limit":         func(n *results.Node) { n.Memory.LockLimit = "unlimited" },
		"a GPU's clock":      func(n *results.Node) { n.GPUs[0].Clocks = &results.GPUClocks{SM: 1980, SMMax: 1980} },
		"a slot":             func(n *results.Node) { n.GPUs[0].Bus = "0000:02:00.0" },
		"a port's state":     func(n *results.Node) { n.RDMA[0].Ports[0].State = "DOWN" },
		"firmware":           func(n *results.Node) { n.RDMA[0].Firmware = "2" },
	} {
		if fingerprint(node(change)) != base {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	for name, change := range map[string]func(*results.Node){
		"MTU":           func(n *results.Node) { n.NICs[0].MTU = 9000 },
		"another NIC":   func(n *results.Node) { n.NICs[0].Driver = "mlx5_core" },
		"turbo":         func(n *results.Node) { n.CPU.Turbo = "off" },
		"a port's rate": func(n *results.Node) { n.RDMA[0].Ports[0].Rate = "200 Gb/s" },
		"no device":     func(n *results.Node) { n.RDMA = nil },
		"another GPU":   func(n *results.Node) { n.GPUs[0].Name = "h" },
		"a variable":    func(n *results.Node) { n.Variables = map[string]string{"LD_LIBRARY_PATH": "/opt"} },
	} {
		if fingerprint(node(change)) == base {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
	for name, variables := range map[string]map[string]string{
		"a variable of the shell": {"UCX_TLS": "tcp"}, "an empty one": {"UCX_TLS": ""},
	} {
		e := node(func(*results.Node) {})
		if e.Variables = variables; fingerprint(e) == base {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
	e := node(func(*results.Node) {})
	fingerprint(e)
	if n := e.Nodes; n[0].RDMA[0].Ports[0].State != "ACTIVE" || n[0].GPUs[0].Bus == "" {
		t.Error("taking the fingerprint changed the node")
	}
}
