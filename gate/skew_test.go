package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Instants of different hosts are worth no more than what is known of their clocks.
func TestClocksApart(t *testing.T) {
	for bound, want := range map[float64]results.Verdict{
		0: results.Pass, 0.00039: results.Pass, 0.00041: results.ErrorVerdict,
	} {
		cs, a := caseOf("c", 46, 46.1, 45.9), band(p(30), nil, looks)
		cs.Workload = "traffic"
		for _, l := range cs.Launches {
			l.Metrics.Set("skew.p50", 1e-6)
			l.Metrics.Set("latency.p50", 0.004)
			l.Metrics.Set("clock.bound", bound)
		}
		judged(cs, a)
		wantVerdict(t, a, want)
		if has(a.Reasons, "host-clocks bound=0.00041 span=0.004") != (want == results.ErrorVerdict) {
			t.Errorf("message %q", a.Message)
		}
	}
}

// Those of GPUs are called by their name, where no host is compared with another.
func TestClocksOfGPUsApart(t *testing.T) {
	for _, c := range []struct {
		nodes, gpus []string
		reason      string
	}{
		{[]string{"a", "a"}, []string{"a:0", "a:1"}, "gpu-clocks"},
		{[]string{"a", "b"}, []string{"a:0", "b:0"}, "host-clocks"},
		{[]string{"a", "a"}, nil, "host-clocks"},
	} {
		cs, a := caseOf("c", 46, 46.1, 45.9), band(p(30), nil, looks)
		cs.Workload = "traffic"
		for _, l := range cs.Launches {
			l.Nodes, l.GPUs = c.nodes, c.gpus
			l.Metrics.Set("latency.p50", 0.004)
			l.Metrics.Set("clock.bound", 0.00041)
		}
		judged(cs, a)
		wantVerdict(t, a, results.ErrorVerdict)
		if !has(a.Reasons, c.reason) {
			t.Errorf("on %v: %q", c.nodes, a.Message)
		}
	}
}

// So are those between which several initiators of a transfer move together; one alone
// has its own clock.
func TestClocksApartInATransfer(t *testing.T) {
	for name, c := range map[string]struct {
		skew, bound float64
		want        results.Verdict
	}{
		"well known": {1e-5, 0.00039, results.Pass}, "little known": {1e-5, 0.00041, results.ErrorVerdict},
		"one initiator": {0, 0.00041, results.Pass},
	} {
		cs, a := caseOf("c", 46, 46.1, 45.9), band(p(30), nil, looks)
		for _, l := range cs.Launches {
			for metric, v := range map[string]float64{
				"skew": c.skew, "clock.bound": c.bound, "requests": 200, "message_rate": 50_000,
			} {
				l.Metrics.Set(metric, v)
			}
		}
		judged(cs, a)
		wantVerdict(t, a, c.want)
		if has(a.Reasons, "host-clocks bound=0.00041 span=0.004") != (c.want == results.ErrorVerdict) {
			t.Errorf("%s: message %q", name, a.Message)
		}
	}
}

// A case with ranks that did not start together may pass, but a miss is inconclusive: shared cores
// explain it, and more launches do not help.
func TestRanksApart(t *testing.T) {
	for name, c := range map[string]struct {
		lower, skew, latency float64
		want                 results.Verdict
		said                 bool
	}{
		"fails, and they were":              {50, 0.0021, 0.004, results.InconclusiveVerdict, true},
		"passes all the same":               {30, 0.0021, 0.004, results.Pass, true},
		"within a common start's cost":      {50, 90e-6, 95e-6, results.Fail, false},
		"little of what it takes":           {50, 0.0019, 0.004, results.Fail, false},
		"of one launch only, in the others": {50, 10e-6, 0.004, results.Fail, false},
	} {
		t.Run(name, func(t *testing.T) {
			cs, a := caseOf("c", 46, 46.1, 45.9), band(p(c.lower), nil, looks)
			cs.Workload = "traffic"
			for _, l := range cs.Launches {
				l.Metrics.Set("skew.p50", c.skew)
				l.Metrics.Set("latency.p50", c.latency)
			}
			if strings.HasPrefix(name, "of one") {
				cs.Launches[0].Metrics.Set("skew.p50", 0.003)
			}
			doc := judged(cs, a)
			wantVerdict(t, a, c.want)
			if has(a.Reasons, "late-starts") != c.said {
				t.Errorf("message %q", a.Message)
			}
			if u := Undecided(doc); len(u) != 0 {
				t.Errorf("asks for launches of %v", u)
			}
		})
	}
}

// Sharing cores excuses being slow, and nothing else: bytes that are missing are
// missing, and what is too fast is suspicious.
func TestRanksApartExcuseOnlySlowness(t *testing.T) {
	late := func(c *results.Case) *results.Case {
		c.Workload = "traffic"
		for _, l := range c.Launches {
			l.Metrics.Set("skew.p50", 0.0021)
			l.Metrics.Set("latency.p50", 0.004)
		}
		return c
	}
	fast := band(p(10), p(20), looks)
	judged(late(caseOf("c", 46, 46.1, 45.9)), fast)
	wantVerdict(t, fast, results.Fail)

	c := late(caseOf("c", 46, 46.1, 45.9))
	for _, l := range c.Launches {
		l.Metrics.Set("bytes", 4096)
	}
	bytes := band(p(8000), p(9000), looks)
	bytes.Subject, bytes.Unit = metric("bytes", "B"), "B"
	judged(c, bytes)
	wantVerdict(t, bytes, results.Fail)
}
