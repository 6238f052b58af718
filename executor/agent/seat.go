package agent

import (
	"maps"
	"strings"

	"weir/fabric"
	"weir/results"
)

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
