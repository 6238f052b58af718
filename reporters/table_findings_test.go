package reporters

import (
	"fmt"
	"strings"
	"testing"

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
				Assertion: assertion.Assertion{Name: "floor", Severity: assertion.Gate},
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
