package gate

import (
	"strings"
	"testing"

	"weir/results"
)

const busyHost = "rank 0 on n1 waited for a processor 51 % of the time that it could run while it measured (load 4)"

// voidly makes launches of a case void, each of whose two ranks lost a share of its processor.
func voidly(c *results.Case, lost float64, indices ...int) {
	for _, i := range indices {
		rank := results.RankProcessor{Ran: 1 - lost, Waited: lost}
		c.Launches[i].Void = busyHost
		c.Launches[i].Processors = &results.Processors{Ranks: []results.RankProcessor{rank, rank}}
	}
}

// Void launches decide nothing but what their disturbance cannot have made so.
func TestVoidLaunches(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		void   []int
		lost   float64
		most   *float64
		want   results.Verdict
		text   string
	}{
		"none":       {[]float64{1, 1.01, 0.99}, nil, 0, nil, results.Pass, ""},
		"made again": {[]float64{1, 0.1, 1.01, 0.99}, []int{1}, 0.5, nil, results.Pass, ""},
		"all would fail": {[]float64{0.1, 0.1, 0.1}, []int{0, 1, 2}, 0.45, nil, results.InconclusiveVerdict,
			"3 are of 3 launches void, the last because rank 0 on n1"},
		"all fail by far": {[]float64{0.01, 0.01, 0.01}, []int{0, 1, 2}, 0.25, nil, results.Fail,
			"with 3 void launches, whose disturbance cannot have cost so much"},
		"by far, with no processor left": {[]float64{0.01, 0.01, 0.01}, []int{0, 1, 2}, 0.5, nil,
			results.InconclusiveVerdict, "nothing was measured that counts"},
		"all pass all the same": {[]float64{1, 1, 1}, []int{0, 1, 2}, 0.5, nil, results.Pass,
			"with 3 void launches, whose disturbance cannot have made it better"},
		"all pass a bound on both sides": {[]float64{1, 1, 1}, []int{0, 1, 2}, 0.5, p(1.1), results.InconclusiveVerdict,
			"nothing was measured that counts"},
		"too few are left": {[]float64{0.1, 0.1, 1, 0.1}, []int{0, 1, 3}, 0.5, nil, results.InconclusiveVerdict,
			"3 are of 4 launches void"},
		"a fault that is no load": {[]float64{0.1, 0.5, 0.51, 0.5}, []int{0}, 0.5, nil, results.Fail,
			"1 is of 4 launches void"},
	} {
		t.Run(name, func(t *testing.T) {
			c := caseOf("a", test.values...)
			voidly(c, test.lost, test.void...)
			a := band(p(0.9), test.most, []int{3})
			doc := judged(c, a)
			if a.Verdict != test.want || !strings.Contains(a.Message, test.text) {
				t.Errorf("%s: %s, want %s with %q", a.Verdict, a.Message, test.want, test.text)
			}
			Judge(doc)
			if a.Verdict != test.want {
				t.Errorf("judged again: %s", a.Verdict)
			}
		})
	}
}
