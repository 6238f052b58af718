package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// A terminal gets the first findings of each verdict, and the number of the others.
func TestATerminalShowsSomeFindings(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Session: results.Session{Status: results.Failed}}
	for i := range mostFindings + 23 {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: fmt.Sprintf("a[n=%d]", i), Run: "a", Workload: "transfer", Status: results.OK,
			Assertions: []*results.AssertionVerdict{{
				Verdict: results.Fail, Message: "too slow",
				Assertion: assertion.Assertion{Name: fmt.Sprint("floor ", i), Severity: assertion.Gate},
			}},
		})
	}
	var text strings.Builder
	if err := Table(&text, doc, Look{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "too slow"); n != mostFindings ||
		!strings.Contains(text.String(), "… and 23 more with verdict fail; report.md has them") {
		t.Errorf("%d findings: %s", n, text.String())
	}
}

// Findings of one assertion are one, that of the case farthest from its bound; what was promised, what was found and
// what explains it have lines of their own. What few launches may have missed is said once.
func TestFindingsOfAnAssertionAreOne(t *testing.T) {
	low := 10.
	doc := &results.Document{Schema: results.Schema, Session: results.Session{Status: results.Failed}}
	for i := range 6 {
		c := &results.Case{Key: fmt.Sprintf("a[n=%d]", i), Run: "a", Workload: "transfer", Status: results.OK}
		for _, verdict := range []results.Verdict{results.Fail, results.Pass} {
			a := &results.AssertionVerdict{
				Verdict: verdict,
				Reasons: []results.Reason{
					{Kind: results.ReasonKind(fmt.Sprintf("bandwidth %d GB/s < 10 GB/s; 5%% below", i))},
					{Kind: "the path carries 8"},
				},
				Assertion: assertion.Assertion{
					Name: "floor " + string(verdict), Text: "bandwidth >= 10 GB/s", Severity: assertion.Gate,
					Bounds: assertion.Bounds{Lower: &low},
				},
				Observed: &results.Observed{Value: float64(5 + (i+3)%6)},
			}
			if verdict == results.Pass {
				a.Reasons = []results.Reason{results.Because(results.UnseenMode, results.Count("launches", 3, "launch"),
					results.Number("share", 0.66, "share"))}
			}
			a.Message = wording.Message(a.Reasons)
			c.Assertions = append(c.Assertions, a)
		}
		doc.Cases = append(doc.Cases, c)
	}
	doc.Assertions = append(doc.Assertions, doc.Cases[0].Assertions[1])
	text := drawn(t, doc, false, 80)
	for _, want := range []string{
		"✗ fail  floor fail: bandwidth >= 10 GB/s  a[n=3] … and 5 more cases\n" +
			"    bandwidth 3 GB/s < 10 GB/s; 5% below\n" +
			"    the path carries 8; also in a[n=0], a[n=1], a[n=2], … and 2 more\n" +
			"    again: weir run '' --only 'a'\n",
		"\n  passes: 3 launches were not slow, but up to 66% of all launches may be\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no\n%s\nin\n%s", want, text)
		}
	}
	if n := strings.Count(text, "not slow"); n != 1 {
		t.Errorf("the slow mode is mentioned %d times", n)
	}
}
