package sequence

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"weir/fabric"
	"weir/quantity"
	"weir/workload"
	"weir/workload/move"
)

// Decode reads the values of a traffic_sequence case.
func Decode(v workload.Values) (move.Spec, error) {
	t := move.Spec{Pattern: move.MatrixPattern, Mode: "stream", Reuse: "hot", Payload: "random", Batch: 1, Threads: 1}
	s := &move.Step{}
	get := Kind.Get(v)
	err := get.Read(map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "memory": &t.Initiator, "verify": &t.Verify, "pages": &t.Pages,
		"alloc": &t.Alloc, "numa": &t.NUMA, "vram_alloc": &t.VRAMAlloc,
	}, map[string]*int64{
		"isolated_iterations": &t.Iterations, "isolated_warmup": &t.Warmup, "shards": &t.Shards,
		"iterations": &s.Iterations, "warmup": &s.Warmup, "pattern": &s.Pattern,
	})
	if err != nil {
		return t, err
	}
	t.Target = t.Initiator
	if t.FabricOptions, err = fabric.Read(t.Fabric, get); err != nil {
		return t, err
	}
	written, _ := get("matrix").(string)
	m, err := workload.ParseMatrix(written)
	if err != nil {
		return t, fmt.Errorf("option matrix: %w", err)
	}
	if err := t.SetMatrix(m, get("own_cells")); err != nil {
		return t, fmt.Errorf("pattern %d: %w", s.Pattern, err)
	}
	if ranks, counted := v["ranks"].(int64); counted && ranks != int64(t.Matrix.Ranks()) {
		return t, fmt.Errorf("the matrix of pattern %d is of %d ranks, and the option ranks says %d", s.Pattern,
			t.Matrix.Ranks(), ranks)
	}
	var ok bool
	if s.Overlap, ok = get("overlap").(bool); !ok {
		return t, fmt.Errorf("option overlap is %T, not true or false", get("overlap"))
	}
	scale, ok := get("time_scale").(workload.Scale)
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
	t.Intern(v["matrix"], v["own_cells"])
	t.Fit()
	return t, t.Check()
}

// Schedule sets when each pattern of a sequence is due, and gives how long an iteration
// of it sleeps at least: on the longest way through patterns that share ranks.
func Schedule(patterns []*move.Spec) (sleeping quantity.Time) {
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

// arrange tells each pattern when it is due. Before the first of them the whole sequence
// is played, which may take what all cases may, and the sleeps of all iterations, alone and together.
func arrange(cases []workload.Spec, timeout time.Duration) (before time.Duration) {
	patterns := make([]*move.Spec, len(cases))
	for i, c := range cases {
		patterns[i] = c.(*move.Spec)
	}
	if len(patterns) == 0 {
		return 0
	}
	sleeping := time.Duration(Schedule(patterns)) * time.Duration(patterns[0].Step.Iterations)
	n := time.Duration(len(patterns))
	return min(timeout, math.MaxInt64/4/n)*n + min(sleeping+sleepingAlone(patterns), math.MaxInt64/4)
}

// sleepingAlone is for how long all patterns sleep while they are moved one at a time.
func sleepingAlone(patterns []*move.Spec) time.Duration {
	sum := quantity.Time(0)
	for _, p := range patterns {
		sum = min(sum+move.SleepAlone(p.Step.Before)+move.SleepAlone(p.Step.After), longest)
	}
	return time.Duration(sum) * time.Duration(patterns[0].Iterations)
}

// timetable is when each pattern is due.
func timetable(cases []workload.Values) ([]quantity.Time, error) {
	patterns := make([]*move.Spec, len(cases))
	for i, v := range cases {
		t, err := Decode(v)
		if err != nil {
			return nil, err
		}
		if patterns[i] = &t; t.Ranks != patterns[0].Ranks {
			return nil, errors.New("they are of different numbers of ranks")
		}
	}
	Schedule(patterns)
	due := make([]quantity.Time, len(patterns))
	for i, p := range patterns {
		due[i] = p.Step.Due
	}
	return due, nil
}
