package native

/*
#include "clock.h"
#include "gpu.h"
#include "weir.h"
*/
import "C"

import (
	"weir/results"
)

// mostGPUs of a host are described.
const mostGPUs = 64

// StampClock is the same for all ranks of a host.
func (native) StampClock() string { return C.GoString(C.weir_clock_name()) }

// GPUs loads a vendor library, like Probe.
func (native) GPUs() (list []results.GPU, reason string) {
	var all [mostGPUs]C.struct_weir_gpu
	var why [C.WEIR_TEXT]C.char
	n := C.weir_gpus(&all[0], mostGPUs, &why[0], C.WEIR_TEXT)
	if n < 0 {
		return nil, C.GoString(&why[0])
	}
	list = []results.GPU{}
	for _, g := range all[:n] {
		list = append(list, describeGPU(&g))
	}
	return list, ""
}

func describeGPU(g *C.struct_weir_gpu) results.GPU {
	out := results.GPU{
		Name: C.GoString(&g.name[0]), Driver: C.GoString(&g.driver[0]), Bus: C.GoString(&g.bus[0]),
		Memory: int64(g.memory),
		ECC:    map[C.int]string{1: "on", -1: "off"}[g.ecc],
		Fault:  C.GoString(&g.fault[0]),
	}
	if c := (results.GPUClocks{SM: int(g.sm), SMMax: int(g.sm_max), Memory: int(g.memory_clock),
		MemoryMax: int(g.memory_clock_max)}); c != (results.GPUClocks{}) {
		out.Clocks = &c
	}
	if g.power_limit > 0 {
		out.Power = &results.GPUPower{Limit: float64(g.power_limit) / 1000, Default: float64(g.power_default) / 1000}
	}
	if g.links > 0 {
		out.NVLink = &results.NVLink{Links: int(g.links), Up: int(g.links_up)}
	}
	return out
}

// gpuCounters are what spoils what was measured on a rank's GPU; nil: nothing did.
func gpuCounters(out *C.struct_weir_result) []results.Counter {
	var list []results.Counter
	device := "GPU " + C.GoString(&out.gpu[0])
	if out.gpu_slowed != 0 {
		list = append(list, results.Counter{Device: device, Name: "clocks_throttle_reasons",
			Class: results.ThrottleClass, By: 1})
	}
	if out.gpu_errors != 0 {
		list = append(list, results.Counter{Device: device, Name: "ecc.errors.uncorrected",
			Class: results.MemoryClass, By: uint64(out.gpu_errors)})
	}
	return list
}
