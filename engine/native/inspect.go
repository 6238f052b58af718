//go:build weirtest

package native

/*
#cgo CFLAGS: -DWEIR_TEST
#include <stdlib.h>
#include "carriers.h"
#include "clock.h"
#include "ep_run.h"
#include "hist.h"
#include "loop.h"
#include "memory.h"
#include "pattern.h"
#include "selftest.h"
*/
import "C"

import (
	"errors"
	"math"
	"runtime"
	"unsafe"

	"weir/results"
)

// What tests need to see of the C side; cgo is not allowed in test files. None of it is
// in a weir that is built without the tag.

func histogramCounts() int { return int(C.HIST_COUNTS) }

func histogramIndex(v int64) int { return int(C.hist_index(C.int64_t(v))) }

// patternCheckFlipped fills n bytes, flips one (none if at < 0) and gives the
// offset at which the check finds a fault, -1 for none.
func patternCheckFlipped(n, at int) int {
	return int(C.selftest_pattern(C.size_t(n), C.int64_t(at)))
}

// clearNew zeroes memory that was mapped and not written yet.
func clearNew(b []byte) error {
	var e C.struct_weir_err
	g := C.struct_weir_region{base: (*C.char)(unsafe.Pointer(&b[0])), size: C.size_t(len(b))}
	if C.host_clear_new(&g, &e) < 0 {
		return errors.New(C.GoString(&e.text[0]))
	}
	return nil
}

// Regions of a rank.
const (
	regionControl = C.REGION_CONTROL
	regionSource  = C.REGION_SOURCE
	regionSink    = C.REGION_SINK
)

// memory is where a rank's first thread has one of its regions.
func (r *rank) memory(region int) (base, size uint64) {
	var n C.size_t
	p := C.selftest_memory(r.threads[0], C.int(region), &n)
	return uint64(uintptr(p)), uint64(n)
}

// selftestBinding says what is wrong with bindings of memory to nodes; "": nothing.
func selftestBinding() string {
	runtime.LockOSThread() // a policy is of a thread
	defer runtime.UnlockOSThread()
	return C.GoString(C.selftest_binding())
}

// breakConnections shuts a tcp rank's sockets down, as its death would.
func (r *rank) breakConnections() { C.selftest_break_tcp(r.threads[0]) }

// stageP99 is the 99th percentile of a stage, in ns, of which so many took 0, 1 and 2 ns.
func stageP99(none, ones, twos uint32) float64 {
	return math.Round(float64(C.selftest_stage_p99(C.uint32_t(none), C.uint32_t(ones), C.uint32_t(twos))) * 1e9)
}

// recordCost is what recording a stamped request takes in ns, with its clock read.
func recordCost(n int) float64 { return float64(C.selftest_record_ns(C.uint64_t(n))) }

// handover is the time in ns in which a word that one processor stores is seen by
// another; negative: a thread could not be kept on one of them.
func handover(cpus [2]int, n int64) float64 {
	runtime.LockOSThread() // it is kept on the first meanwhile
	defer runtime.UnlockOSThread()
	return float64(C.selftest_handover_ns(C.int(cpus[0]), C.int(cpus[1]), C.uint64_t(max(n, 2))))
}

// libfabricLimits narrows what libfabric's ranks may use that open from now on: the
// ways to learn of delivery, a bit each (0: any), and the bytes of one operation (0:
// as the provider says).
func libfabricLimits(ways uint, piece int) { C.selftest_libfabric(C.uint(ways), C.size_t(piece)) }

// libfabricListening sets how long, in ns, libfabric's ranks wait for lower ones to connect (0: as
// always).
func libfabricListening(ns int64) { C.selftest_libfabric_listening(C.int64_t(ns)) }

// carriersOfUCX reads the lanes of an endpoint of UCX from the library's text.
func carriersOfUCX(text, mapped string, second bool) string {
	list := (*C.char)(C.calloc(1, C.WEIR_CARRIERS))
	defer C.free(unsafe.Pointer(list))
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	number := map[bool]C.int{true: 1}
	m := C.CString(mapped)
	defer C.free(unsafe.Pointer(m))
	C.carriers_ucx(list, c, m, number[second])
	return C.GoString(list)
}

// pathsOfUCX reads the ways to other hosts from the library's texts; the devices that
// begin with mlx5_ read and write remote memory.
func pathsOfUCX(resources, lanes string, second bool) []results.Path {
	list := (*C.char)(C.calloc(1, C.WEIR_CARRIERS))
	defer C.free(unsafe.Pointer(list))
	there, chosen := C.CString(resources), C.CString(lanes)
	defer C.free(unsafe.Pointer(there))
	defer C.free(unsafe.Pointer(chosen))
	C.selftest_between_hosts(list, there, chosen, truth(second))
	return paths(C.GoString(list))
}

// addCarriers adds so many different lines to an empty list and gives it.
func addCarriers(names []string) string {
	list := (*C.char)(C.calloc(1, C.WEIR_CARRIERS))
	defer C.free(unsafe.Pointer(list))
	none := C.CString("")
	defer C.free(unsafe.Pointer(none))
	for _, n := range names {
		c := C.CString(n)
		C.carrier_add(list, C.CARRIES_DATA, c, none)
		C.free(unsafe.Pointer(c))
	}
	return C.GoString(list)
}

// matrixEdge is where the k-th request begins of those that a cell is cut into.
func matrixEdge(bytes, shards, k uint64) uint64 {
	return uint64(C.matrix_edge(C.uint64_t(bytes), C.uint64_t(shards), C.uint64_t(k)))
}

// ceilingSpan is how long the spans of a probe of memory copies take at least, in ns.
func ceilingSpan(ns int64) { C.selftest_ceiling_span(C.int64_t(ns)) }

// ceilingTime gives probes of paths so many ns before they take no more spans than they
// must, and says how many they have taken since it was called last.
func ceilingTime(ns int64) uint64 { return uint64(C.selftest_ceiling_time(C.int64_t(ns))) }

// ucxRefusesMemory has UCX refuse memory the next so many times, as where a card's driver
// may not lock it.
func ucxRefusesMemory(times int) { C.selftest_ucx_refuses_memory(C.int(times)) }

// ucxDevicesGone has the next so many workers of UCX find that a device which was listed
// is gone.
func ucxDevicesGone(times int) { C.selftest_ucx_devices_gone(C.int(times)) }

// tscTrusted says whether a list of the kernel's clocks offers the processor's counter.
func tscTrusted(path string) bool {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return C.weir_tsc_trusted(name) != 0
}

// flipBytes has so many random bytes of what comes flipped after each check of workload ep, one
// at a time, and gives a function that stops it and tells how many were not found.
func flipBytes(n uint64) (missed func() uint64) {
	C.ep_flips, C.ep_flips_missed = C.uint64_t(n), 0
	return func() uint64 {
		C.ep_flips = 0
		return uint64(C.ep_flips_missed)
	}
}

// idleKernels has a rank start no kernels of dispatch and combine; -1: none.
func idleKernels(rank int) { C.ep_gpu_idle = C.int(rank) }

// staleKernels has rank 1 move old contents in an iteration that the host does not look at; -1: in none.
func staleKernels(iteration int) { C.ep_gpu_stale = C.int64_t(iteration) }
