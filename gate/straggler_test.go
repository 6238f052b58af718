package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func TestTheSlowestRankIsNamed(t *testing.T) {
	lower := 50.0
	launch := func(i int, slow int) *results.Launch {
		l := &results.Launch{
			Index: i, Status: results.OK, Nodes: []string{"n1", "n1", "n2", "n2"}, Initiators: 4,
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": 34}),
		}
		for rank := range 4 {
			s := results.RankShare{Rank: rank, Bytes: 1e10, Seconds: 1, Bandwidth: 10}
			if rank == slow {
				s.Seconds, s.Bandwidth = 2.5, 4
			}
			l.Ranks = append(l.Ranks, s)
		}
		return l
	}
	of := func(kind string, launches ...*results.Launch) string {
		c := &results.Case{
			Key: "a", Workload: kind, Status: results.OK, Launches: launches, Options: map[string]any{"verify": "none"},
		}
		a := &results.AssertionVerdict{Looks: []int{len(launches)}}
		a.Subject, a.Unit, a.Bounds = &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}, "GB/s",
			assertion.Bounds{Lower: &lower}
		c.Assertions = []*results.AssertionVerdict{a}
		doc := &results.Document{Cases: []*results.Case{c}}
		Judge(doc)
		if a.Verdict != results.Fail {
			t.Errorf("%s: %s", a.Verdict, a.Message)
		}
		return a.Message
	}
	for name, c := range map[string]struct {
		message string
		says    string
	}{
		"always the same": {of("transfer", launch(0, 3), launch(1, 3), launch(2, 3)),
			"slowest: rank 3 on n2 in 3 of 3 launches, 4.000 GB/s (median of the others: 10.00 GB/s); about 40.00 GB/s if it were as fast"},
		"mostly": {of("transfer", launch(0, 1), launch(1, 3), launch(2, 3)),
			"slowest: rank 3 on n2 in 2 of 3 launches"},
		"no rank": {of("transfer", launch(0, -1), launch(1, -1)), "no rank stands out"},
		"a matrix waits": {of("traffic", launch(0, 3), launch(1, 3)),
			"about 85.00 GB/s if it were as fast"},
		"of many only few": {of("transfer", func() *results.Launch {
			l := launch(0,
				2)
			l.Initiators = 100
			return l
		}()), "slowest: rank 2 on n2 in 1 of 1 launch, 4.000 GB/s"},
		"a pair": {of("traffic", func() *results.Launch {
			l := launch(0, 3)
			l.SlowestPair = &results.Pair{From: 3, To: 0, Bytes: 8, Seconds: 2, Bandwidth: 4}
			return l
		}()), "slowest pair: rank 3 on n2 to rank 0 on n1 in 1 of 1 launch"},
	} {
		if !strings.Contains(c.message, c.says) {
			t.Errorf("%s: %q does not say %q", name, c.message, c.says)
		}
	}
	together := func(i int) *results.Launch {
		l := launch(i, 3)
		l.Ranks[2].Seconds, l.Ranks[2].Bandwidth = 2, 5
		return l
	}
	const node = "slowest node: n2 in 2 of 2 launches, its ranks' median is 4.500 GB/s (median of the others: 10.00 GB/s); about "
	// 34·40/29, and 34·2.5/1
	for kind, gain := range map[string]string{"transfer": "46.90 GB/s", "traffic": "85.00 GB/s"} {
		if message := of(kind, together(0), together(1)); !strings.Contains(message, node+gain) {
			t.Errorf("%s: %q does not say %q", kind, message, node+gain)
		}
	}
	apart := together(0)
	apart.Nodes = []string{"n1", "n1", "n1", "n2"} // a single rank
	for name, l := range map[string]*results.Launch{"one rank": apart,
		"one node": func() *results.Launch { l := together(0); l.Nodes = []string{"n", "n", "n", "n"}; return l }(),

		"unknown nodes": func() *results.Launch { l := together(0); l.Nodes = nil; return l }(),
		"alike":         launch(0, -1)} {
		if message := of("transfer", l); strings.Contains(message, "slowest node") {
			t.Errorf("%s: %q", name, message)
		}
	}
	single := launch(0, 3)
	single.Ranks = single.Ranks[3:]
	if message := of("transfer", single); strings.Contains(message, "slowest") {
		t.Errorf("one initiator alone: %s", message)
	}
}
