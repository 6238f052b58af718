package move

import (
	"fmt"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"slices"
)

// Step is the place of a case's pattern in a sequence (workload traffic_sequence), which all cases of a launch form
// together.
type Step struct {
	Pattern    int64 // its index in the sequence
	Iterations int64 // of the whole sequence; those of Spec are of the pattern alone
	Warmup     int64 // of the sequence, as above
	Overlap    bool  // patterns without a rank in common do not wait for each other
	// Before and After are the sleeps of its ranks before their common start and after their end, multiplied by the
	// time scale.
	Before, After quantity.Time
	// Due is its planned start from the start of an iteration of the sequence, if only sleeps take time. Package
	// sequence computes it.
	Due quantity.Time
}

// Fit sets the fields that follow from the matrix.
func (t *Spec) Fit() {
	t.Ranks, t.BlockSize, t.InFlight = int64(t.Matrix.Ranks()), quantity.Size(t.Matrix.Largest()), 1
	for _, rank := range t.Matrix.Senders() {
		to, _ := t.Matrix.Row(rank)
		t.InFlight = max(t.InFlight, int64(len(to)))
	}
}

// Members returns the ranks that meet before and after the pattern of a case, ascending: those that send, receive or
// copy; all, if patterns do not overlap.
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

// checkStep is the part of checkMatrix for a case of a sequence.
func (t Spec) checkStep() error {
	s := t.Step
	if s.Before < 0 || s.After < 0 || int64(s.Before) > MaxSleep || int64(s.After) > MaxSleep {
		return fmt.Errorf("pattern %d sleeps %v before and %v after it, with the time scale: a sleep is from 0s to %v",
			s.Pattern, s.Before, s.After, quantity.Time(MaxSleep))
	}
	return nil
}

// SleepAlone limits the sleep of an isolated pattern to 250 ms. After that a processor is in its deepest idle state and
// at its lowest frequency, and isolated patterns are repeated many times.
func SleepAlone(inSequence quantity.Time) quantity.Time { return min(inSequence, quantity.Time(250e6)) }

// MaxSleep is the longest sleep in ns, as matrix.MaxSleep.
const MaxSleep = int64(matrix.MaxSleep * 1e9)
