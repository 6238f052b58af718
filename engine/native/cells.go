package native

/*
#include "loop_role.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/weir-bench/weir/workload/move"
)

// cellFlow is a cell of a matrix that a rank initiates, with its offsets in the areas of both ends.
type cellFlow struct {
	peer                 int
	bytes, local, remote uint64
}

// cellSource is a cell that another rank initiates to this one.
type cellSource struct {
	peer          int
	bytes, offset uint64
}

// cells are one rank's view of a matrix in one direction, and what it must know of other ranks.
type cells struct {
	targets []cellFlow   // in the order of its requests
	own     cellFlow     // to itself
	sources []cellSource // ascending
	// by rank: the bytes of their areas, and the target of an initiator's largest cell, to which it probes
	// its path; -1: it initiates nothing
	local, exposed, largest []uint64
	probed                  []int
}

// layOut assigns each cell its offset: at the initiator in the order of its targets, at the target in the
// order of its sources, and after the cells of another matrix, if given. It needs one pass over the cells.
func layOut(o move.Spec, self int, behindThose *cells) *cells {
	n := int(o.Ranks)
	l := &cells{
		local: make([]uint64, n), exposed: make([]uint64, n), largest: make([]uint64, n),
		probed: slices.Repeat([]int{-1}, n),
	}
	if behindThose != nil {
		copy(l.local, behindThose.local)
		copy(l.exposed, behindThose.exposed)
	}
	at := l.local[self]
	for c := range o.Matrix.Cells() {
		initiator, target, bytes := c.From, c.To, uint64(c.Bytes)
		if o.Op == "read" {
			initiator, target = target, initiator
		}
		if initiator == self {
			l.targets = append(l.targets, cellFlow{peer: target, bytes: bytes, remote: l.exposed[target]})
		}
		if target == self {
			l.sources = append(l.sources, cellSource{peer: initiator, bytes: bytes, offset: l.exposed[target]})
		}
		l.exposed[target] += room(bytes)
		l.local[initiator] += room(bytes)
		if p := l.probed[initiator]; p < 0 || bytes > l.largest[initiator] ||
			bytes == l.largest[initiator] && distance(initiator, target, n) < distance(initiator, p, n) {
			l.probed[initiator], l.largest[initiator] = target, bytes
		}
	}
	l.layOutOwn(o, self)
	slices.SortFunc(l.targets, func(a, b cellFlow) int { return distance(self, a.peer, n) - distance(self, b.peer, n) })
	for i := range l.targets {
		l.targets[i].local = at
		at += room(l.targets[i].bytes)
	}
	return l
}

// layOutOwn assigns offsets to the cells of ranks to themselves, after all others.
func (l *cells) layOutOwn(o move.Spec, self int) {
	if o.Own == nil {
		return
	}
	for c := range o.Own.Cells() {
		if c.From == self {
			l.own = cellFlow{peer: self, bytes: uint64(c.Bytes), local: l.local[self], remote: l.exposed[self]}
		}
		l.local[c.From] += room(uint64(c.Bytes))
		l.exposed[c.From] += room(uint64(c.Bytes))
	}
}

// distance returns the distance from the first rank to the second, modulo ranks.
func distance(rank, other, ranks int) int { return (other - rank + ranks) % ranks }

// probe returns the size of a rank's ceiling probes: of one request of its largest cell.
func (l *cells) probe(rank int, shards int64) uint64 {
	s := uint64(max(1, shards))
	return max(1, (l.largest[rank]+s-1)/s)
}

// layOutCells prepares a launch of matrices. All cases of workload traffic have one matrix; ops, and with
// them the initiators, may differ. The patterns of a sequence have separate areas, so that the data of each
// stays until all are checked.
func (r *rank) layOutCells() error {
	first := r.options.Matrix
	byOp := map[string]int{}
	for _, c := range r.launch.Cases {
		o := c.Options
		switch m := o.Matrix; {
		case (m == nil) != (first == nil) || (o.Step == nil) != (r.options.Step == nil) || m != nil && o.Step == nil &&
			(m.Ranks() != first.Ranks() || m.NonZero() != first.NonZero() || m.Total() != first.Total()):
			return fmt.Errorf("cases %s and %s have different matrices: they need launches of their own",
				r.launch.Cases[0].Key, c.Key)
		case m != nil && (m.Ranks() != r.launch.Ranks || o.Ranks != int64(m.Ranks())):
			return fmt.Errorf("case %s: a matrix of %d ranks for a case of %d and a launch of %d", c.Key, m.Ranks(),
				o.Ranks, r.launch.Ranks)
		case m == nil:
			r.flows = append(r.flows, 0)
		case o.Step != nil:
			var last *cells
			if n := len(r.cells); n > 0 {
				last = r.cells[n-1]
			}
			r.flows = append(r.flows, len(r.cells))
			r.cells = append(r.cells, layOut(o, r.self.Rank, last))
		default:
			i, known := byOp[o.Op]
			if !known {
				i, byOp[o.Op] = len(r.cells), len(r.cells)
				r.cells = append(r.cells, layOut(o, r.self.Rank, nil))
			}
			r.flows = append(r.flows, i)
		}
	}
	return nil
}

// areas returns the bytes that a rank needs for its cells over all cases, and to probe.
func (r *rank) areas(rank int) (local, exposed, probe uint64) {
	for i, c := range r.launch.Cases {
		l := r.cells[r.flows[i]]
		local, exposed = max(local, l.local[rank]), max(exposed, l.exposed[rank])
		probe = max(probe, room(l.probe(rank, c.Options.Shards)))
	}
	return local, exposed, probe
}

// describeCells is describeFlows for matrices.
func (r *rank) describeCells(a *cArrays, cfg *C.struct_weir_config) {
	var all []C.struct_weir_flows
	for _, l := range r.cells {
		one := flowsOf(
			listOf(a, l.targets, func(t cellFlow) C.struct_weir_flow {
				return C.struct_weir_flow{
					peer: C.int(t.peer), bytes: C.uint64_t(t.bytes), local: C.uint64_t(t.local),
					remote: C.uint64_t(t.remote),
				}
			}),
			listOf(a, l.sources, func(s cellSource) C.struct_weir_incoming {
				return C.struct_weir_incoming{
					peer: C.int(s.peer), bytes: C.uint64_t(s.bytes), offset: C.uint64_t(s.offset),
				}
			}),
			cProbes(a, probesOf(r.launch.Ranks, r.self.Rank, func(i int) int { return l.probed[i] })))
		one.own = C.struct_weir_own_cell{
			bytes: C.uint64_t(l.own.bytes), from: C.uint64_t(l.own.local), to: C.uint64_t(l.own.remote),
		}
		all = append(all, one)
	}
	setFlows(a, cfg, all...)
}

// deliveries converts the cells of an initiator.
func deliveries(out *C.struct_weir_result) []move.Delivery {
	var list []move.Delivery
	for _, d := range unsafe.Slice(out.delivered, out.ndelivered) {
		if d.n > 0 {
			list = append(list, move.Delivery{
				Peer: int(d.peer), Iterations: uint64(d.n), Mean: float64(d.sum_ns) / float64(d.n) / 1e9,
			})
		}
	}
	return list
}

// spans converts the iterations of an initiator.
func spans(out *C.struct_weir_result) []move.Span {
	list := make([]move.Span, out.niterations)
	for i, s := range unsafe.Slice(out.iterations, out.niterations) {
		list[i] = move.Span{Start: int64(s.start), End: int64(s.end)}
	}
	return list
}
