//go:build weirtest

package native

/*
#cgo CFLAGS: -DWEIR_TEST
#include <stdlib.h>
#include "fabric_carriers.h"
#include "sys_clock.h"
#include "ep_run.h"
#include "fab_libfabric_settings.h"
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

	"github.com/weir-bench/weir/results"
)

// Access to the C side for tests, as cgo is not allowed in test files. Builds without the tag contain none of
// it.

func histogramCounts() int { return int(C.HIST_COUNTS) }

func histogramIndex(v int64) int { return int(C.hist_index(C.int64_t(v))) }

// patternCheckFlipped fills n bytes, flips one (none if at < 0) and returns the offset at which the check
// finds a fault, -1 for none.
func patternCheckFlipped(n, at int) int {
	return int(C.selftest_pattern(C.size_t(n), C.int64_t(at)))
}

// clearNew zeroes freshly mapped memory.
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

// memory returns the address and size of a region of a rank's first thread.
func (r *rank) memory(region int) (base, size uint64) {
	var n C.size_t
	p := C.selftest_memory(r.threads[0], C.int(region), &n)
	return uint64(uintptr(p)), uint64(n)
}

// selftestBinding returns what is wrong with bindings of memory to nodes; "": nothing.
func selftestBinding() string {
	runtime.LockOSThread() // a policy is per thread
	defer runtime.UnlockOSThread()
	return C.GoString(C.selftest_binding())
}

// breakConnections shuts a tcp rank's sockets down, as its death would.
func (r *rank) breakConnections() { C.selftest_break_tcp(r.threads[0]) }

// stageP99 returns the 99th percentile of a stage, in ns, with the given numbers of 0, 1 and 2 ns.
func stageP99(none, ones, twos uint32) float64 {
	return math.Round(float64(C.selftest_stage_p99(C.uint32_t(none), C.uint32_t(ones), C.uint32_t(twos))) * 1e9)
}

// recordCost returns the cost of recording a stamped request in ns, including its clock read.
func recordCost(n int) float64 { return float64(C.selftest_record_ns(C.uint64_t(n))) }

// handover returns the latency in ns until a word stored by one processor is seen by another; negative: a
// thread could not be pinned.
func handover(cpus [2]int, n int64) float64 {
	runtime.LockOSThread() // it is pinned to the first processor
	defer runtime.UnlockOSThread()
	return float64(C.selftest_handover_ns(C.int(cpus[0]), C.int(cpus[1]), C.uint64_t(max(n, 2))))
}

// libfabricLimits restricts libfabric's ranks opened from now on: delivery methods (bit mask; 0: any), and
// bytes per operation (0: the provider's limit).
func libfabricLimits(ways uint, piece int) { C.selftest_libfabric(C.uint(ways), C.size_t(piece)) }

// libfabricListening sets how long, in ns, libfabric's ranks wait for lower ones to connect (0: the default).
func libfabricListening(ns int64) { C.selftest_libfabric_listening(C.int64_t(ns)) }

// statedDefault returns the default that a help text of libfabric states; "": it states none.
func statedDefault(help string) string {
	text := C.CString(help)
	defer C.free(unsafe.Pointer(text))
	var out [64]C.char
	if C.libfabric_stated_default(text, &out[0], C.size_t(len(out))) == 0 {
		return ""
	}
	return C.GoString(&out[0])
}

// concernsProvider reports whether a variable of libfabric is of a provider, or of all.
func concernsProvider(variable, provider string) bool {
	v, p := C.CString(variable), C.CString(provider)
	defer C.free(unsafe.Pointer(v))
	defer C.free(unsafe.Pointer(p))
	return C.libfabric_concerns(v, p) != 0
}

// carriersOfUCX parses the lanes of an endpoint of UCX from the library's text.
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

// pathsOfUCX parses the paths to other hosts from the library's texts; devices that begin with mlx5_ access
// remote memory.
func pathsOfUCX(resources, lanes string, second bool) []results.Path {
	list := (*C.char)(C.calloc(1, C.WEIR_CARRIERS))
	defer C.free(unsafe.Pointer(list))
	there, chosen := C.CString(resources), C.CString(lanes)
	defer C.free(unsafe.Pointer(there))
	defer C.free(unsafe.Pointer(chosen))
	C.selftest_between_hosts(list, there, chosen, cBool(second))
	return paths(C.GoString(list))
}

// addCarriers adds the lines to an empty list and returns it.
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

// matrixEdge returns the offset of the k-th request of a cell.
func matrixEdge(bytes, shards, k uint64) uint64 {
	return uint64(C.matrix_edge(C.uint64_t(bytes), C.uint64_t(shards), C.uint64_t(k)))
}

// ceilingSpan sets the minimum length of the spans of memory copy probes, in ns.
func ceilingSpan(ns int64) { C.selftest_ceiling_span(C.int64_t(ns)) }

// ceilingTime sets the time budget of path probes in ns, after which they take only the required spans, and
// returns the spans taken since its last call.
func ceilingTime(ns int64) uint64 { return uint64(C.selftest_ceiling_time(C.int64_t(ns))) }

// ucxRefusesMemory makes UCX refuse memory the next times, like a driver under a limit on locked memory.
func ucxRefusesMemory(times int) { C.selftest_ucx_refuses_memory(C.int(times)) }

// ucxDevicesGone makes the next workers of UCX find a listed device missing.
func ucxDevicesGone(times int) { C.selftest_ucx_devices_gone(C.int(times)) }

// tscTrusted returns whether a list of the kernel's clock sources has the TSC.
func tscTrusted(path string) bool {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return C.weir_tsc_trusted(name) != 0
}

// flipBytes flips n random received bytes, one at a time, after each check of workload ep. The returned
// function stops that and returns how many the check missed.
func flipBytes(n uint64) (missed func() uint64) {
	C.ep_flips, C.ep_flips_missed = C.uint64_t(n), 0
	return func() uint64 {
		C.ep_flips = 0
		return uint64(C.ep_flips_missed)
	}
}

// idleKernels makes a rank start no kernels of dispatch and combine; -1: none.
func idleKernels(rank int) { C.ep_gpu_hung_rank = C.int(rank) }

// staleKernels makes rank 1 move old contents in an iteration that the host does not check; -1: none.
func staleKernels(iteration int) { C.ep_gpu_stale_iteration = C.int64_t(iteration) }
