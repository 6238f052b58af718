package workload

import (
	"fmt"
	"math"
	"slices"

	"weir/matrix"
	"weir/quantity"
)

// Step is what a case of workload traffic_sequence is besides the matrix of its
// pattern: its place in the sequence that all cases of a launch are together.
type Step struct {
	Pattern    int64 // its index in the sequence
	Iterations int64 // of the whole sequence; those of TransferOptions are of the pattern alone
	Warmup     int64 // of the sequence, as above
	Overlap    bool  // patterns without a rank in common do not wait for each other
	// Before and After are the sleeps of its ranks, between their meeting and their
	// common start and after their end, with the time scale in them.
	Before, After quantity.Time
	// Due is when it starts, counted from the start of an iteration of the sequence, if
	// nothing but sleeps takes time. Schedule knows it.
	Due quantity.Time
}

// Scale is by how much sleeps are longer than a scenario says; 1: not at all.
type Scale float64

func (s Scale) String() string { return Text(float64(s)) }

// maxSleep bounds a sleep, like matrix.MaxSleep.
const maxSleep = int64(matrix.MaxSleep * 1e9)

// decodeSequence reads the values of a traffic_sequence case.
func decodeSequence(v Values) (TransferOptions, error) {
	t := TransferOptions{Pattern: MatrixPattern, Mode: "stream", Reuse: "hot", Payload: "random", Batch: 1, Threads: 1}
	s := &Step{}
	get := TrafficSequence.get(v)
	err := read(get, map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "memory": &t.Initiator, "verify": &t.Verify, "pages": &t.Pages, "alloc": &t.Alloc, "numa": &t.NUMA, "provider": &t.Provider,
	}, map[string]*int64{
		"isolated_iterations": &t.Iterations, "isolated_warmup": &t.Warmup, "shards": &t.Shards,
		"iterations": &s.Iterations, "warmup": &s.Warmup, "pattern": &s.Pattern,
	})
	if err != nil {
		return t, err
	}
	t.Target = t.Initiator
	if err := t.decodeFabric(get); err != nil {
		return t, err
	}
	written, _ := get("matrix").(string)
	m, err := ParseMatrix(written)
	if err != nil {
		return t, fmt.Errorf("option matrix: %w", err)
	}
	if err := t.setMatrix(m, get("own_cells")); err != nil {
		return t, fmt.Errorf("pattern %d: %w", s.Pattern, err)
	}
	if ranks, counted := v["ranks"].(int64); counted && ranks != int64(t.Matrix.Ranks()) {
		return t, fmt.Errorf("the matrix of pattern %d is of %d ranks, and the option ranks says %d", s.Pattern, t.Matrix.Ranks(), ranks)
	}
	var ok bool
	if s.Overlap, ok = get("overlap").(bool); !ok {
		return t, fmt.Errorf("option overlap is %T, not true or false", get("overlap"))
	}
	scale, ok := get("time_scale").(Scale)
	if !ok {
		return t, fmt.Errorf("option time_scale is %T, not a factor", get("time_scale"))
	}
	for name, p := range map[string]*quantity.Time{"sleep_before_launch": &s.Before, "sleep_after_launch": &s.After} {
		sleep, ok := get(name).(quantity.Time)
		if !ok {
			return t, fmt.Errorf("option %s is %T, not a time", name, get(name))
		}
		*p = quantity.Time(float64(sleep) * float64(scale))
	}
	t.Step = s
	t.fit()
	return t, t.check()
}

// fit sets what follows from the matrix.
func (t *TransferOptions) fit() {
	t.Ranks, t.BlockSize, t.InFlight = int64(t.Matrix.Ranks()), quantity.Size(t.Matrix.Largest()), 1
	for _, rank := range t.Matrix.Senders() {
		to, _ := t.Matrix.Row(rank)
		t.InFlight = max(t.InFlight, int64(len(to)))
	}
}

// Members are the ranks that meet before and after the pattern of a case, ascending:
// those that send, receive or copy; all, if patterns do not overlap.
func (t TransferOptions) Members() []int {
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

// Schedule sets when each pattern of a sequence is due, and gives how long an iteration
// of it sleeps at least: on the longest way through patterns that share ranks.
func Schedule(patterns []*TransferOptions) (sleeping quantity.Time) {
	if len(patterns) == 0 {
		return 0
	}
	free := make([]quantity.Time, patterns[0].Ranks) // by rank: when its last pattern has ended
	for _, p := range patterns {
		members := p.Members()
		due := quantity.Time(0)
		for _, m := range members {
			due = max(due, free[m])
		}
		p.Step.Due = min(due+p.Step.Before, longest)
		for _, m := range members {
			free[m] = min(p.Step.Due+p.Step.After, longest)
		}
	}
	return slices.Max(free)
}

// longest, 13 days, is where a schedule ends, whatever its sleeps add up to: 4096
// iterations of it are still a time.
const longest = quantity.Time(math.MaxInt64 / 4096 / 2)

// checkStep is what checkMatrix asks of a case of a sequence.
func (t TransferOptions) checkStep() error {
	s := t.Step
	if s.Before < 0 || s.After < 0 || int64(s.Before) > maxSleep || int64(s.After) > maxSleep {
		return fmt.Errorf("pattern %d sleeps %v before and %v after it, with the time scale: a sleep is from 0s to %v", s.Pattern, s.Before, s.After, quantity.Time(maxSleep))
	}
	return nil
}
