package native

/*
#include <stdlib.h>
#include "loop_role.h"
#include "rank_team.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// member is this process as a rank of a launch, common to all workloads.
type member struct {
	threads []*C.struct_weir_rank
	team    *C.struct_weir_team // nil: single-threaded
	fabric  string
	self    engine.Identity
	control *engine.Control
	width   int    // threads
	seed    uint64 // of contents
	// libraries of the fabric that this process has loaded; nil: not read yet
	libraries []results.Library
	nodes     []string // of the ranks of the launch
}

func memberOf(l engine.Launch, self engine.Identity, control *engine.Control) member {
	return member{fabric: l.Fabric, self: self, control: control, width: 1, seed: l.Seed, nodes: l.Nodes}
}

// config describes this rank with its memory for the C side, with texts of a.
func (m *member) config(a *cArrays, o move.Spec, options fabric.Options, l layout) (C.struct_weir_config, error) {
	lines, err := fabric.Lines(m.fabric, options)
	return C.struct_weir_config{
		fabric: a.text(m.fabric), rank: C.int(m.self.Rank), ranks: C.int(len(m.nodes)), one_host: oneHost(m.nodes),
		source: kind(o, o.Initiator), sink: kind(o, o.Target), options: a.text(lines),
		layout: C.struct_weir_layout{
			source: C.uint64_t(l.source), sink: C.uint64_t(l.sink), first: C.uint64_t(l.first),
			probe: C.uint64_t(l.probe), used: C.uint64_t(l.used),
		},
		pages: pages[o.Pages], numa: numa(o.Placement()), in_flight: 1, batch: 1, share: 1,
		gpu: C.uint(indexOnHost(m.nodes, m.self.Rank)),
	}, err
}

// checkRoom checks that this node has memory for its ranks with each bytes; what names what they have.
func (m *member) checkRoom(o move.Spec, what string, each uint64) error {
	on := 0
	for _, n := range m.nodes {
		if n == m.nodes[m.self.Rank] {
			on++
		}
	}
	return m.checkFree(o, fmt.Sprintf("%d ranks with their %s need", on, what), float64(on)*float64(each))
}

// connections are the transport and its parts by which the fabric is connected, and the facts of its provider.
func (m *member) connections() (transport string, all []results.Transport, provider []results.ProviderFact) {
	var name [C.WEIR_TEXT]C.char
	var carriers [C.WEIR_CARRIERS]C.char
	C.weir_describe(m.threads[0], &name[0], &carriers[0])
	list := C.GoString(&carriers[0])
	return C.GoString(&name[0]), transports(list, m.self.Rank, true), providerFacts(list, m.self.Rank, true)
}

func (m *member) error(thread int, e *C.struct_weir_err) error {
	text := C.GoString(&e.text[0])
	if m.width > 1 {
		text = fmt.Sprintf("thread %d: %s", thread, text)
	}
	return &engine.Error{
		Fabric: m.fabric, Op: C.GoString(&e.op[0]), Phase: engine.PhaseName(uint32(e.phase)), Peer: int(e.peer),
		Code: int(e.code), Text: text,
	}
}

// firstCause combines the errors of a call on all threads: it returns the first one that is not caused
// by the failure of another thread.
func (m *member) firstCause(rcs []C.int, errs []C.struct_weir_err) error {
	found := -1
	for i, rc := range rcs {
		if rc != 0 && (found < 0 || errs[found].code == -C.int(syscall.ECANCELED) && errs[i].code != errs[found].code) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return m.error(found, &errs[found])
}

// each calls a function for each thread of the rank concurrently, because threads may wait for each other.
func (m *member) each(f func(i int, c *C.struct_weir_rank, e *C.struct_weir_err) C.int) error {
	rcs, errs := make([]C.int, len(m.threads)), make([]C.struct_weir_err, len(m.threads))
	var wg sync.WaitGroup
	for i, c := range m.threads[1:] {
		wg.Go(func() { rcs[i+1] = f(i+1, c, &errs[i+1]) })
	}
	rcs[0] = f(0, m.threads[0], &errs[0])
	wg.Wait()
	return m.firstCause(rcs, errs)
}

// openThreads opens each thread as a rank of its own: they share only the barriers. Their contents differ, so
// that data moved by another thread is not taken for this one's.
func (m *member) openThreads(cfg C.struct_weir_config) error {
	n := m.width
	first := (*C.struct_weir_control)(unsafe.Pointer(m.control)) // mapped memory, not Go's
	cfg.control = first
	if n > 1 {
		if m.team = C.team_new(C.int(n), first); m.team == nil {
			return fmt.Errorf("no memory for %d threads", n)
		}
		cfg.team = m.team
	}
	for i := range n {
		cfg.thread, cfg.cpu = C.int(i), -1
		if i < len(m.self.CPUs) {
			cfg.cpu = C.int(m.self.CPUs[i])
		}
		if n > 1 {
			cfg.control = C.team_control(m.team, C.int(i))
		}
		cfg.seed = C.uint64_t(m.seed + uint64(i)*0x9e3779b97f4a7c15)
		var c *C.struct_weir_rank
		var e C.struct_weir_err
		if C.weir_open(&cfg, &c, &e) != 0 {
			return m.error(i, &e)
		}
		m.threads = append(m.threads, c)
	}
	return nil
}

// address returns the addresses of all threads, each with its length.
func (m *member) address() ([]byte, error) {
	buf := C.malloc(addressSize)
	if buf == nil {
		return nil, fmt.Errorf("no memory for an address")
	}
	defer C.free(buf)
	var all []byte
	for i, c := range m.threads {
		var n C.size_t
		var e C.struct_weir_err
		if C.weir_address(c, buf, addressSize, &n, &e) != 0 {
			return nil, m.error(i, &e)
		}
		all = binary.LittleEndian.AppendUint32(all, uint32(n))
		all = append(all, C.GoBytes(buf, C.int(n))...)
	}
	return all, nil
}

// split separates a peer's addresses.
func (m *member) split(peer int, all []byte) ([][]byte, error) {
	var list [][]byte
	for len(all) >= 4 {
		n := uint64(binary.LittleEndian.Uint32(all))
		if n > uint64(len(all)-4) {
			break
		}
		list, all = append(list, all[4:4+n]), all[4+n:]
	}
	if len(all) > 0 || len(list) != len(m.threads) {
		return nil, &engine.Error{Fabric: m.fabric, Op: "connect", Phase: "connect", Peer: peer,
			Code: -int(syscall.EPROTO),
			Text: fmt.Sprintf("its address is not one of %d threads", len(m.threads))}
	}
	return list, nil
}

// connect connects each thread with the same thread of the other ranks: blobs are by rank and thread.
func (m *member) connect(blobs [][][]byte) error {
	return m.each(func(i int, c *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		var all []byte
		lens := make([]C.size_t, len(blobs))
		for peer, list := range blobs {
			all = append(all, list[i]...)
			lens[peer] = C.size_t(len(list[i]))
		}
		p := C.CBytes(all)
		defer C.free(p)
		return C.weir_connect(c, p, &lens[0], C.int64_t(connectTimeout), e)
	})
}

func (m *member) Close() error {
	if err := m.each(func(_ int, c *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_close(c, C.int64_t(closeTimeout), e)
	}); err != nil {
		return err
	}
	C.team_free(m.team)
	m.threads, m.team = nil, nil
	return nil
}

// run runs a case in all threads.
func (r *rank) run(c task, cc C.struct_weir_case) (*move.Part, error) {
	out := make([]C.struct_weir_result, len(r.threads))
	if err := r.each(func(i int, t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		mine := cc
		if i != r.corruptThread {
			mine.corrupt = -1
		}
		return C.weir_run(t, &mine, &out[i], e)
	}); err != nil {
		return nil, err
	}
	threads := make([]*move.Part, len(out))
	for i := range out {
		threads[i] = r.result(c, &out[i])
	}
	all := move.Together(threads)
	all.Walk = r.walk(c.Options)
	if s := all.Samples; s != nil && s.End > s.Start { // each thread has written its own
		r.control.Rate.Store(uint64(float64(s.Bytes) / float64(s.End-s.Start) * 1e9))
	}
	return all, nil
}
