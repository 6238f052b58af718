package move

import (
	"fmt"
	"slices"
	"weir/matrix"
	"weir/quantity"
)

// Step is what a case of workload traffic_sequence is besides the matrix of its
// pattern: its place in the sequence that all cases of a launch are together.
type Step struct {
	Pattern    int64 // its index in the sequence
	Iterations int64 // of the whole sequence; those of Spec are of the pattern alone
	Warmup     int64 // of the sequence, as above
	Overlap    bool  // patterns without a rank in common do not wait for each other
	// Before and After are the sleeps of its ranks, between their meeting and their
	// common start and after their end, with the time scale in them.
	Before, After quantity.Time
	// Due is when it starts, counted from the start of an iteration of the sequence, if
	// nothing but sleeps takes time. Package sequence computes it.
	Due quantity.Time
}

// Fit sets what follows from the matrix.
func (t *Spec) Fit() {
	t.Ranks, t.BlockSize, t.InFlight = int64(t.Matrix.Ranks()), quantity.Size(t.Matrix.Largest()), 1
	for _, rank := range t.Matrix.Senders() {
		to, _ := t.Matrix.Row(rank)
		t.InFlight = max(t.InFlight, int64(len(to)))
	}
}

// Members are the ranks that meet before and after the pattern of a case, ascending:
// those that send, receive or copy; all, if patterns do not overlap.
func (t Spec) Members() []int {
	if t.Step.Overlap {
		members := t.Matrix.Involved()
		if t.Own != nil {
			members = append(members, t.Own.Involved()...)
			slices.Sort(members)
		}
		return slices.Compact(members)
	}
	all := make([]int, t.Ranks)
	for i := range all {
		all[i] = i
	}
	return all
}

// checkStep is what checkMatrix asks of a case of a sequence.
func (t Spec) checkStep() error {
	s := t.Step
	if s.Before < 0 || s.After < 0 || int64(s.Before) > MaxSleep || int64(s.After) > MaxSleep {
		return fmt.Errorf("pattern %d sleeps %v before and %v after it, with the time scale: a sleep is from 0s to %v",
			s.Pattern, s.Before, s.After, quantity.Time(MaxSleep))
	}
	return nil
}

// SleepAlone is for how long a rank sleeps before or after a pattern that is moved alone, where it
// sleeps that long in the sequence. Within a quarter of a second a processor is as slow to wake as it will be
// (its deepest idle state, its lowest frequency), and patterns are moved alone many times.
func SleepAlone(inSequence quantity.Time) quantity.Time { return min(inSequence, quantity.Time(250e6)) }

// MaxSleep bounds a sleep, like matrix.MaxSleep, in ns.
const MaxSleep = int64(matrix.MaxSleep * 1e9)
