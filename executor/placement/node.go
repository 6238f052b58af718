// Package placement decides on which nodes the ranks of a launch run, and which processors,
// GPUs and NICs each of them has to itself. It knows neither processes nor etcd: it is given
// what agents say of their nodes.
package placement

import (
	"fmt"
	"slices"

	"weir/results"
)

// Node is what an agent says of its node.
type Node struct {
	Host   string            `json:"host"` // equal for agents of one host, however they are called
	Labels map[string]string `json:"labels,omitempty"`
	CPUs   []int             `json:"cpus,omitempty"` // that ranks may run on
	GPUs   []string          `json:"gpus,omitempty"` // that ranks may use, as CUDA_VISIBLE_DEVICES names them
	Node   results.Node      `json:"node"`
}

// Device is one that carries data between hosts: of RDMA with its port, as mlx5_0:1.
type Device struct {
	Name string
	NUMA *int // nil: the kernel does not say
}

// DataDevices are those of a node: the active ports of RDMA devices, and where there are
// none, the interfaces of real devices that are up.
func DataDevices(n results.Node) []Device {
	var all []Device
	for _, d := range n.RDMA {
		for _, p := range d.Ports {
			if p.State == "ACTIVE" {
				all = append(all, Device{fmt.Sprintf("%s:%d", d.Name, p.Port), d.NUMA})
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, nic := range n.NICs {
		if nic.State == "up" && nic.Driver != "" { // bridges and tunnels have no driver of a device
			all = append(all, Device{nic.Name, nic.NUMA})
		}
	}
	return all
}

// CheckSeats refuses seats with something that this node does not have: their names become
// values of variables.
func (n Node) CheckSeats(seats []results.Seat) error {
	nics := DataDevices(n.Node)
	for _, s := range seats {
		for _, name := range s.GPUs {
			if !slices.Contains(n.GPUs, name) {
				return fmt.Errorf("rank %d is to have GPU %.80q, which this node does not have", s.Rank, name)
			}
		}
		for _, name := range s.NICs {
			if !slices.ContainsFunc(nics, func(d Device) bool { return d.Name == name }) {
				return fmt.Errorf("rank %d is to have NIC %.80q, which this node does not have", s.Rank, name)
			}
		}
	}
	return nil
}
