// Package native is the engine that moves real bytes: all of weir's cgo and C.
// The C files say what they do; Go only hands over options and takes results,
// and is never in a measured loop.
package native

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Wshadow
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "weir.h"
_Static_assert(sizeof(struct weir_control) <= 4096, "the control page");
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"weir/engine"
	"weir/results"
	"weir/workload"
)

func init() { engine.Register(native{}) }

type native struct{}

// connectTimeout and closeTimeout are the C side's own bounds; the agent's
// deadlines are above them and end a process that does not keep to these.
const (
	connectTimeout = 8 * time.Second
	closeTimeout   = 3 * time.Second
)

// CorruptEnv makes a rank flip one received byte before it is checked, as
// "rank:offset", or "rank:offset:timed" for the check of the timed part. It exists
// to show that verification can fail.
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
		}
		for line := range strings.Lines(C.GoString(&info.details[0])) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				if f.Details == nil {
					f.Details = map[string]string{}
				}
				f.Details[k] = v
			}
		}
		out[name] = f
	}
	return out
}

type rank struct {
	c       *C.struct_weir_rank
	fabric  string
	self    engine.Identity
	launch  engine.Launch
	corrupt int64
	timed   C.int // the corruption is of the timed part
}

// Open opens the fabric and makes the memory for the largest case.
func (native) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	r := &rank{fabric: l.Fabric, self: self, launch: l, corrupt: -1}
	var footprint uint64
	for _, c := range l.Cases {
		if err := r.supported(c.Options); err != nil {
			return nil, err
		}
		footprint = max(footprint, uint64(c.Options.BlockSize)*uint64(c.Options.Batch))
	}
	if err := r.readCorrupt(os.Getenv(CorruptEnv), footprint); err != nil {
		return nil, err
	}
	if err := r.memoryFits(footprint); err != nil {
		return nil, err
	}
	oneHost := C.int(1)
	for _, n := range l.Nodes {
		if n != l.Nodes[0] {
			oneHost = 0
		}
	}
	name := C.CString(l.Fabric)
	defer C.free(unsafe.Pointer(name))
	cfg := C.struct_weir_config{
		fabric: name, rank: C.int(self.Rank), ranks: C.int(l.Ranks), cpu: C.int(self.CPU), one_host: oneHost,
		footprint: C.uint64_t(footprint), seed: C.uint64_t(l.Seed),
		control: (*C.struct_weir_control)(unsafe.Pointer(control)), // mapped memory, not Go's
	}
	defer r.describeNixl(&cfg)()
	var e C.struct_weir_err
	if C.weir_open(&cfg, &r.c, &e) != 0 {
		return nil, r.error(&e)
	}
	return r, nil
}

func (r *rank) readCorrupt(text string, footprint uint64) error {
	if text == "" {
		return nil
	}
	place, timed := strings.CutSuffix(text, ":timed")
	who, where, ok := strings.Cut(place, ":")
	n, err1 := strconv.Atoi(who)
	at, err2 := strconv.ParseInt(where, 10, 64)
	if !ok || err1 != nil || err2 != nil || n < 0 || n >= r.launch.Ranks || at < 0 || uint64(at) >= footprint {
		return fmt.Errorf("%s is %q, not rank:offset or rank:offset:timed of one of %d ranks and %d bytes", CorruptEnv, text, r.launch.Ranks, footprint)
	}
	if n == r.self.Rank {
		r.corrupt = at
		if timed {
			r.timed = 1
		}
	}
	return nil
}

// supported refuses what the language knows but this engine does not do yet.
func (r *rank) supported(o workload.TransferOptions) error {
	for _, kind := range []string{o.Initiator, o.Target} {
		if kind != "dram" {
			return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -1, Text: "memory of kind " + kind + " is not supported by this version of weir"}
		}
	}
	return nil
}

// addressSize is room for a fabric's address blob; UCX's, the largest, has some
// hundred bytes for each transport and device.
const addressSize = 64 << 10

func (r *rank) Address() ([]byte, error) {
	buf := C.malloc(addressSize)
	if buf == nil {
		return nil, fmt.Errorf("no memory for an address")
	}
	defer C.free(buf)
	var n C.size_t
	var e C.struct_weir_err
	if C.weir_address(r.c, buf, addressSize, &n, &e) != 0 {
		return nil, r.error(&e)
	}
	return C.GoBytes(buf, C.int(n)), nil
}

func (r *rank) Connect(addresses [][]byte) error {
	var all []byte
	lens := make([]C.size_t, len(addresses))
	for i, a := range addresses {
		all = append(all, a...)
		lens[i] = C.size_t(len(a))
	}
	if len(addresses) != r.launch.Ranks {
		return fmt.Errorf("%d addresses for %d ranks", len(addresses), r.launch.Ranks)
	}
	blobs := C.CBytes(all)
	defer C.free(blobs)
	var e C.struct_weir_err
	if C.weir_connect(r.c, blobs, &lens[0], C.int64_t(connectTimeout), &e) != 0 {
		return r.error(&e)
	}
	return nil
}

var (
	ops      = map[string]C.int{"write": C.OP_WRITE, "read": C.OP_READ}
	modes    = map[string]C.int{"stream": C.MODE_STREAM, "pingpong": C.MODE_PINGPONG}
	verifies = map[string]C.int{"none": C.VERIFY_NONE, "sample": C.VERIFY_SAMPLE, "full": C.VERIFY_FULL}
)

func (r *rank) Run(c engine.Case) (*engine.CaseResult, error) {
	index := -1
	for i := range r.launch.Cases {
		if r.launch.Cases[i].Key == c.Key {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("case %s is not of this launch", c.Key)
	}
	o := c.Options
	cc := C.struct_weir_case{
		index: C.uint32_t(index), op: ops[o.Op], mode: modes[o.Mode], verify: verifies[o.Verify],
		block: C.uint64_t(o.BlockSize), batch: C.uint64_t(o.Batch), iterations: C.uint64_t(o.Iterations),
		warmup: C.uint64_t(o.Warmup), in_flight: C.uint64_t(o.InFlight), timeout: C.int64_t(c.Timeout), corrupt: C.int64_t(r.corrupt), corrupt_timed: r.timed,
	}
	var out C.struct_weir_result
	var e C.struct_weir_err
	if C.weir_run(r.c, &cc, &out, &e) != 0 {
		return nil, r.error(&e)
	}
	return r.result(c, &out), nil
}

func (r *rank) result(c engine.Case, out *C.struct_weir_result) *engine.CaseResult {
	res := &engine.CaseResult{
		Key: c.Key, Rank: r.self.Rank, Initiator: out.initiator != 0, Verified: out.verified != 0,
		Transport: C.GoString(&out.transport[0]), PingPong: c.Options.Mode == "pingpong",
		Prep:   engine.Prep{Alloc: float64(out.alloc_s), Register: float64(out.register_s), Connect: float64(out.connect_s)},
		Memcpy: float64(out.memcpy_bps), Ceiling: float64(out.ceiling_bps),
	}
	if !res.Initiator {
		return res
	}
	s := &results.Samples{
		Case: c.Key, Launch: r.launch.Index, Rank: r.self.Rank, Role: "initiator",
		Ops: uint64(out.ops), Bytes: uint64(out.bytes), Start: int64(out.start), End: int64(out.end),
		Every: int(out.every), ClockNS: float64(out.clock_ns), Counts: map[int]int64{},
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

func stamps(p *C.int64_t, n C.size_t) []int64 {
	out := make([]int64, n)
	for i, v := range unsafe.Slice(p, n) {
		out[i] = int64(v)
	}
	return out
}

func (r *rank) Close() error {
	var e C.struct_weir_err
	if C.weir_close(r.c, C.int64_t(closeTimeout), &e) != 0 {
		return r.error(&e)
	}
	r.c = nil
	return nil
}

func (r *rank) error(e *C.struct_weir_err) error {
	return &engine.Error{
		Fabric: r.fabric, Op: C.GoString(&e.op[0]), Phase: C.GoString(&e.phase[0]), Peer: int(e.peer),
		Code: int(e.code), Text: C.GoString(&e.text[0]),
	}
}
