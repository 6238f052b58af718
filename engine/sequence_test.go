package engine

import (
	"strings"
	"testing"

	"weir/quantity"
	"weir/workload"
)

// inSequence is the case of trafficCase as the second pattern of a sequence that was
// played twice, due 1000 ns after the start of each iteration.
func inSequence(t *testing.T) (Case, []*CaseResult) {
	c := trafficCase(t, "write")
	c.Options.Step = &workload.Step{Pattern: 1, Iterations: 2, Overlap: true, Due: quantity.Time(1000)}
	a, b := moved(0, Span{100, 1100}, Span{5000, 6000}), moved(2, Span{100, 2100}, Span{5000, 7000}) // alone: 2000 ns each time
	a.Steps, a.Began = []Step{{11000, 11000, 12000}, {21500, 21600, 23600}}, []int64{10000, 20000}
	b.Steps, b.Began = []Step{{11000, 11400, 14000}, {21500, 21500, 27500}}, []int64{10000, 20000}
	idle := moved(3)
	idle.Steps, idle.Began = []Step{{11000, 0, 0}, {21500, 0, 0}}, []int64{10000, 20000}
	return c, []*CaseResult{a, moved(1), b, idle}
}

// A pattern took 3000 and 6000 ns among the others, and 2000 ns alone.
func TestSequenceMetrics(t *testing.T) {
	c, ranks := inSequence(t)
	c.Options.Own = ownCells(t, 2, 500)
	m, err := Metrics(c, ranks)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency": 4500e-9, "latency.min": 3000e-9, "latency.p50": 3000e-9, "latency.max": 6000e-9,
		"isolated_latency": 2000e-9, "isolated_latency.min": 2000e-9, "isolated_latency.p50": 2000e-9, "isolated_latency.max": 2000e-9,
		"slowdown": 2.25, "bytes": 9000, "bytes.own": 500, "bandwidth": 2, "isolated_bandwidth": 4.5,
		"bandwidth.per_sender": (3000/1500. + 6000/4300.) / 2, "bandwidth.min_sender": 6000 / 4300.,
		"skew": 400e-9, "skew.p50": 100e-9, "late": 400e-9, "drift": 250e-9, "drift.max": 500e-9,
		"ceiling": 8000 / 2000. / 10, "senders": 2, "receivers": 2,
	})
	k := workload.TrafficSequence
	for _, metric := range k.Metrics {
		if _, ok := m[metric.Name]; !ok {
			t.Errorf("metric %s of the registry is not computed", metric.Name)
		}
	}
	for name := range m {
		if _, ok := k.Metric(name); !ok {
			t.Errorf("metric %s is not in the registry", name)
		}
	}
	if spans := Timeline(ranks); len(spans) != 2 || spans[0] != [2]float64{1e-6, 4e-6} || spans[1] != [2]float64{1.5e-6, 7.5e-6} {
		t.Errorf("played %v", spans)
	}
}

// What a rank says is not believed: it may have played less than another.
func TestTimelineOfRanksThatDisagree(t *testing.T) {
	_, ranks := inSequence(t)
	ranks[2].Steps = append(ranks[2].Steps, Step{1, 2, 3})
	if spans := Timeline(ranks); spans != nil {
		t.Errorf("played %v", spans)
	}
	_, ranks = inSequence(t)
	ranks[0].Began = nil
	if spans := Timeline(ranks); spans != nil {
		t.Errorf("played %v", spans)
	}
	if spans := Timeline([]*CaseResult{moved(0)}); spans != nil {
		t.Errorf("played %v", spans)
	}
}

func TestSequenceThatIsNotWhole(t *testing.T) {
	for want, spoil := range map[string]func(ranks []*CaseResult){
		"rank 2 has 1 of 2 iterations":                  func(r []*CaseResult) { r[2].Steps = r[2].Steps[:1] },
		"rank 0 did not move anything in iteration 1":   func(r []*CaseResult) { r[0].Steps[1].Start = 0 },
		"of the pattern alone: rank 2 has no":           func(r []*CaseResult) { r[2].Iterations = nil },
		"of the pattern in its sequence: iteration 0 o": func(r []*CaseResult) { r[2].Steps[0].End = 5 },
	} {
		c, ranks := inSequence(t)
		spoil(ranks)
		if m, err := SequenceMetrics(c, ranks); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", m, err, want)
		}
	}
}
