package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weir-bench/weir/engine"
)

// stepping is an order to make steps in progress.
type stepping struct {
	*Leader
	ends     map[int]Steps // of the ranks that end in it
	answered map[int]answer
	lost     []int
	// first is when ranks were asked whether they are alive, and asked when they were last checked since.
	first, asked time.Time // zero: never
}

// steps makes the group make steps, and returns the lost ranks. Ranks of ends end in them.
func (l *Leader) steps(ctx context.Context, n int, ends map[int]Steps) (lost []int, err error) {
	s := &stepping{Leader: l, ends: ends, answered: map[int]answer{}}
	l.number++
	for _, r := range l.group {
		o := order{Do: doSteps, Group: len(l.led.Changes) - 1, Steps: Steps{N: n}}
		if end, ends := ends[r]; ends {
			o.Steps = end
		}
		if err := l.send([]int{r}, o); err != nil && !s.dies(r) {
			return nil, err
		}
	}
	for !s.over() {
		if err := s.note(); err != nil {
			return nil, err
		}
		if err := s.findSilent(); err != nil {
			return nil, err
		}
		if s.over() {
			break
		}
		if err := s.wait(ctx); err != nil {
			return nil, l.timedOut(ctx, err, l.group, slices.Concat(s.lost, slices.Collect(maps.Keys(s.answered))),
				"make their steps")
		}
	}
	return s.lost, s.check()
}

func (s *stepping) dies(rank int) bool { return s.ends[rank].Dies }

// over reports whether all ranks have answered or are lost.
func (s *stepping) over() bool {
	return !slices.ContainsFunc(s.group, func(r int) bool {
		_, answered := s.answered[r]
		return !answered && !slices.Contains(s.lost, r)
	})
}

// wait waits for an event, or until ranks that were asked whether they are alive are overdue.
func (s *stepping) wait(ctx context.Context) error {
	if !s.asked.IsZero() {
		var cancel context.CancelFunc
		inner, cancel := context.WithDeadline(ctx, s.asked.Add(s.grace()))
		defer cancel()
		if err := s.events.wait(inner); err != nil && ctx.Err() != nil {
			return err
		}
		return nil
	}
	return s.events.wait(ctx)
}

// note handles the answers of ranks, and the end of processes.
func (s *stepping) note() error {
	for _, e := range s.events.takeAnswers(func(r int) bool { return slices.Contains(s.group, r) }) {
		var a answer
		if err := json.Unmarshal(e.text, &a); err != nil || a.Number != s.number {
			return s.fail("rank %d answers another order: %q", e.spoke.Rank, e.text)
		}
		if end, ends := s.ends[e.spoke.Rank]; ends {
			what := "muted"
			if end.Dies {
				what = "killed"
			}
			return s.fail("rank %d should have been %s in a step (%s), but is still there after it", e.spoke.Rank, what,
				end.EndIn)
		}
		s.answered[e.spoke.Rank] = a
		if len(a.Missing) > 0 && s.asked.IsZero() {
			s.requestLiveness()
			s.tellAll(order{Do: doBreakOff})
		}
	}
	for {
		err := s.handleChanges()
		if err == nil {
			return nil
		}
		e, isGone := errors.AsType[*engine.Error](err)
		if !isGone || !s.dies(e.Peer) {
			return err
		}
		s.lose(e.Peer)
	}
}

// requestLiveness asks all ranks to report that they are alive.
func (s *stepping) requestLiveness() {
	if s.first.IsZero() {
		s.first = time.Now()
		s.asked = s.first
	}
}

// alive returns the ranks of the group that are not lost.
func (s *stepping) alive() (list []int) {
	for _, r := range s.group {
		if !slices.Contains(s.lost, r) && s.spokes[r] != nil {
			list = append(list, r)
		}
	}
	return list
}

// tellAll sends an order to all ranks that are not lost. A failure is handled later and does not affect other ranks.
func (s *stepping) tellAll(o order) {
	for _, r := range s.alive() {
		_ = s.send([]int{r}, o)
	}
}

// lose tells all others that a rank is lost.
func (s *stepping) lose(ranks ...int) {
	s.lost = append(s.lost, ranks...)
	s.requestLiveness()
	s.tellAll(order{Do: doMask, Ranks: ranks})
}

// findSilent finds the ranks that stopped responding, after one was missed: those that do not even report that they are
// alive.
func (s *stepping) findSilent() error {
	if s.asked.IsZero() || time.Since(s.asked) < s.grace() {
		return nil
	}
	var silent []int
	for _, r := range s.group {
		if _, answered := s.answered[r]; !answered && !slices.Contains(s.lost, r) {
			silent = append(silent, r)
		}
	}
	s.asked = time.Now()
	patient := s.asked.Sub(s.first) < patience*s.grace()
	var mute []int
	for _, r := range silent {
		_, ends := s.ends[r]
		switch {
		case ends && !s.dies(r):
			mute = append(mute, r)
		case patient: // a busy machine may delay its answer
		case ends:
			return s.fail("rank %d should have been killed, but is silent and still there", r)
		default:
			return s.fail("rank %d stopped responding, which its phase does not specify (%s)", r, s.why())
		}
	}
	if len(mute) > 0 {
		s.lose(mute...)
	}
	return nil
}

// patience multiplies the time after which a rank that should respond counts as silent.
const patience = 10

// why returns the reason of a rank that missed others.
func (s *stepping) why() string {
	for _, r := range slices.Sorted(maps.Keys(s.answered)) {
		if a := s.answered[r]; a.Why != "" {
			return a.Why
		}
	}
	return "no rank has a reason"
}

// check checks how the steps ended.
func (s *stepping) check() error {
	for _, r := range s.group {
		if _, ends := s.ends[r]; ends && !slices.Contains(s.lost, r) {
			return s.fail("rank %d should have ended, but did not", r)
		}
		if s.answered[r].Broken && len(s.lost) == 0 {
			return s.fail("a step of rank %d was aborted, but no rank is lost: %s", r, s.why())
		}
	}
	return nil
}
