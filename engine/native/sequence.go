package native

/*
#include "loop_role.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/weir-bench/weir/workload/move"
)

// played has the measurements of the sequence formed by the cases of a launch: for each case each iteration,
// and when those began.
type played struct {
	steps [][]move.Played
	began []int64
}

func (p *played) of(index int) (steps []move.Played, began []int64) {
	return p.steps[index], p.began
}

// play runs the sequence, and each of its patterns alone, when the first of them is run: all ranks run the
// cases of a launch in one order. Only the ceilings are left for each case.
func (r *rank) play(timeout int64) error {
	a := &cArrays{}
	defer a.free()
	steps := newList[C.struct_weir_step](a, len(r.launch.Cases))
	first := r.options.Step
	for i, c := range r.launch.Cases {
		o := c.Options
		ranks := o.Members()
		steps[i] = C.struct_weir_step{
			flows: C.int(r.flows[i]), op: ops[o.Op], shards: C.uint64_t(o.Shards), before: C.int64_t(o.Step.Before),
			after: C.int64_t(o.Step.After), alone_before: C.int64_t(move.SleepAlone(o.Step.Before)),
			alone_after: C.int64_t(move.SleepAlone(o.Step.After)),
		}
		if slices.Contains(ranks, r.self.Rank) {
			members := listOf(a, ranks, func(m int) C.int { return C.int(m) })
			steps[i].members, steps[i].nmembers = unsafe.SliceData(members), C.int(len(ranks))
		}
	}
	// it points to the steps, which no Go value may do while C has it
	s := newList[C.struct_weir_sequence](a, 1)
	s[0] = C.struct_weir_sequence{
		steps: unsafe.SliceData(steps), n: C.int(len(steps)), iterations: C.uint64_t(first.Iterations),
		warmup: C.uint64_t(first.Warmup),
		alone:  C.uint64_t(r.options.Iterations), alone_warmup: C.uint64_t(r.options.Warmup),
		timeout: C.int64_t(timeout), verify: verifies[r.options.Verify], corrupt: C.int64_t(r.corrupt),
		corrupt_timed: r.timed,
	}
	var out C.struct_weir_play_result
	var cerr C.struct_weir_err
	if C.weir_play(r.threads[0], &s[0], &out, &cerr) != 0 {
		return r.error(0, &cerr)
	}
	r.played = &played{steps: make([][]move.Played, len(steps))}
	all := unsafe.Slice(out.steps, len(steps)*int(first.Iterations))
	for k := range int(first.Iterations) {
		for i := range steps {
			p := all[k*len(steps)+i]
			r.played.steps[i] = append(r.played.steps[i], move.Played{
				Agreed: int64(p.at), Start: int64(p.start), End: int64(p.end),
			})
		}
	}
	for _, at := range unsafe.Slice(out.starts, int(first.Iterations)) {
		r.played.began = append(r.played.began, int64(at))
	}
	return nil
}
