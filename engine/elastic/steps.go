package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"weir/engine"
)

// stepping is an order to make steps under way.
type stepping struct {
	*Leader
	ends     map[int]Steps // of the ranks that end in it
	answered map[int]answer
	lost     []int
	// first is when they were asked whether they are there, and asked when they were looked at since
	first, asked time.Time // zero: nobody was asked
}

// steps has the group make steps. Ranks of ends end in them: those are the ones that come back.
func (l *Leader) steps(ctx context.Context, n int, ends map[int]Steps) (lost []int, err error) {
	s := &stepping{Leader: l, ends: ends, answered: map[int]answer{}}
	l.number++
	for _, r := range l.group {
		o := order{Do: doSteps, Group: len(l.led.Changes) - 1, Steps: Steps{N: n}}
		if end, ends := ends[r]; ends {
			o.Steps = end
		}
		if err := l.tell([]int{r}, o); err != nil && !s.dies(r) {
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
			return nil, l.late(ctx, err, l.group, slices.Concat(s.lost, slices.Collect(maps.Keys(s.answered))),
				"make their steps")
		}
	}
	return s.lost, s.judge()
}

func (s *stepping) dies(rank int) bool { return s.ends[rank].Dies }

// over says whether all have answered or are lost.
func (s *stepping) over() bool {
	return !slices.ContainsFunc(s.group, func(r int) bool {
		_, answered := s.answered[r]
		return !answered && !slices.Contains(s.lost, r)
	})
}

// wait waits until something comes, or ranks that were asked whether they are there are overdue.
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

// note takes what ranks have said, and who has gone.
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
			return s.fail("rank %d was to be %s in a step (%s), and is still there after it", e.spoke.Rank, what,
				end.EndIn)
		}
		s.answered[e.spoke.Rank] = a
		if len(a.Missing) > 0 && s.asked.IsZero() {
			s.mind()
			s.tellAll(order{Do: doBreakOff})
		}
	}
	for {
		err := s.heed()
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

// mind notes that all are to say now that they are there.
func (s *stepping) mind() {
	if s.first.IsZero() {
		s.first = time.Now()
		s.asked = s.first
	}
}

// there are the ranks of the group that are not lost.
func (s *stepping) there() (list []int) {
	for _, r := range s.group {
		if !slices.Contains(s.lost, r) && s.spokes[r] != nil {
			list = append(list, r)
		}
	}
	return list
}

// tellAll tells each rank that is there. One may have gone: that is heeded, and keeps it from no other.
func (s *stepping) tellAll(o order) {
	for _, r := range s.there() {
		_ = s.tell([]int{r}, o)
	}
}

// lose tells all others that a rank is lost.
func (s *stepping) lose(ranks ...int) {
	s.lost = append(s.lost, ranks...)
	s.mind()
	s.tellAll(order{Do: doMask, Ranks: ranks})
}

// findSilent finds the ranks that say nothing any more, once one has been missed: those that do not
// even say that they are there.
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
		case patient: // a busy machine may keep it from answering
		case ends:
			return s.fail("rank %d was to be killed, and is silent but not gone", r)
		default:
			return s.fail("rank %d says nothing any more, which its phase does not say (%s)", r, s.why())
		}
	}
	if len(mute) > 0 {
		s.lose(mute...)
	}
	return nil
}

// patience is how many times as long a rank may say nothing that the phase does not mute.
const patience = 10

// why is what one of the ranks says of those that it missed.
func (s *stepping) why() string {
	for _, r := range slices.Sorted(maps.Keys(s.answered)) {
		if a := s.answered[r]; a.Why != "" {
			return a.Why
		}
	}
	return "no rank says why"
}

// judge says what is wrong with how the steps ended.
func (s *stepping) judge() error {
	for _, r := range s.group {
		if _, ends := s.ends[r]; ends && !slices.Contains(s.lost, r) {
			return s.fail("rank %d was to end, and did not", r)
		}
		if s.answered[r].Broken && len(s.lost) == 0 {
			return s.fail("a step of rank %d broke off, and no rank is lost: %s", r, s.why())
		}
	}
	return nil
}
