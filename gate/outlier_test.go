package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Launches that a busy host slows as a whole have no outlier in what two of their cases differ by.
func TestPairedStepsMarkOutliersOfTheDifference(t *testing.T) {
	slow := []bool{false, true, false, false, true, false, true, false, false, true, false, true}
	var x, y []float64
	r := rand.New(rand.NewPCG(3, 1))
	for _, s := range slow {
		f := math.Exp(0.01 * r.NormFloat64())
		if s {
			f *= 0.55
		}
		x = append(x, 4*f*math.Exp(0.005*r.NormFloat64()))
		y = append(y, 6.5*f*math.Exp(0.005*r.NormFloat64()))
	}
	cases, keys := series(x, y)
	a := trend("increases", 0, []int{12}, keys...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	wantVerdict(t, a, results.Pass)
	if strings.Contains(a.Message, "outlier") {
		t.Errorf("message %q", a.Message)
	}
}

// A lone launch in which the two cases differ is one, and a step that hangs on it is not shown.
func TestPairedStepHangsOnAnOutlier(t *testing.T) {
	x := mixed(60, []float64{4, 4.01, 3.99}, 0, nil)
	y := mixed(53, []float64{3.96, 3.97, 3.95}, 7, []float64{4.6, 4.61})
	cases, keys := series(x, y)
	a := trend("increases", 0, []int{60}, keys...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
}

// Launches that stand out on both sides of the others are no mode of their own: no launch is near their mean.
func TestLaunchesThatStandOutOnBothSides(t *testing.T) {
	for _, c := range []struct {
		values []float64
		kind   results.ReasonKind
	}{
		{[]float64{51.99, 65.81, 65.84, 66.42, 65.83}, results.OwnMode},
		{[]float64{51.99, 65.81, 65.84, 52.01, 65.83}, results.TwoModes},
		{[]float64{81.99, 65.81, 65.84, 82.01, 65.83}, results.TwoModes},
	} {
		a := band(p(60), p(70), []int{5})
		judged(caseOf("c", c.values...), a)
		has := func(kind results.ReasonKind) bool {
			return slices.ContainsFunc(a.Reasons, func(r results.Reason) bool { return r.Kind == kind })
		}
		if !has(c.kind) || has(results.OwnMode) && has(results.TwoModes) {
			t.Errorf("%v: %v", c.values, a.Message)
		}
	}
}

// A slow mode in a fifth of launches is a part of the path: a look of 60 with launches that show a value outside
// of the band fails, and does not wait until the mode is gone.
func TestSecondModeDecides(t *testing.T) {
	failed := 0
	const tries = 200
	for seed := range uint64(tries) {
		r := rand.New(rand.NewPCG(seed, 7))
		fast := 0.87 / math.Pow(0.8, 0.2)
		var values []float64
		for range 60 {
			v := fast * math.Exp(0.005*r.NormFloat64())
			if r.Float64() < 0.2 {
				v *= 0.8
			}
			values = append(values, v)
		}
		a := band(p(0.9), p(1.1), []int{60})
		judged(caseOf("c", values...), a)
		if a.Verdict == results.Fail {
			failed++
		}
		if a.Verdict == results.Pass {
			t.Errorf("seed %d passes: %s", seed, a.Message)
		}
	}
	t.Logf("%d of %d sessions fail", failed, tries)
	if failed < tries*70/100 {
		t.Errorf("%d of %d sessions fail", failed, tries)
	}
}
