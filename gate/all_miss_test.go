package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// All launches that miss fail, also if one misses by so far that the interval has the bound in it. Few launches, and
// one that does not miss, leave it open.
func TestLaunchesThatAllMissFail(t *testing.T) {
	far := []float64{90, 91, 89, 90, 92, 90, 0.01, 88, 91, 90, 89, 90}
	one := append([]float64{101}, far[1:]...)
	slow := make([]float64, len(far))
	for i, v := range far {
		slow[i] = 10000 / v
	}
	for name, test := range map[string]struct {
		values       []float64
		lower, upper *float64
		looks        []int
		want         results.Verdict
	}{
		"all below a lower bound":     {far, p(95), nil, []int{12}, results.Fail},
		"far below it":                {far, p(1000), nil, []int{12}, results.Fail},
		"over several looks":          {far, p(95), nil, []int{3, 5, 8, 12}, results.Fail},
		"all above an upper bound":    {slow, nil, p(105), []int{12}, results.Fail},
		"one within":                  {one, p(100), nil, []int{12}, results.InconclusiveVerdict},
		"most above an upper bound":   {far, nil, p(80), []int{12}, results.InconclusiveVerdict},
		"too few launches":            {far[4:8], p(95), nil, []int{4}, results.InconclusiveVerdict},
		"as many as the error allows": {far[3:9], p(95), nil, []int{6}, results.Fail},
		"one launch on the other side": {
			append([]float64{900}, far[1:]...), p(95), p(100), []int{12}, results.InconclusiveVerdict,
		},
	} {
		c := caseOf("c", test.values...)
		a := band(test.lower, test.upper, test.looks)
		c.Assertions = []*results.AssertionVerdict{a}
		Judge(docOf(c))
		if a.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", name, a.Verdict, test.want, a.Message)
		}
	}
}

// A gain of a time is 1 less a ratio, so the side of a miss is reversed in what its author wrote.
func TestAnImpliedMissOfAGainIsToldAsWritten(t *testing.T) {
	for name, odd := range map[string]float64{"one launch far slower": 90000, "none": 90} {
		doc, a := regression([]float64{90, 91, 89, 90, 92, 90, odd, 88, 91, 90, 89, 90},
			[]float64{40, 41, 40, 39, 40, 41, 40, 40, 39, 40, 41, 40})
		ratio := a.Subject
		a.Subject = &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{{Op: assertion.Const, Value: 1}, ratio}}
		a.Bounds, a.Looks = assertion.Bounds{Lower: p(-0.1)}, []int{12}
		Judge(doc)
		if a.Verdict != results.Fail || !strings.Contains(a.Message, "< -0.1") {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
	}
}

// That is also so against a baseline, where the launches of a ratio are not alone.
func TestOutliersThatOnlyAddToAMissExcuseNone(t *testing.T) {
	for name, test := range map[string]struct {
		odd  float64
		want results.Verdict
	}{
		"an outlier that adds to the miss":   {0.01, results.Fail},
		"an outlier on the other side":       {900, results.InconclusiveVerdict},
		"none":                               {50, results.Fail},
		"an outlier that is not beyond them": {52, results.Fail},
	} {
		doc, a := regression([]float64{50, 51, 49, 50, 52, 50, test.odd, 48, 51, 50, 49, 50},
			[]float64{100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100, 101})
		a.Looks = []int{12}
		Judge(doc)
		if a.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", name, a.Verdict, test.want, a.Message)
		}
	}
}
