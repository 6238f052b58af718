// Package placement places the ranks of launches on nodes, and binds them to dedicated processors, GPUs and NICs.
// It uses the inventories of nodes, and knows neither processes nor etcd.
package placement

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
)

// Node describes a node, as reported by its agent.
type Node struct {
	Host   string            `json:"host"` // id, equal for all agents of a host
	Labels map[string]string `json:"labels,omitempty"`
	CPUs   []int             `json:"cpus,omitempty"` // that ranks may run on
	GPUs   []string          `json:"gpus,omitempty"` // that ranks may use, as CUDA_VISIBLE_DEVICES names them
	Node   results.Node      `json:"node"`
}

// Device is a network device: an interface, or the port of an RDMA device, as mlx5_0:1.
type Device struct {
	Name string
	NUMA *int // nil: unknown
}

// DataDevices are the devices of a node for data: active ports of RDMA devices, otherwise interfaces that are up.
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
		if nic.State == "up" && nic.Driver != "" { // virtual interfaces have no driver
			all = append(all, Device{nic.Name, nic.NUMA})
		}
	}
	return all
}

// CheckBindings refuses bindings to devices that this node does not have: their names become values of variables.
func (n Node) CheckBindings(bindings []results.Binding) error {
	nics := DataDevices(n.Node)
	for _, s := range bindings {
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
