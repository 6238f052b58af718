package native

/*
#include "ep.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/weir-bench/weir/workload/ep"
)

// describe converts a case to C. The lists are valid until free is called.
func (r *epRank) describe(index int) (e *C.struct_weir_ep, free func()) {
	s, l := r.specs[index], r.layout
	a := &cArrays{}
	probe := C.uint64_t(r.probes[r.self.Rank])
	e = describeEP(a, s, l, r.self.Rank)
	e.signals = C.uint64_t(r.signals)
	e.threads = C.int(s.Threads)
	if len(r.self.CPUs) >= int(s.Threads) {
		e.cpus = unsafe.SliceData(listOf(a, r.self.CPUs, func(cpu int) C.int { return C.int(cpu) }))
	}
	e.of = C.struct_weir_case{
		index: C.uint32_t(index), op: C.OP_WRITE, mode: C.MODE_MATRIX, verify: verifies[s.Verify], block: probe,
		batch: 1, slots: 1, stride: C.uint64_t(room(uint64(probe))),
		shards: 1, stamp_every: 1, iterations: C.uint64_t(s.Iterations), warmup: C.uint64_t(s.Warmup), in_flight: 1,
		timeout: C.int64_t(r.launch.Cases[index].Timeout),
		corrupt: C.int64_t(r.corrupt), corrupt_timed: r.timed,
	}
	return e, a.free
}

// describeEP converts what a rank sends and receives, in lists of a.
func describeEP(a *cArrays, s *ep.Spec, l *ep.Layout, self int) *C.struct_weir_ep {
	t := l.Table
	e := &newList[C.struct_weir_ep](a, 1)[0]
	*e = C.struct_weir_ep{
		operations: cBool(s.Dispatches())<<C.EP_DISPATCH | cBool(s.Combines())<<C.EP_COMBINE,
		layout:     epLayouts[s.Layout], fp8: cBool(s.DispatchDtype == "fp8"), scales: epScales[s.Scales],
		before: cBool(s.Quantise == "before"), aligned: cBool(s.Timing == "aligned"),
		launch: epLaunches[s.KernelLaunch], flushed: cBool(s.Caches == "flushed"), posted: cBool(s.Posts()),
		channels: C.int(s.Hidden), top_k: C.int(t.TopK), tokens: C.int(t.Tokens[self]), row: C.uint64_t(s.RowBytes()),
		message:  C.uint64_t(s.MessageBytes()),
		per_rank: C.int(t.PerRank), received: C.uint64_t(l.Received()), message_stride: C.uint64_t(s.MessageRoom()),
		count_stride: C.uint64_t(s.CountBytes()), most_tokens: C.int(slices.Max(t.Tokens)),
	}
	if t.Absent != nil {
		places := newList[C.int](a, t.Ranks)
		for rank := range places {
			if places[rank] = e.members; t.Member(rank) {
				e.members++
			}
		}
		e.places = unsafe.SliceData(places)
	}
	experts, weights := newList[*C.int32_t](a, t.Ranks), newList[*C.float](a, t.Ranks)
	for rank := range t.Ranks {
		list, shares := newList[C.int32_t](a, len(t.Experts[rank])), newList[C.float](a, len(t.Experts[rank]))
		for i, expert := range t.Experts[rank] {
			list[i], shares[i] = C.int32_t(expert), C.float(t.Weights[rank][i])
		}
		experts[rank], weights[rank] = unsafe.SliceData(list), unsafe.SliceData(shares)
	}
	e.experts, e.weights = unsafe.SliceData(experts), unsafe.SliceData(weights)
	e.counts = unsafe.SliceData(listOf(a, l.Counts, func(n uint32) C.uint32_t { return C.uint32_t(n) }))
	offset := func(n int64) C.uint64_t { return C.uint64_t(n) }
	e.counts_from, e.counts_at = unsafe.SliceData(listOf(a, l.From, offset)), unsafe.SliceData(listOf(a, l.At, offset))
	for i, p := range l.Parts {
		puts := listOf(a, p.Puts, func(p ep.Put) C.struct_weir_ep_put {
			return C.struct_weir_ep_put{
				peer: C.int(p.Peer), ready: C.uint32_t(p.Ready), bytes: C.uint64_t(p.Bytes), local: C.uint64_t(p.Local),
				remote: C.uint64_t(p.Remote),
			}
		})
		e.parts[i] = C.struct_weir_ep_part{
			puts: unsafe.SliceData(puts), nputs: C.uint32_t(len(puts)), steps: C.uint32_t(p.Steps),
			sink: C.uint64_t(p.Sink), half: C.uint64_t(p.Half),
		}
	}
	e.copies = unsafe.SliceData(listOf(a, l.Copies, func(c ep.Copy) C.struct_weir_ep_copy {
		return C.struct_weir_ep_copy{token: C.uint32_t(c.Token), at: C.uint64_t(c.At)}
	}))
	place := func(p ep.Place) C.struct_weir_ep_place {
		return C.struct_weir_ep_place{
			rank: C.int(p.Rank), token: C.uint32_t(p.Token), k: C.uint32_t(p.K), at: C.uint64_t(p.At),
		}
	}
	e.ncopies = C.uint32_t(len(l.Copies))
	e.messages, e.nmessages = unsafe.SliceData(listOf(a, l.Come, place)), C.uint32_t(len(l.Come))
	e.made, e.nmade = unsafe.SliceData(listOf(a, l.Made, place)), C.uint32_t(len(l.Made))
	e.incoming, e.nincoming = unsafe.SliceData(listOf(a, l.Back, place)), C.uint32_t(len(l.Back))
	e.partial, e.total = sumsOf(a, l.Sums[0]), sumsOf(a, l.Sums[1])
	return e
}

var (
	epLaunches = map[string]C.int{
		"each": C.EP_EACH, "dependent": C.EP_DEPENDENT, "graph": C.EP_GRAPH,
		"graph_dependent": C.EP_GRAPH | C.EP_DEPENDENT,
	}
	epLayouts = map[string]C.int{"message": C.EP_MESSAGE, "rank": C.EP_RANK, "packed": C.EP_PACKED}
	epScales  = map[string]C.int{"f32": C.SCALES_F32, "pow2": C.SCALES_POW2, "ue8m0": C.SCALES_UE8M0}
)

func sumsOf(a *cArrays, s ep.Sums) C.struct_weir_ep_sums {
	list := listOf(a, s.List, func(s ep.Sum) C.struct_weir_ep_sum {
		return C.struct_weir_ep_sum{to: C.uint64_t(s.To), first: C.uint32_t(s.First), n: C.uint32_t(s.N)}
	})
	terms := listOf(a, s.Terms, func(t ep.Term) C.struct_weir_ep_term {
		return C.struct_weir_ep_term{at: C.uint64_t(t.At), weight: C.float(t.Weight)}
	})
	return C.struct_weir_ep_sums{list: unsafe.SliceData(list), n: C.uint32_t(len(list)), terms: unsafe.SliceData(terms)}
}
