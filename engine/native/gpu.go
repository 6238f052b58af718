package native

/*
#include <stdlib.h>
#include "sys_clock.h"
#include "gpu_nvml.h"
#include "weir.h"
*/
import "C"

import (
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

// mostGPUs limits the GPUs of a host that are described.
const mostGPUs = 64

// StampClock returns the name of the clock, the same for all ranks of a host.
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

// GPUMemory loads a vendor library, like Probe, and keeps it started.
func (native) GPUMemory() (used []engine.GPUMemory, reason string) {
	var all [mostGPUs]C.struct_weir_gpu_used
	var why [C.WEIR_TEXT]C.char
	n := C.weir_gpus_used(&all[0], mostGPUs, &why[0], C.WEIR_TEXT)
	if n < 0 {
		return nil, C.GoString(&why[0])
	}
	for _, g := range all[:n] {
		used = append(used, engine.GPUMemory{Bus: C.GoString(&g.bus[0]), Used: int64(g.used)})
	}
	return used, ""
}

func describeGPU(g *C.struct_weir_gpu) results.GPU {
	out := results.GPU{
		Name: C.GoString(&g.name[0]), Driver: C.GoString(&g.driver[0]), Bus: C.GoString(&g.bus[0]),
		Memory: int64(g.memory), Used: int64(g.used),
		ECC:   map[C.int]string{1: "on", -1: "off"}[g.ecc],
		Fault: C.GoString(&g.fault[0]),
	}
	if c := (results.GPUClocks{SM: int(g.sm), SMMax: int(g.sm_max), Memory: int(g.memory_clock),
		MemoryMax: int(g.memory_clock_max)}); c != (results.GPUClocks{}) {
		out.Clocks = &c
	}
	if n := int(g.processes); n >= 0 {
		out.Processes = &n
	}
	if g.power_limit > 0 {
		out.Power = &results.GPUPower{Limit: float64(g.power_limit) / 1000, Default: float64(g.power_default) / 1000}
	}
	if g.links > 0 {
		out.NVLink = &results.NVLink{Links: int(g.links), Up: int(g.links_up)}
	}
	return out
}

// gpuProblems returns conditions of a GPU that invalidate measurements with it; nil: none.
func gpuProblems(gpu string, slowed, errors C.uint64_t) (list []results.Counter) {
	device := "GPU " + gpu
	if slowed != 0 {
		list = append(list, results.Counter{Device: device, Name: "clocks_throttle_reasons",
			Class: results.ThrottleClass, By: 1})
	}
	if errors != 0 {
		list = append(list, results.Counter{Device: device, Name: "ecc.errors.uncorrected",
			Class: results.MemoryClass, By: uint64(errors)})
	}
	return list
}

// gpuWatch has the last health of GPUs of this host, by PCI address. It is for workloads that start and end
// ranks during measurements; ranks of other workloads check by themselves (rank_gpu_health).
type gpuWatch map[string]C.struct_weir_gpu_health

// check returns what has affected a GPU since it was checked last; nil: nothing, or it was not checked.
func (w gpuWatch) check(gpu string) []results.Counter {
	bus := C.CString(gpu)
	defer C.free(unsafe.Pointer(bus))
	now := C.weir_gpu_health(bus)
	before, watched := w[gpu]
	w[gpu] = now
	if !watched {
		return nil
	}
	return gpuProblems(gpu, before.slowed|now.slowed, C.weir_gpu_new_errors(&before, &now))
}
