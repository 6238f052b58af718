package gate

import (
	"strings"
	"testing"

	"weir/results"
)

const busyHost = "rank 0 on n1 waited for a processor 51 % of the time that it could run while it measured (load 4)"

// voidly makes launches of a case void, with values that would fail any gate.
func voidly(c *results.Case, indices ...int) {
	for _, i := range indices {
		c.Launches[i].Void = busyHost
	}
}

func TestVoidLaunchesDecideNothing(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		void   []int
		looks  []int
		want   results.Verdict
		text   string
	}{
		"none":       {[]float64{1, 1.01, 0.99}, nil, []int{3}, results.Pass, ""},
		"made again": {[]float64{1, 0.1, 1.01, 0.99}, []int{1}, []int{3}, results.Pass, ""},
		"all would fail": {[]float64{0.1, 0.1, 0.1}, []int{0, 1, 2}, []int{3}, results.InconclusiveVerdict,
			"3 are of 3 launches void, the last because rank 0 on n1"},
		"all would pass": {[]float64{1, 1, 1}, []int{0, 1, 2}, []int{3}, results.InconclusiveVerdict,
			"nothing was measured that counts"},
		"too few are left": {[]float64{0.1, 0.1, 1, 0.1}, []int{0, 1, 3}, []int{3}, results.InconclusiveVerdict,
			"3 are of 4 launches void"},
		"a fault that is no load": {[]float64{0.1, 0.5, 0.51, 0.5}, []int{0}, []int{3}, results.Fail,
			"1 is of 4 launches void"},
	} {
		t.Run(name, func(t *testing.T) {
			c := caseOf("a", test.values...)
			voidly(c, test.void...)
			a := band(p(0.9), nil, test.looks)
			judged(c, a)
			if a.Verdict != test.want || !strings.Contains(a.Message, test.text) {
				t.Errorf("%s: %s, want %s with %q", a.Verdict, a.Message, test.want, test.text)
			}
		})
	}
}
