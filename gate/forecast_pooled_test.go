package gate

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/results"
)

// A calm case among noisy ones is judged by their noise until it has launches enough to show its own: the advice is to
// make these, and not that no number would decide.
func TestAdviceToACalmCaseAmongNoisyOnes(t *testing.T) {
	calm := caseOf("calm", 80, 80.1, 79.9)
	cases := []*results.Case{calm}
	for i := range 8 {
		cases = append(cases, caseOf(fmt.Sprint("noisy", i), 85, 100, 115))
	}
	a := band(p(88), nil, []int{3})
	calm.Assertions = []*results.AssertionVerdict{a}
	o := newEvaluator(docOf(cases...)).judge(item{calm, a})
	if o.verdict != results.InconclusiveVerdict || o.obstacle.change != "set launches: 5 or more" ||
		has(o.reasons, "too-noisy") {
		t.Errorf("%s, advice %q: %v", o.verdict, o.obstacle.change, o.reasons)
	}
	more := caseOf("calm", 80, 80.1, 79.9, 80, 80.05)
	b := band(p(88), nil, []int{5})
	more.Assertions = []*results.AssertionVerdict{b}
	for _, c := range cases[1:] {
		c.Launches = append(c.Launches, caseOf(c.Key, 1, 1, 1, 95, 105).Launches[3:]...)
	}
	if Judge(docOf(append(cases[1:], more)...)); b.Verdict != results.Fail {
		t.Errorf("with five launches: %s: %s", b.Verdict, b.Message)
	}
}
