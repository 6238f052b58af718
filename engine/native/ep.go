package native

/*
#include "ep.h"
*/
import "C"

import (
	"bytes"
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
	for i, s := range r.specs {
		if text := os.Getenv(CorruptEnv); text != "" && s.Verify == "none" {
			return nil, fmt.Errorf("%s is %q, but case %s verifies nothing", CorruptEnv, text, l.Cases[i].Key)
		}
	}
	// counted over messages, counts, rows and sums
	r.corrupt, r.timed, err = corruptOf(l.Ranks, self.Rank,
		func(rank int) int64 { return s.LayOut(t, rank).Received() })
	if err != nil {
		return nil, err
	}
	return r, r.open(s.Moves(), s.Moves().FabricOptions.With(l.Options))
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
	rows := 2 * uint64(len(r.layout.Table.Experts[r.self.Rank])/r.layout.Table.TopK) * uint64(r.specs[0].Hidden) * 2
	if err := r.checkRoom(o, "messages and rows", regions.source+regions.sink+rows); err != nil {
		return err
	}
	a := &cArrays{}
	defer a.free()
	cfg, err := r.config(a, o, options, regions)
	if err != nil {
		return err
	}
	r.describeProbes(a, &cfg)
	return r.openThreads(cfg)
}

// describeProbes sets the probed paths of the C side: from each rank to the peer that it sends most.
func (r *epRank) describeProbes(a *cArrays, cfg *C.struct_weir_config) {
	self := r.self.Rank
	flows := newList[C.struct_weir_flow](a, 1)
	flows[0] = C.struct_weir_flow{peer: C.int(r.targets[self]), bytes: C.uint64_t(r.probes[self])}
	var from []int
	for i, to := range r.targets {
		if to == self {
			from = append(from, i)
		}
	}
	sources := listOf(a, from, func(i int) C.struct_weir_incoming {
		return C.struct_weir_incoming{peer: C.int(i), bytes: C.uint64_t(r.probes[i])}
	})
	probes := cProbes(a, probesOf(r.launch.Ranks, self, func(i int) int { return r.targets[i] }))
	setFlows(a, cfg, flowsOf(flows, sources, probes))
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
	digest := r.layout.Table.Digest()
	return r.connectTo(addresses, func(peer int, address []byte) ([]byte, error) {
		if rest, same := bytes.CutPrefix(address, []byte(digest)); same {
			return rest, nil
		}
		return nil, &engine.Error{
			Fabric: r.fabric, Op: "connect", Phase: "connect", Peer: peer, Code: -71,
			Text: "its routes differ: it runs another version of weir",
		}
	})
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
	p := &ep.Part{Part: r.partOf(&out.all, true, false)}
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
