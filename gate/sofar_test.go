package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// What is shown while a session runs is what the verdict will say of the same launches.
func TestSoFarAgreesWithTheVerdict(t *testing.T) {
	bound := 1.
	c := caseOf("a", 10, 11, 12)
	a := assertion.Assertion{Name: "n", Text: "t", Severity: assertion.Gate, Unit: "GB/s",
		Bounds:  assertion.Bounds{Lower: &bound},
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}}
	c.Assertions = []*results.AssertionVerdict{{Assertion: a, Looks: []int{3}}}
	got, ok := SoFar(workload.NewDefinitions(nil), c, &a)
	Judge(docOf(c))
	want := c.Assertions[0].Observed
	if !ok || want == nil || got.Value != want.Value || got.N != want.N || got.CI == nil || *got.CI != *want.CI {
		t.Errorf("so far %v, %v; the verdict has %v", got, ok, want)
	}
	if one, ok := SoFar(workload.NewDefinitions(nil), caseOf("a", 10), &a); !ok || one.CI != nil || one.N != 1 {
		t.Errorf("of one launch: %v, %v", one, ok)
	}
	if _, ok := SoFar(workload.NewDefinitions(nil), caseOf("a"), &a); ok {
		t.Error("an estimate of nothing")
	}
	other := a
	other.Subject = &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: "b"}
	if _, ok := SoFar(workload.NewDefinitions(nil), c, &other); ok {
		t.Error("an estimate of another case")
	}
	if _, ok := SoFar(workload.NewDefinitions(nil), c, &assertion.Assertion{Transport: &assertion.Transport{}}); ok {
		t.Error("an estimate of a transport")
	}
}
