package native

/*
#include "ep.h"
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/elastic"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/epelastic"
)

// elasticMemory is the memory of a rank, connected to the ranks of its group. It is allocated once, for the
// largest group of the run.
type elasticMemory struct {
	member
	launch     engine.Launch
	spec       *epelastic.Spec
	layouts    map[string]*ep.Layout // by group
	signals    uint64                // offset of the signals between kernels in a sink
	options    fabric.Options
	timeout    time.Duration
	corrupt    int64
	survives   bool
	transport  string
	transports []results.Transport
	provider   []results.ProviderFact
	free       func() // frees the C lists of the group

	mu sync.Mutex // guards threads, which BreakOff uses
}

func newElasticMemory(l engine.Launch, self engine.Identity, control *engine.Control,
	s *epelastic.Spec) (*elasticMemory, error) {
	m := &elasticMemory{
		member: memberOf(l, self, control), launch: l, spec: s, layouts: map[string]*ep.Layout{},
		options: s.Moves().FabricOptions.With(l.Options), free: func() {},
	}
	for _, group := range s.Groups() {
		t, err := s.Table(group)
		if err != nil {
			return nil, err
		}
		m.layouts[fmt.Sprint(group)] = s.Steps(group).LayOut(t, self.Rank)
	}
	var err error
	m.corrupt, _, err = corruptOf(l.Ranks, self.Rank, func(int) int64 { return math.MaxInt64 })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Open allocates and registers the memory.
func (m *elasticMemory) Open() (gpu string, err error) {
	source, sink := uint64(0), uint64(0)
	for _, l := range m.layouts {
		source, sink = max(source, uint64(l.Source)), max(sink, uint64(l.Sink()))
	}
	used, o := sink, m.spec.Moves()
	if m.spec.VRAM() { // a GPU reports a lack of memory itself
		m.signals = area(sink)
		sink = m.signals + signalBytes(m.layouts)
	} else if err := m.checkRoom(o, "messages and rows", source+2*sink); err != nil {
		return "", err
	}
	a := &cArrays{}
	defer a.free()
	cfg, err := m.config(a, o, m.options, layout{source: area(source), sink: area(sink), used: used})
	if err != nil {
		return "", err
	}
	cfg.ranks, cfg.peers_may_fail = max(2, cfg.ranks), cBool(m.spec.Phases.Lose())
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.openThreads(cfg); err != nil {
		return "", err
	}
	return C.GoString(&C.weir_lifecycle_of(m.threads[0]).gpu[0]), nil
}

// signalBytes returns the bytes of the signals between kernels, for the largest group.
func signalBytes(layouts map[string]*ep.Layout) (most uint64) {
	for _, l := range layouts {
		t := l.Table
		most = max(most, uint64(C.weir_ep_signal_bytes(C.int(t.Ranks), C.int(t.All()), C.int(slices.Max(t.Tokens)))))
	}
	return most
}

// call calls a function for the rank.
func (m *elasticMemory) call(f func(t *C.struct_weir_rank, e *C.struct_weir_err) C.int) error {
	return m.each(func(_ int, t *C.struct_weir_rank, e *C.struct_weir_err) C.int { return f(t, e) })
}

func (m *elasticMemory) Address() ([]byte, error) {
	if err := m.call(func(t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_forget_peers(t, e)
	}); err != nil {
		return nil, err
	}
	mine, err := m.address()
	return sealAddress(mine), err
}

func (m *elasticMemory) Connect(addresses [][]byte) error {
	blobs := make([][][]byte, max(2, len(addresses)))
	for i := range blobs {
		blobs[i] = [][]byte{nil}
	}
	for i, a := range addresses {
		if len(a) == 0 {
			continue
		}
		all, err := m.openAddress(i, a)
		if err == nil {
			blobs[i], err = m.split(i, all)
		}
		if err != nil {
			return err
		}
	}
	if err := m.connect(blobs); err != nil {
		return err
	}
	m.describe()
	return nil
}

// describe records the fabric's description of its connections.
func (m *elasticMemory) describe() {
	if transport, all, provider := m.connections(); transport != "" {
		m.transport, m.transports, m.provider = transport, all, provider
		m.loadedLibraries()
	}
}

func (m *elasticMemory) Prepare(group []int, contents int) error {
	l := m.layouts[fmt.Sprint(group)]
	if l == nil {
		return fmt.Errorf("there is no group %v in any phase", group)
	}
	a := &cArrays{}
	e := describeEP(a, m.spec.Steps(group), l, m.self.Rank)
	e.signals = C.uint64_t(m.signals)
	e.of = C.struct_weir_case{
		index: C.uint32_t(contents), op: C.OP_WRITE, mode: C.MODE_MATRIX, verify: C.VERIFY_FULL,
		iterations: C.uint64_t(m.spec.Iterations), timeout: C.int64_t(m.timeout), corrupt: -1,
	}
	err := m.call(func(t *C.struct_weir_rank, err *C.struct_weir_err) C.int { return C.weir_ep_prepare(t, e, err) })
	m.free()
	m.free = a.free
	return err
}

var elasticEnds = map[string]C.int{
	epelastic.InDispatch: C.EP_DISPATCH, epelastic.InCombine: C.EP_COMBINE, epelastic.Idle: C.EP_OPERATIONS,
}

func (m *elasticMemory) Steps(s elastic.Steps) (elastic.Stepped, error) {
	order := C.struct_weir_ep_steps{
		n: C.uint64_t(s.N), end_at: C.uint64_t(s.N), silence: C.int64_t(m.spec.Silence), timeout: C.int64_t(m.timeout),
		corrupt: C.int64_t(m.corrupt), killed: cBool(s.Dies),
	}
	m.corrupt = -1
	if s.EndIn != "" && !m.survives {
		order.end_at, order.end_in = C.uint64_t(s.EndAt), elasticEnds[s.EndIn]
	}
	var out C.struct_weir_ep_steps_result
	err := m.call(func(t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_ep_steps(t, &order, &out, e)
	})
	did := elastic.Stepped{Wrong: int64(out.wrong), Mute: out.silenced != 0, Stopped: int64(out.stopped)}
	if out.wrong > 0 {
		did.WrongAt = C.GoString(&out.first.text[0])
	}
	stamps := unsafe.Slice(out.times, int(out.done)*C.EP_OPERATIONS)
	for i := 0; i < len(stamps); i += C.EP_OPERATIONS {
		did.Steps = append(did.Steps, epelastic.Step{
			Start: int64(stamps[i].start), Turn: int64(stamps[i].end), End: int64(stamps[i+1].end),
		})
	}
	if err != nil && out.missing != nil {
		for r, missing := range unsafe.Slice(out.missing, m.launch.Ranks) {
			if missing != 0 {
				did.Missing = append(did.Missing, r)
			}
		}
	}
	return did, err
}

// BreakOff ends Steps.
func (m *elasticMemory) BreakOff() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.threads {
		C.weir_interrupt(t)
	}
}

func (m *elasticMemory) Disconnect(abandon bool) error {
	return m.call(func(t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		if abandon || m.leavesAlone() {
			return C.weir_abandon(t, C.int64_t(closeTimeout), e)
		}
		return C.weir_disconnect(t, C.int64_t(closeTimeout), e)
	})
}

// leavesAlone returns whether a rank that leaves in order waits for no peer: over UCX, a peer that has left
// no longer replies; over libfabric and NIXL, recreated endpoints do not. All ranks have finished their steps
// then, so nothing is in flight.
func (m *elasticMemory) leavesAlone() bool {
	return m.fabric == "ucx" || m.spec.Phases.Lose() && (m.fabric == "libfabric" || m.fabric == "nixl")
}

// Die ends this process by SIGKILL.
func (m *elasticMemory) Die() {
	if m.survives {
		return
	}
	m.control.Ending.Store(elastic.Now())
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (m *elasticMemory) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var l C.struct_weir_lifecycle
	for _, t := range m.threads {
		var e C.struct_weir_err
		if C.weir_destroy(t, C.int64_t(closeTimeout), &l, &e) != 0 {
			return m.error(0, &e)
		}
	}
	m.threads = nil
	m.free()
	return nil
}
