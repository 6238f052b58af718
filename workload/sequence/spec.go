package sequence

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Decode reads the values of a traffic_sequence case.
func Decode(v option.Values) (move.Spec, error) {
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
	m, err := option.ParseMatrix(written)
	if err != nil {
		return t, fmt.Errorf("option matrix: %w", err)
	}
	if err := t.SetMatrix(m, get("own_cells")); err != nil {
		return t, fmt.Errorf("pattern %d: %w", s.Pattern, err)
	}
	if ranks, counted := v["ranks"].(int64); counted && ranks != int64(t.Matrix.Ranks()) {
		return t, fmt.Errorf("the matrix of pattern %d has %d ranks, but option ranks is %d", s.Pattern,
			t.Matrix.Ranks(), ranks)
	}
	var ok bool
	if s.Overlap, ok = get("overlap").(bool); !ok {
		return t, fmt.Errorf("option overlap is %T, not true or false", get("overlap"))
	}
	scale, ok := get("time_scale").(option.Scale)
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

// Schedule sets the planned start of each pattern of a sequence, and returns the least time that an iteration of it
// sleeps: on the critical path through patterns with common ranks.
func Schedule(patterns []*move.Spec) (sleeping quantity.Time) {
	if len(patterns) == 0 {
		return 0
	}
	free := make([]quantity.Time, patterns[0].Ranks) // by rank: end of its last pattern
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

// longest is the limit of a schedule, 13 days: 4096 iterations of it are a valid time.
const longest = quantity.Time(math.MaxInt64 / 4096 / 2)

// Arrange sets the planned start of each pattern. before is the time of the whole sequence, which runs ahead of the
// first case: the timeouts of all cases, and all sleeps together and isolated.
func (behaviour) Arrange(cases []workload.Spec, timeout time.Duration) (before time.Duration) {
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

// sleepingAlone returns the sleep of all patterns while they run one at a time.
func sleepingAlone(patterns []*move.Spec) time.Duration {
	sum := quantity.Time(0)
	for _, p := range patterns {
		sum = min(sum+move.SleepAlone(p.Step.Before)+move.SleepAlone(p.Step.After), longest)
	}
	return time.Duration(sum) * time.Duration(patterns[0].Iterations)
}

// Timetable returns the planned start of each pattern.
func (behaviour) Timetable(cases []option.Values) ([]quantity.Time, error) {
	patterns := make([]*move.Spec, len(cases))
	for i, v := range cases {
		t, err := Decode(v)
		if err != nil {
			return nil, err
		}
		if patterns[i] = &t; t.Ranks != patterns[0].Ranks {
			return nil, errors.New("the patterns have different numbers of ranks")
		}
	}
	Schedule(patterns)
	due := make([]quantity.Time, len(patterns))
	for i, p := range patterns {
		due[i] = p.Step.Due
	}
	return due, nil
}
