package native

/*
#include <stdlib.h>
#include "ep.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/move"
)

func init() { engine.Register(ep.Runner, epRunner{}) }

// epRunner runs the ranks of workload ep.
type epRunner struct{}

// Quiet declares that nothing else may run in the processes of ranks.
func (epRunner) Quiet() {}

// epRank is a rank of a launch; all cases have the same routes.
type epRank struct {
	member
	launch  engine.Launch
	specs   []*ep.Spec // by case
	layout  *ep.Layout
	probes  []uint64 // by rank: bytes of its path probes
	targets []int    // by rank: its probed peer
	signals uint64   // offset of the signals between kernels in a sink
	timed   C.int    // of the byte flipped by the self-test
	corrupt int64
}

// Open computes the routes and allocates their memory.
func (epRunner) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	r := &epRank{member: memberOf(l, self, control), launch: l, corrupt: -1}
	for _, c := range l.Cases {
		s, err := ep.Read(c.Spec, c.Large)
		if err != nil {
			return nil, err
		}
		r.specs = append(r.specs, s)
	}
	if len(r.specs) == 0 {
		return nil, errors.New("the launch has no cases")
	}
	s := r.specs[0]
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	r.layout = s.LayOut(t, self.Rank)
	r.probes, r.targets = s.Probes(t)
	if err := r.readCorrupt(os.Getenv(CorruptEnv)); err != nil {
		return nil, err
	}
	return r, r.open(s.Moves(), s.Moves().FabricOptions.With(l.Options))
}

// readCorrupt parses where to flip a received byte, counted over messages, counts, rows and sums.
func (r *epRank) readCorrupt(text string) error {
	if text == "" {
		return nil
	}
	rank, at, timed, err := parseCorrupt(text, r.launch.Ranks)
	if err != nil {
		return err
	}
	for i, s := range r.specs {
		if s.Verify == "none" {
			return fmt.Errorf("%s is %q, but case %s verifies nothing", CorruptEnv, text, r.launch.Cases[i].Key)
		}
	}
	if received := r.specs[0].LayOut(r.layout.Table, rank).Received(); at >= received {
		return fmt.Errorf("%s is %q, but rank %d receives %d bytes", CorruptEnv, text, rank, received)
	}
	if rank == r.self.Rank {
		r.corrupt, r.timed = at, cBool(timed)
	}
	return nil
}

// regions returns the layout of any rank: all have sinks of one size.
func (r *epRank) regions() layout {
	probe := slices.Max(r.probes)
	sink := area(max(uint64(r.layout.Sink()), probe))
	l := layout{
		first: skew, source: skew + area(max(uint64(r.layout.Source), probe)), sink: sink + 2*skew + area(probe),
		probe: sink + 2*skew, used: uint64(r.layout.Sink()),
	}
	if r.specs[0].VRAM() {
		t := r.layout.Table
		r.signals = l.sink
		l.sink += area(uint64(C.weir_ep_signal_bytes(C.int(t.Ranks), C.int(t.All()), C.int(slices.Max(t.Tokens)))))
	}
	return l
}

func (r *epRank) open(o move.Spec, options fabric.Options) error {
	regions := r.regions()
	on := 0
	for _, n := range r.launch.Nodes {
		if n == r.launch.Nodes[r.self.Rank] {
			on++
		}
	}
	rows := 2 * uint64(len(r.layout.Table.Experts[r.self.Rank])/r.layout.Table.TopK) * uint64(r.specs[0].Hidden) * 2
	need := float64(on) * float64(regions.source+regions.sink+rows)
	if err := r.checkFree(o, fmt.Sprintf("%d ranks with their messages and rows need", on), need); err != nil {
		return err
	}
	name := C.CString(r.fabric)
	defer C.free(unsafe.Pointer(name))
	lines, err := fabric.Lines(r.fabric, options)
	if err != nil {
		return err
	}
	text := C.CString(lines)
	defer C.free(unsafe.Pointer(text))
	cfg := C.struct_weir_config{
		fabric: name, rank: C.int(r.self.Rank), ranks: C.int(r.launch.Ranks), one_host: oneHost(r.launch.Nodes),
		source: kind(o, o.Initiator), sink: kind(o, o.Target), options: text,
		layout: C.struct_weir_layout{
			source: C.uint64_t(regions.source), sink: C.uint64_t(regions.sink), first: C.uint64_t(regions.first),
			probe: C.uint64_t(regions.probe), used: C.uint64_t(regions.used),
		},
		pages: pages[o.Pages], numa: numa(o.Placement()), in_flight: 1, batch: 1, share: 1,
		gpu: C.uint(indexOnHost(r.launch.Nodes, r.self.Rank)),
	}
	defer r.describeProbes(&cfg)()
	return r.openThreads(cfg)
}

// describeProbes sets the probed paths of the C side: from each rank to the peer that it sends most.
func (r *epRank) describeProbes(cfg *C.struct_weir_config) (free func()) {
	self := r.self.Rank
	flows, freeFlows := cArray[C.struct_weir_flow](1)
	flows[0] = C.struct_weir_flow{peer: C.int(r.targets[self]), bytes: C.uint64_t(r.probes[self])}
	var from []C.struct_weir_incoming
	for i, to := range r.targets {
		if to == self {
			from = append(from, C.struct_weir_incoming{peer: C.int(i), bytes: C.uint64_t(r.probes[i])})
		}
	}
	sources, freeSources := cArray[C.struct_weir_incoming](len(from))
	copy(sources, from)
	probes, freeProbes := cProbes(probesOf(r.launch.Ranks, self, func(i int) int { return r.targets[i] }))
	freeAll := setFlows(cfg, []C.struct_weir_flows{flowsOf(flows[:1], sources[:len(from)], probes)})
	return func() { freeFlows(); freeSources(); freeProbes(); freeAll() }
}

// Address puts the digest of the routes before the fabric's address.
func (r *epRank) Address() ([]byte, error) {
	all, err := r.address()
	if err != nil {
		return nil, err
	}
	return sealAddress(append([]byte(r.layout.Table.Digest()), all...)), nil
}

func (r *epRank) Connect(addresses [][]byte) error {
	if len(addresses) != r.launch.Ranks {
		return fmt.Errorf("%d addresses for %d ranks", len(addresses), r.launch.Ranks)
	}
	blobs, digest := make([][][]byte, len(addresses)), r.layout.Table.Digest()
	for i, a := range addresses {
		all, err := r.openAddress(i, a)
		if err == nil && (len(all) < len(digest) || string(all[:len(digest)]) != digest) {
			err = &engine.Error{
				Fabric: r.fabric, Op: "connect", Phase: "connect", Peer: i, Code: -71,
				Text: "its routes differ: it runs another version of weir",
			}
		}
		if err == nil {
			blobs[i], err = r.split(i, all[len(digest):])
		}
		if err != nil {
			return err
		}
	}
	return r.connect(blobs)
}

func (r *epRank) Run(c engine.Case) (*workload.Part, error) {
	i := slices.IndexFunc(r.launch.Cases, func(o engine.Case) bool { return o.Key == c.Key })
	if i < 0 {
		return nil, fmt.Errorf("case %s is not of this launch", c.Key)
	}
	s := r.specs[i]
	e, free := r.describe(i)
	defer free()
	var out C.struct_weir_ep_result
	if err := r.each(func(_ int, t *C.struct_weir_rank, err *C.struct_weir_err) C.int {
		return C.weir_run_ep(t, e, &out, err)
	}); err != nil {
		return nil, err
	}
	p := &ep.Part{Part: r.facts(&out.all)}
	p.Events, p.Wall = float64(out.loop_events)/1e9, float64(out.loop_wall)/1e9
	p.Spent = ep.Spent{
		Post: float64(out.spent.post) / 1e9, Kernel: float64(out.spent.kernel) / 1e9,
		Launch: float64(out.spent.launch) / 1e9,
	}
	stamps := unsafe.Slice(out.times, int(s.Iterations)*C.EP_OPERATIONS)
	for i := 0; i < len(stamps); i += C.EP_OPERATIONS {
		p.Iterations = append(p.Iterations, iterationOf(s, stamps[i], stamps[i+1]))
	}
	waits := unsafe.Slice(out.waits, C.EP_OPERATIONS*r.launch.Ranks)
	for o, does := range []bool{s.Dispatches(), s.Combines()} {
		for source := 0; does && source < r.launch.Ranks; source++ {
			w := waits[o*r.launch.Ranks+source]
			p.Waits[o] = append(p.Waits[o], ep.Wait{
				Mean: float64(w.sum) / float64(s.Iterations) * 1e-9, Max: float64(w.max) * 1e-9,
			})
		}
	}
	return p.Encode(c.Key, r.launch.Index)
}

// iterationOf combines the two operations of an iteration.
func iterationOf(s *ep.Spec, d, c C.struct_weir_ep_times) ep.Iteration {
	if !s.Dispatches() {
		d = C.struct_weir_ep_times{start: c.start, end: c.start}
	}
	if !s.Combines() {
		c = C.struct_weir_ep_times{start: d.end, end: d.end}
	}
	return ep.Iteration{
		Start: int64(d.start), Turn: int64(d.end), End: int64(c.end),
		Quantise: int64(d.work), DispatchSend: int64(d.send), DispatchWait: int64(d.wait),
		Partial: int64(c.work), CombineSend: int64(c.send), CombineWait: int64(c.wait), Sum: int64(c.reduce),
	}
}

// facts returns the part of a result common to all workloads.
func (r *epRank) facts(out *C.struct_weir_result) *move.Part {
	p := &move.Part{
		Rank: r.self.Rank, Initiator: true, Verified: out.verified != 0,
		Transport:  C.GoString(&out.transport[0]),
		Transports: transports(C.GoString(&out.carriers[0]), r.self.Rank, true),
		Provider:   providerFacts(C.GoString(&out.carriers[0]), r.self.Rank, true),
		Libraries:  r.loadedLibraries(),
		Prep: move.Prep{
			Alloc: float64(out.alloc_s), Register: float64(out.register_s), Connect: float64(out.connect_s),
		},
		Memcpy: float64(out.memcpy_bps), Ceiling: float64(out.ceiling_bps), CeilingBest: float64(out.ceiling_best_bps),
		Usage: usage(out, false),
		Clock: move.Clock{
			Resolution: float64(out.resolution_ns) / 1e9, Cost: float64(out.clock_ns) / 1e9,
			Bound: float64(out.bound_ns) / 1e9,
		},
	}
	if p.GPU = C.GoString(&out.gpu[0]); p.GPU != "" {
		p.GPUCounters = gpuCounters(out)
	}
	if out.node >= 0 {
		p.MemoryNodes = []int{int(out.node)}
	}
	return p
}
