package planner

import (
	"fmt"
	"math"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// The expected launches of a path that satisfies its assertions are those that the gate takes.
func TestExpectedLaunchesAreThoseOfTheGate(t *testing.T) {
	kind, _ := workload.Lookup("transfer")
	lower, upper, one := 0.9, 1.1, 1.0
	const sessions = 400
	for _, c := range []struct {
		looks        []int
		noise, df    float64
		metric       string
		lower, upper *float64
		room         float64
	}{
		{[]int{3, 5, 8, 12}, 0.03, 0, workload.Bandwidth, &lower, &upper, 0.25},
		{[]int{3, 5, 8, 12}, 0.03, 20, workload.Bandwidth, &lower, nil, 0.25},
		{[]int{3, 5, 8, 12}, 0.01, 0, workload.Bandwidth, &lower, &upper, 0.25},
		{[]int{3, 5, 8, 12}, 0.06, 0, workload.Bandwidth, &lower, &upper, 0.4},
		{[]int{4, 6, 10, 20}, 0.05, 0, workload.Bandwidth, &lower, &upper, 0.5},
		{[]int{3, 9}, 0.03, 8, workload.Bandwidth, &lower, &upper, 0.3},
		{[]int{5}, 0.03, 0, workload.Bandwidth, &lower, &upper, 1e-9},
	} {
		a := assertion.Assertion{
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: c.metric, Unit: "GB/s"}, Unit: "GB/s",
			Severity: assertion.Gate,
			Bounds:   assertion.Bounds{Lower: c.lower, Upper: c.upper}, Target: &one,
			Noise: []assertion.Noise{{Metric: c.metric, Launch: c.noise, LaunchDF: c.df, From: "reference t"}},
		}
		want, ok := gate.PowerOf(a, c.looks, []float64{1}, sessions)
		got := forecastOf(kind, []assertion.Assertion{a}, c.looks, 0, nil).launches(c.looks)
		if !ok || math.Abs(got-want[0].Launches) > c.room {
			t.Errorf("looks %v, noise %v: %.1f launches, the gate takes %.2f", c.looks, c.noise, got, want[0].Launches)
		}
	}
}

// The expected launches are those of the documentation of statistics: eight if nothing is known of
// the noise, five if it is. A group takes the largest number of its cases.
func TestExpectedLaunches(t *testing.T) {
	const head = "scenario: s\ndefaults: {launches: [3, 5, 8, 12]}\nruns:\n  a:\n    workload: transfer\n"
	one := "    options: {block_size: 4KiB}\n"
	sizes := func(n int) string {
		text := "4KiB"
		for i := 1; i < n; i++ {
			text += fmt.Sprintf(", %dKiB", 4+4*i)
		}
		return "    sweep: {block_size: [" + text + "]}\n"
	}
	for _, c := range []struct {
		name, run string
		from, to  float64
	}{
		{"nothing known", one + "    assert: [bandwidth within 10% of 5 GB/s]\n", 8, 8},
		{"one side", one + "    assert: [bandwidth >= 5 GB/s]\n", 8, 8},
		{"nothing to decide", one, 3, 3},
		{"a ratio", one + "    assert: [latency.p99 <= 5 * latency.p50]\n", 4.1, 5.1},
		{"little to lose", one + "    assert: [bandwidth within 50% of 5 GB/s]\n", 3, 5},
		{
			"pooled noise", sizes(6) + "    assert: [\"bandwidth within 10% of 5 GB/s where block_size == 4KiB\"]\n",
			4.6, 5.3,
		},
		{"the neediest of many", sizes(40) + "    assert: [bandwidth within 10% of 5 GB/s]\n", 7, 9},
		{"a trend", sizes(2) + "    assert: [bandwidth increases with block_size]\n", 4, 4},
		{"one look", one + "    launches: 5\n    assert: [bandwidth >= 5 GB/s]\n", 5, 5},
	} {
		p := build(t, head+c.run)
		got := p.Cost.Launches.Expected
		if got < c.from || got > c.to {
			t.Errorf("%s: %v launches expected, want %v to %v", c.name, got, c.from, c.to)
		}
		if p.cost() != p.Cost {
			t.Errorf("%s: the table says %v, the plan %v", c.name, p.Cost, p.cost())
		}
	}
	p := build(t, head+one+"    assert: [bandwidth within 10% of 5 GB/s]\n")
	p.Expect(map[string][]assertion.Noise{"a": {{Metric: "bandwidth", Launch: 0.03, LaunchDF: 40}}})
	if got := p.Cost.Launches.Expected; got < 4.6 || got > 5.3 {
		t.Errorf("with noise that history knows, %v launches are expected", got)
	}
}
