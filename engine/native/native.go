// Package native is the engine that moves real bytes: all of weir's cgo and C. The C files document what they
// do; Go only passes options and takes results, and is never in a measured loop.
package native

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -Wshadow
#cgo CFLAGS: -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
#cgo LDFLAGS: -ldl -lpthread -lm -Wl,-z,relro -Wl,-z,now
#include <stdlib.h>
#include "loop_role.h"
*/
import "C"

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

func init() {
	engine.Register(engine.Native, native{})
	engine.RegisterProber(native{})
}

type native struct{}

// Quiet declares that nothing else may run in the processes of ranks.
func (native) Quiet() {}

// connectTimeout and closeTimeout bound the C side; the agent's deadlines are longer, and end a process that
// exceeds these. Variables, because tests give ranks of one busy process more.
var (
	connectTimeout = 8 * time.Second
	closeTimeout   = 3 * time.Second
)

// CorruptEnv makes a rank flip one received byte before it is checked, as "rank:offset", or
// "rank:offset:timed" for the check of the timed part. It exists to show that verification can fail.
const CorruptEnv = "WEIR_SELFTEST_CORRUPT"

// Probe loads vendor libraries: run it in a process that ends afterwards.
func (native) Probe(fabrics []string) map[string]results.Fabric {
	if len(fabrics) == 0 {
		for i := C.int(0); ; i++ {
			name := C.weir_fabric_name(i)
			if name == nil {
				break
			}
			fabrics = append(fabrics, C.GoString(name))
		}
	}
	out := make(map[string]results.Fabric, len(fabrics))
	for _, name := range fabrics {
		var info C.struct_weir_info
		cname := C.CString(name)
		C.weir_probe(cname, &info)
		C.free(unsafe.Pointer(cname))
		f := results.Fabric{
			Available: info.available != 0,
			Version:   C.GoString(&info.version[0]),
			Reason:    C.GoString(&info.reason[0]),
			Paths:     paths(C.GoString(&info.paths[0])),
		}
		for line := range strings.Lines(C.GoString(&info.details[0])) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				if f.Details == nil {
					f.Details = map[string]string{}
				}
				f.Details[k] = v
			}
		}
		if path := loaded(C.GoString(info.library)); f.Available && path != "" {
			if f.Details == nil {
				f.Details = map[string]string{}
			}
			f.Details["library"] = path
		}
		out[name] = f
	}
	return out
}

type rank struct {
	member
	launch  launch
	options move.Spec // of the first case: all share those of the launch
	cells   []*cells  // of matrices; nil: none
	flows   []int     // by case: index of its cells, or of the flows of describeFlows
	played  *played   // result of the launch's sequence; nil: none, or not played yet
	cache   uint64    // bytes that requests are spread over; 0: no case spreads
	buffer  uint64    // bytes of the largest buffer of the launch; 0 with matrices
	// of the byte flipped by the self-test: its offset, its rank, and whether it is flipped in the timed part
	corrupt       int64
	corruptThread int
	timed         C.int
}

// Open opens the fabric and allocates memory for the largest case.
func (native) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	decoded, err := decode(l)
	if err != nil {
		return nil, err
	}
	r := &rank{member: memberOf(l, self, control), launch: decoded, corrupt: -1}
	r.width = decoded.Threads()
	r.options = decoded.Cases[0].Options
	for _, c := range decoded.Cases {
		if err := r.supported(c.Options); err != nil {
			return nil, err
		}
		if c.Options.Reuse == "spread" {
			r.cache = 2 * lastLevelCache()
		}
		r.buffer = max(r.buffer, r.slots(c.Options)*stride(c.Options))
	}
	if err := r.layOutCells(); err != nil {
		return nil, err
	}
	if err := r.readCorrupt(os.Getenv(CorruptEnv)); err != nil {
		return nil, err
	}
	if err := r.checkMemory(); err != nil {
		return nil, err
	}
	regions, err := r.layout(self.Rank)
	if err != nil {
		return nil, err
	}
	a := &cArrays{}
	defer a.free()
	// the options are equal in all cases: they are fixed when a rank starts
	cfg, err := r.config(a, r.options, r.options.FabricOptions, regions)
	if err != nil {
		return nil, err
	}
	cfg.sleeps = cBool(r.options.Sleeps())
	for _, c := range decoded.Cases {
		cfg.in_flight, cfg.batch = max(cfg.in_flight, C.uint64_t(c.Options.InFlight)),
			max(cfg.batch, C.uint64_t(c.Options.Batch))
	}
	r.describeFlows(a, &cfg)
	if err := r.openThreads(cfg); err != nil {
		return nil, err
	}
	return r, nil
}

// indexOnHost returns the index of a rank among those of its host.
func indexOnHost(nodes []string, rank int) int {
	n := 0
	for _, other := range nodes[:rank] {
		if other == nodes[rank] {
			n++
		}
	}
	return n
}

func oneHost(nodes []string) C.int {
	return cBool(!slices.ContainsFunc(nodes, func(n string) bool { return n != nodes[0] }))
}

func cBool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// supported refuses features of the language that this engine does not have yet.
func (r *rank) supported(o move.Spec) error {
	for _, name := range []string{o.Initiator, o.Target} {
		if kind(o, name) == nil {
			return &engine.Error{
				Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -1,
				Text: "memory of kind " + name + " is not supported by this version of weir",
			}
		}
	}
	if why := o.Lacks(r.fabric); why != "" { // a scenario that names the fabric is refused earlier
		return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -1, Text: why}
	}
	return nil
}

func numa(p option.Placement) C.int {
	switch p {
	case option.Default:
		return C.NUMA_DEFAULT
	case option.Local:
		return C.NUMA_LOCAL
	}
	return C.NUMA_NODE + C.int(p)
}

// addressSize is the maximum of a fabric's address blob; UCX's, the largest, has some hundred bytes for each
// transport and device.
const addressSize = 64 << 10

func (r *rank) Address() ([]byte, error) {
	all, err := r.address()
	if err != nil {
		return nil, err
	}
	return sealAddress(append(r.cacheWord(), all...)), nil
}

func (r *rank) Connect(addresses [][]byte) error { return r.connectTo(addresses, r.sameCache) }

var (
	ops   = map[string]C.int{"write": C.OP_WRITE, "read": C.OP_READ}
	modes = map[string]C.int{"stream": C.MODE_STREAM, "pingpong": C.MODE_PINGPONG}
	pages = map[string]C.int{
		"default": C.PAGES_DEFAULT, "thp": C.PAGES_THP, "2MiB": C.PAGES_2MIB, "1GiB": C.PAGES_1GIB,
	}
	zeros    = map[string]C.int{"random": 0, "zero": 1}
	verifies = map[string]C.int{"none": C.VERIFY_NONE, "sample": C.VERIFY_SAMPLE, "full": C.VERIFY_FULL}
)

func (r *rank) Run(c engine.Case) (*workload.Part, error) {
	p, err := r.measure(c.Key)
	if err != nil {
		return nil, err
	}
	return p.Encode(c.Key)
}

// measure runs a case of the launch.
func (r *rank) measure(key string) (*move.Part, error) {
	index := r.launch.find(key)
	if index < 0 {
		return nil, fmt.Errorf("case %s is not of this launch", key)
	}
	c := r.launch.Cases[index]
	o := c.Options
	if o.Step != nil && r.played == nil {
		if err := r.play(c.Before); err != nil {
			return nil, err
		}
	}
	cc := C.struct_weir_case{
		index: C.uint32_t(index), flows: C.int(r.flows[index]), op: ops[o.Op], mode: modes[o.Mode],
		verify: verifies[o.Verify],
		block:  C.uint64_t(o.BlockSize), batch: C.uint64_t(o.Batch), iterations: C.uint64_t(o.Iterations),
		shards: C.uint64_t(o.Shards), zeros: zeros[o.Payload], slots: C.uint64_t(r.slots(o)),
		duration: C.int64_t(o.Duration),
		warmup:   C.uint64_t(o.Warmup), in_flight: C.uint64_t(o.InFlight),
		timeout: C.int64_t(c.Timeout), corrupt: C.int64_t(r.corrupt), corrupt_timed: r.timed,
	}
	every, stamps := r.stamped(o)
	cc.stamp_every, cc.stamps = C.uint32_t(every), C.uint64_t(stamps)
	if o.Step != nil {
		cc.sequence_step = C.int(index + 1)
	}
	if o.Matrix != nil {
		cc.mode, cc.block, cc.batch, cc.slots = C.MODE_MATRIX,
			C.uint64_t(r.cells[r.flows[index]].probe(r.self.Rank, o.Shards)), 1, 1
	}
	cc.stride = C.uint64_t(room(uint64(cc.block) * uint64(cc.batch)))
	res, err := r.run(c, cc)
	if err == nil && o.Step != nil {
		res.Steps, res.Began = r.played.of(index)
	}
	return res, err
}

// stampedOf is a variable, because tests stamp each request, or none.
var stampedOf = move.Stamped

// stamped returns which requests of a case are stamped, as move.Stamped: all of a matrix are.
func (r *rank) stamped(o move.Spec) (every int, count uint64) {
	requests := uint64(o.Iterations)
	if o.Duration != 0 {
		requests = 0
	}
	switch {
	case o.Matrix != nil:
		return 1, 0
	case o.Mode == "pingpong":
		return stampedOf(2*uint64(o.BlockSize), requests, false)
	}
	flushed := o.Op == "write" && C.weir_confirms_delivery(r.threads[0]) == 0
	return stampedOf(requestBytes(o), requests, flushed)
}

// partOf returns the part of a result that all workloads have; sleeps: the rank blocks while it waits for others.
func (m *member) partOf(out *C.struct_weir_result, initiator, sleeps bool) *move.Part {
	carriers, gpu := C.GoString(&out.carriers[0]), C.GoString(&out.gpu[0])
	p := &move.Part{
		Rank: m.self.Rank, Initiator: initiator, Verified: out.verified != 0,
		Transport:  C.GoString(&out.transport[0]),
		Transports: transports(carriers, m.self.Rank, initiator),
		Provider:   providerFacts(carriers, m.self.Rank, initiator),
		Libraries:  m.loadedLibraries(),
		Prep: move.Prep{
			Alloc: float64(out.alloc_s), Register: float64(out.register_s), Connect: float64(out.connect_s),
		},
		Memcpy: float64(out.memcpy_bps), Ceiling: float64(out.ceiling_bps), CeilingBest: float64(out.ceiling_best_bps),
		Usage: usage(out, sleeps),
		Clock: move.Clock{
			Resolution: float64(out.resolution_ns) / 1e9, Cost: float64(out.clock_ns) / 1e9,
			Bound: float64(out.bound_ns) / 1e9,
		},
		GPU: gpu, GPUCounters: gpuProblems(gpu, out.gpu_slowed, out.gpu_errors),
	}
	if out.node >= 0 {
		p.MemoryNodes = []int{int(out.node)}
	}
	return p
}

func (r *rank) result(c task, out *C.struct_weir_result) *move.Part {
	res := r.partOf(out, out.initiator != 0, c.Options.Sleeps())
	res.Stages = move.Stages{Prepare: float64(out.prep_s), Made: stage(out.fabric_prep), Listed: stage(out.listed),
		Registered: stage(out.registered),
		Post:       stage(out.post), Transfer: stage(out.transfer)}
	if c.Options.Matrix != nil {
		res.Iterations = spans(out)
	}
	if !res.Initiator {
		return res
	}
	if c.Options.Matrix != nil {
		res.Delivered = deliveries(out)
	}
	s := &results.Samples{
		Case: c.Key, Launch: r.launch.Index, Rank: r.self.Rank, Role: "initiator",
		Ops: uint64(out.ops), Bytes: uint64(out.bytes), Start: int64(out.start), End: int64(out.end),
		Every: int(out.stamp_every), ClockNS: float64(out.clock_ns), Counts: map[int]int64{},
	}
	for i, n := range unsafe.Slice(out.counts, out.ncounts) {
		if n != 0 {
			s.Counts[i] = int64(n)
		}
	}
	s.First = stamps(out.first, out.nfirst)
	s.Last = stamps(out.last, out.nlast)
	for _, p := range unsafe.Slice(out.points, out.npoints) {
		s.Progress = append(s.Progress, results.Progress{Time: int64(p.time), Bytes: uint64(p.bytes)})
	}
	res.Samples = s
	return res
}

func stage(s C.struct_weir_stage_time) move.Stage {
	return move.Stage{Stamps: uint64(s.n), Mean: float64(s.mean), P99: float64(s.p99)}
}

func stamps(p *C.int64_t, n C.size_t) []int64 {
	out := make([]int64, n)
	for i, v := range unsafe.Slice(p, n) {
		out[i] = int64(v)
	}
	return out
}
