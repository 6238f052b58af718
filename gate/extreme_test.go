package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// The largest of equal cases is not above their value because one of them is so by chance, and no case that a verdict
// rests on is the winner of a draw.
func TestExtremesAtTheirBound(t *testing.T) {
	const cases, sessions = 16, 150
	for _, test := range []struct {
		op     assertion.Op
		bounds assertion.Bounds
	}{
		{assertion.Max, assertion.Bounds{Upper: p(1)}},
		{assertion.Min, assertion.Bounds{Lower: p(1)}},
	} {
		count := map[results.Verdict]int{}
		for seed := range uint64(sessions) {
			r := rand.New(rand.NewPCG(seed, 3))
			doc := docOf()
			subject := &assertion.Expr{Op: test.op}
			for k := range cases {
				values := make([]float64, 12)
				for i := range values {
					values[i] = 1 + 0.05*r.NormFloat64()
				}
				key := fmt.Sprint("c", k)
				doc.Cases = append(doc.Cases, caseOf(key, values...))
				subject.Args = append(subject.Args, of(key, "bandwidth", "GB/s"))
			}
			a := band(nil, nil, []int{12})
			a.Subject, a.Bounds = subject, test.bounds
			doc.Assertions = []*results.AssertionVerdict{a}
			Judge(doc)
			count[a.Verdict]++
		}
		if wrong := count[results.Fail] + count[results.Pass]; wrong > sessions*5/100 {
			t.Errorf("%s: %v", test.op, count)
		}
	}
}

// The largest of several counts fails a bound of 0 at the first error, as each of them does.
func TestOneErrorRefutesTheLargestOfCounts(t *testing.T) {
	none, one := caseOf("a", 0, 0, 0), caseOf("b", 0, 0, 3)
	subject := &assertion.Expr{Op: assertion.Max, Args: []*assertion.Expr{of("a", "errors", ""), of("b", "errors", "")}}
	a := counts(bounded(subject, assertion.Bounds{Upper: p(0)}, []int{3}), none, one)
	if a.Verdict != results.Fail || !has(a.Reasons, "above-least") {
		t.Errorf("%s: %s", a.Verdict, a.Message)
	}
}

func TestExtremesThatAreClear(t *testing.T) {
	quick, slow := caseOf("a", 9, 9.1, 8.9, 9, 9), caseOf("b", 12, 12.1, 11.9, 12, 12)
	for bound, want := range map[float64]results.Verdict{11: results.Fail, 13: results.Pass} {
		a := band(nil, p(bound), []int{5})
		a.Subject = &assertion.Expr{Op: assertion.Max, Args: []*assertion.Expr{
			of("a", "bandwidth", "GB/s"), of("b", "bandwidth", "GB/s"),
		}}
		doc := docOf(quick, slow)
		doc.Assertions = []*results.AssertionVerdict{a}
		if Judge(doc); a.Verdict != want || a.Observed.Value != 12 && a.Observed.Value < 11.9 {
			t.Errorf("<= %v: %s: %s", bound, a.Verdict, a.Message)
		}
	}
}
