package results

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results/assertion"
)

func TestDisturbed(t *testing.T) {
	quiet := RankProcessor{Wall: 1, Ran: 0.999, Waited: 0.001, ProbeRan: 0.02, ProbeWaited: 0.001}
	node := NodeLoad{Node: "n1", CPUs: 4, Threads: 2, Load: 3.5}
	for name, test := range map[string]struct {
		change func(*Launch)
		want   string
	}{
		"quiet": {func(*Launch) {}, ""},
		"half of a processor": {func(l *Launch) { l.Processors.Ranks[1].Waited = 1 },
			"rank 1 on n1 was runnable but not scheduled 50 % of the time, load 3.5"},
		"a little": {func(l *Launch) {
			l.Processors.Ranks[1].Waited = 0.04
		}, ""},
		"the kernel's own": {func(l *Launch) {
			l.Processors.Ranks[0] = RankProcessor{Ran: 1e-4, Waited: 1.5e-4}
		}, ""},
		"sleeps on purpose": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Ranks[1].Sleeps = 1, true
		}, ""},
		"during a probe": {func(l *Launch) {
			l.Processors.Ranks[0].ProbeWaited = 0.02
		}, "while it probed the path"},
		"a full node": {func(l *Launch) { // the kernel's network has a fifth of it
			l.Processors.Nodes[0].Threads = l.Processors.Nodes[0].CPUs
			l.Processors.Ranks[1].Ran, l.Processors.Ranks[1].Waited = 0.08, 0.02
		}, ""},
		"a full node with a busy thread": {func(l *Launch) {
			l.Processors.Nodes[0].Threads = l.Processors.Nodes[0].CPUs
			l.Processors.Ranks[1].Ran, l.Processors.Ranks[1].Waited = 0.05, 0.05
		}, "was runnable but not scheduled 50 %"},
		"more than cores": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Nodes[0].Threads = 1, 8
		}, ""},
		"stolen": {func(l *Launch) {
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 0.2, 0.3
		}, "the hypervisor stole 20 %"},
		"stolen for a tick": {func(l *Launch) {
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 0.2, 0.02
		}, ""},
		"stolen from a crowd": {func(l *Launch) {
			l.Processors.Nodes[0].Threads, l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 8, 0.2, 0.3
		}, "the hypervisor"},
		"stolen from next to nothing": {func(l *Launch) { // 0.13 s of 10 s, of a client that sleeps
			l.Processors.Ranks = nil
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen, l.Processors.Nodes[0].Elapsed = 0.26, 0.13, 10
		}, ""},
		"stolen from a client": {func(l *Launch) {
			l.Processors.Ranks = nil
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen, l.Processors.Nodes[0].Elapsed = 0.26, 2, 10
		}, "the hypervisor stole 20 % of the launch's time"},
		"a container's limit": {func(l *Launch) {
			n := &l.Processors.Nodes[0]
			n.Limit, n.Throttled, n.Elapsed = 0.6, 1, 1
		}, "the CPU limit of node n1, 0.6 of 4 processors, throttled threads for 50 % of the time"},
		"a limit that is not reached": {func(l *Launch) {
			n := &l.Processors.Nodes[0]
			n.Limit, n.Throttled, n.Elapsed = 1.5, 0.02, 1
		}, ""},
		"simulated": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Simulated = 1, true
		}, ""},
		"an old version": {func(l *Launch) {
			l.Processors = nil
		}, ""},
		"another session": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Nodes[0].Sessions = 1, 1
		}, ", load 3.5, another session of weir"},
	} {
		l := &Launch{Nodes: []string{"n1", "n1"}, Processors: &Processors{
			Ranks: []RankProcessor{quiet, quiet}, Nodes: []NodeLoad{node},
		}}
		l.Processors.Ranks[1].Rank = 1
		test.change(l)
		got := ""
		if d := l.Disturbed(); d != nil {
			got = d.Text
		}
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The share is that of all that a launch lost, whichever of it the text is of.
func TestDisturbancesAddUp(t *testing.T) {
	l := &Launch{Nodes: []string{"n1", "n1"}, Processors: &Processors{
		Ranks: []RankProcessor{{Ran: 0.9, Waited: 0.1, ProbeRan: 0.2, ProbeWaited: 0.2}, {Rank: 1, Ran: 1}},
		Nodes: []NodeLoad{{Node: "n1", CPUs: 4, Threads: 2, Steal: 0.2, Stolen: 1, Elapsed: 5}},
	}}
	d := l.Disturbed()
	if d == nil || d.Cause != Stolen || math.Abs(d.Share-(1-0.5*0.8)) > 1e-9 {
		t.Errorf("%+v", d)
	}
}

func TestOutnumbered(t *testing.T) {
	for _, c := range []struct {
		cpus, threads, running int
		share                  float64
	}{
		{2, 1, 0, 0}, {2, 1, 1, 0}, {2, 1, 2, 1. / 3}, {2, 2, 2, 0.5}, {16, 2, 14, 0}, {16, 2, 62, 0.75}, {2, 3, 9, 0},
		{0, 1, 9, 0},
	} {
		l := &Launch{Processors: &Processors{Nodes: []NodeLoad{
			{Node: "n", CPUs: c.cpus, Threads: c.threads, Running: c.running, Load: 3},
		}}}
		d := l.Outnumbered()
		if (d == nil) != (c.share == 0) || d != nil && math.Abs(d.Share-c.share) > 1e-9 {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

// What a disturbance can change nothing of is kept: a rate far from its bound, not a tail, nor what compares cases.
func TestBears(t *testing.T) {
	low, high := 1., 10.
	define := func(name string) (Metric, bool) {
		return Metric{Name: name, Fixed: name == "ranks_passed", MayBeZero: name == "error_rate"}, name != "unknown"
	}
	metric := func(name string) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: name, Unit: "GB/s"}
	}
	for name, test := range map[string]struct {
		value  float64
		metric string
		bounds assertion.Bounds
		lost   float64
		want   bool
	}{
		"far above":          {5, "bandwidth", assertion.Bounds{Lower: &low}, 0.5, true},
		"near":               {1.2, "bandwidth", assertion.Bounds{Lower: &low}, 0.5, false},
		"near, little lost":  {1.2, "bandwidth", assertion.Bounds{Lower: &low}, 0.06, true},
		"far below":          {0.1, "bandwidth", assertion.Bounds{Lower: &low}, 0.5, true},
		"not by this much":   {0.2, "bandwidth", assertion.Bounds{Lower: &low}, 0.5, false},
		"below by that much": {0.5, "bandwidth", assertion.Bounds{Lower: &low}, 0.5, false},
		"within a band":      {3, "bandwidth", assertion.Bounds{Lower: &low, Upper: &high}, 0.3, true},
		"could leave a band": {9, "bandwidth", assertion.Bounds{Lower: &low, Upper: &high}, 0.3, false},
		"a tail":             {5, "latency.p99", assertion.Bounds{Lower: &low}, 0.1, false},
		"a slow tail":        {5, "latency.p99", assertion.Bounds{Upper: &high}, 0.5, true},
		"a tail near it":     {6, "latency.p99", assertion.Bounds{Upper: &high}, 0.5, false},
		"a count":            {10, "ranks_passed", assertion.Bounds{Lower: &high}, 0.5, true},
		"nothing at all":     {0, "error_rate", assertion.Bounds{Lower: &low}, 0.5, false},
		"errors":             {30, "error_rate", assertion.Bounds{Upper: &high}, 0.1, false},
		"nobody's metric":    {5, "unknown", assertion.Bounds{Lower: &low}, 0.1, false},
		"no errors":          {0, "error_rate", assertion.Bounds{Upper: &high}, 0.5, true},
		"everything":         {5, "bandwidth", assertion.Bounds{Lower: &low}, 1, false},
	} {
		l := &Launch{Metrics: ValuesOf(map[string]float64{test.metric: test.value})}
		a := &AssertionVerdict{Assertion: assertion.Assertion{
			Severity: assertion.Gate, Subject: metric(test.metric), Unit: "GB/s", Bounds: test.bounds,
		}}
		c := &Case{Key: "a", Launches: []*Launch{l}, Assertions: []*AssertionVerdict{a}}
		if got := c.Tolerates(l, test.lost, nil, define); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
		trend := &AssertionVerdict{Assertion: assertion.Assertion{Severity: assertion.Gate, Cases: []string{"a", "b"}}}
		if c.Tolerates(l, test.lost, []*AssertionVerdict{trend}, define) {
			t.Errorf("%s: a trend bears it", name)
		}
	}
	if c := (&Case{Key: "a"}); c.Tolerates(&Launch{}, 0.1, nil, define) {
		t.Error("a case without assertions bears it")
	}
}
