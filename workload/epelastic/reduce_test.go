package epelastic

import (
	"math"
	"slices"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

const ms = int64(1e6)

// lost is the phase of a test in which rank 2 of three is killed at 100 ms: the others notice it at 103 and 104 ms, are
// connected again at 110, prepare rows until 130, and end their first step at 135 and 136.
func lost(t *testing.T) *workload.Measured {
	t.Helper()
	s, err := Decode(option.Values{
		"fabric": "tcp", "tokens": int64(10), "phase": int64(1),
		"phases": `[{"ranks":["0..2"]},{"ranks":["0","1"],"kill":["2"],"at":"dispatch"}]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	part := func(rank int, ahead int64, noticed, first int64, led *Led) *workload.Part {
		p := &Part{
			Part: &move.Part{Rank: rank, Initiator: true, Verified: true}, Lost: 10, Led: led,
			Masks: []Mask{{Rank: 2, At: noticed*ms + ahead}},
			Steps: []Step{
				{0, 80*ms + ahead, 82*ms + ahead, 85*ms + ahead}, {0, 90*ms + ahead, 92*ms + ahead, 95*ms + ahead},
				{1, 131*ms + ahead, 132*ms + ahead, first*ms + ahead},
				{1, 140*ms + ahead, 142*ms + ahead, 144*ms + ahead},
			},
		}
		out, err := p.Encode("a", 1)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	led := &Led{
		Began: 70 * ms,
		Changes: []Change{
			{Ranks: []int{0, 1, 2}}, {Ranks: []int{0, 1}, Order: 105 * ms, Connected: 110 * ms},
		},
		Prepared: [][2]int64{{110 * ms, 130 * ms}}, Ahead: []int64{0, 7 * ms, -5 * ms}, Bound: 1000,
		GPUs: []string{"0000:41:00.0", "0000:81:00.0", "0000:41:00.0"},
		GPUCounters: []results.Counter{
			{Device: "GPU 0000:41:00.0", Name: "clocks_throttle_reasons", Class: results.ThrottleClass, By: 1},
		},
	}
	return &workload.Measured{
		Spec: s, Nodes: []string{"a", "b", "b"},
		Parts: []*workload.Part{
			part(0, 0, 103, 135, led), part(1, 7*ms, 104, 136, nil),
			{Key: "a", Rank: 2, Ended: &workload.Ended{Signal: 9, At: 100*ms - 5*ms}},
		},
	}
}

func TestMetrics(t *testing.T) {
	var l results.Launch
	m, err := behaviour{}.Reduce(lost(t), &l)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"group.ranks": 2, "joined": 0, "left": 0, "killed": 1, "detect.time": 4e-3, "recover.time": 16e-3, // 36 less 20
		"stall.max":   21e-3, // from 95 to 136, less 20
		"rate.before": 10 / 5e-3, "rate.after": 40 / (4 + 4 + 5 + 4) * 1e3, "rate.during": 10 / 16e-3,
		"wrong_tokens": 0, "lost_tokens": 20, "mask.wrong": 0, "clock.bound": 1e-6, "latency.p50": 4e-3,
	} {
		if name == "rate.after" {
			want = 40 / 17e-3
		}
		if math.Abs(m[name]-want) > 1e-9*max(1, want) {
			t.Errorf("%s is %v, not %v", name, m[name], want)
		}
	}
	for name := range m {
		if _, ok := Kind.Metric(name); !ok {
			t.Errorf("%s is not declared", name)
		}
	}
	if want := []string{"0000:41:00.0", "0000:81:00.0", "0000:41:00.0"}; !slices.Equal(l.GPUs, want) {
		t.Errorf("GPUs are %v, not %v: rank 2 had its own until it was killed", l.GPUs, want)
	}
	if len(l.Counters) != 1 || l.Counters[0].Node != "a" || l.Counters[0].Device != "GPU 0000:41:00.0" {
		t.Errorf("what spoiled a GPU is %+v", l.Counters)
	}
	what := map[string]int{}
	for _, e := range l.Timeline.Moments {
		what[e.What]++
	}
	if what["killed"] != 1 || what["noticed"] != 2 || what["regrouped"] != 1 || len(l.Timeline.Steps) != 4 {
		t.Errorf("%+v", l.Timeline)
	}
	if s := l.Timeline.Steps[2]; s.Ranks != 2 || math.Abs(s.At-61e-3) > 1e-9 || math.Abs(s.Took-5e-3) > 1e-9 {
		t.Errorf("the first step without rank 2 is %+v", s)
	}
}

// led is the part of rank 0 with another record of the leader.
func led(t *testing.T, m *workload.Measured, change func(*Led)) *workload.Part {
	t.Helper()
	p, err := decode(m.Parts[0])
	if err != nil {
		t.Fatal(err)
	}
	change(p.Led)
	out, err := p.Encode("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Contradictory parts are rejected.
func TestWrongReports(t *testing.T) {
	for name, change := range map[string]func(*workload.Measured){
		"nobody was killed":     func(m *workload.Measured) { m.Parts[2] = &workload.Part{Rank: 2, Absent: true} },
		"a survivor was killed": func(m *workload.Measured) { m.Parts[1].Ended = &workload.Ended{Signal: 9, At: 1} },
		"nobody led":            func(m *workload.Measured) { m.Parts[0] = m.Parts[1] },
		"facts that are none":   func(m *workload.Measured) { m.Parts[1].Facts = []byte("7") },
		"GPUs of too few ranks": func(m *workload.Measured) {
			m.Parts[0] = led(t, m, func(l *Led) { l.GPUs = l.GPUs[:1] })
		},
		"samples that are short": func(m *workload.Measured) { m.Parts[1].Samples = m.Parts[1].Samples[:20] },
	} {
		m := lost(t)
		change(m)
		if got, err := (behaviour{}).Reduce(m, &results.Launch{}); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	m := lost(t)
	p, err := decode(m.Parts[1])
	if err != nil {
		t.Fatal(err)
	}
	p.Masks = []Mask{{Rank: 0, At: 104 * ms}}
	if m.Parts[1], err = p.Encode("a", 1); err != nil {
		t.Fatal(err)
	}
	if got, err := (behaviour{}).Reduce(m, &results.Launch{}); err != nil || got["mask.wrong"] != 2 {
		t.Errorf("of a wrong mask: %v, %v", got, err)
	}
}
