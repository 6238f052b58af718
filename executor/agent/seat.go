package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/fabric"
	"weir/results"
)

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

// checkSeats refuses seats with something that this node does not have: their names become
// values of variables.
func (m Member) checkSeats(seats []results.Seat) error {
	nics := DataDevices(m.Node)
	for _, s := range seats {
		for _, name := range s.GPUs {
			if !slices.Contains(m.GPUs, name) {
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

// seatVariables are what tells the libraries of a rank on a node about its seat; nil if
// there is nothing to tell.
//
// CUDA counts GPUs by speed unless it is told to by their addresses, as the kernel does.
func seatVariables(s results.Seat, n results.Node) map[string]string {
	if len(s.GPUs)+len(s.NICs) == 0 {
		return nil
	}
	env := map[string]string{}
	if len(s.GPUs) > 0 {
		env["CUDA_VISIBLE_DEVICES"] = strings.Join(s.GPUs, ",")
		env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
	}
	if len(s.NICs) == 0 {
		return env
	}
	devices := fabric.Devices{Ports: s.NICs}
	for _, nic := range s.NICs {
		device, _, _ := strings.Cut(nic, ":")
		devices.Names = append(devices.Names, device)
		for _, d := range n.RDMA {
			if d.Name == device {
				devices.Driver = d.Driver
			}
		}
	}
	maps.Copy(env, fabric.DeviceEnv(devices))
	return env
}
