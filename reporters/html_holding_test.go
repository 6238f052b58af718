package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// A page lists each assertion without a finding, with what was found or why it was skipped.
func TestPagesListWhatHolds(t *testing.T) {
	doc := read(t, "passed")
	count := 0
	for _, list := range append([][]*results.AssertionVerdict{doc.Assertions}, assertionsOf(doc)...) {
		for _, a := range list {
			switch a.Standing() {
			case "pass", "xfail", "skipped":
				count++
			}
		}
	}
	table := newDraft(workload.DefinitionsOf(doc)).holding(doc)
	if count == 0 || len(table.Rows) != count || table.Folded != (count > openAssertions) {
		t.Fatalf("%d rows, of %d assertions", len(table.Rows), count)
	}
	for _, row := range table.Rows {
		if row.Cells[0] == "" || row.Cells[2] == "" || !strings.Contains("✓ pass ✓ xfail skipped", row.Cells[4]) {
			t.Errorf("%q", row.Cells)
		}
	}
}

func assertionsOf(doc *results.Document) (out [][]*results.AssertionVerdict) {
	for _, c := range doc.Cases {
		out = append(out, c.Assertions)
	}
	return out
}
