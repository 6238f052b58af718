package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// An inconclusive case is run again with the launches that would decide it, not with those that did not.
func TestAgainAsksForLaunchesThatDecide(t *testing.T) {
	doc := read(t, "failed")
	doc.Session.Again = []string{"weir", "run", "x.yaml", "--launches", "3"}
	f := finding{
		of: doc.Cases[0], standing: string(results.InconclusiveVerdict),
		assertion: &results.AssertionVerdict{Deciding: 34},
	}
	if got := again(doc, f); !strings.HasSuffix(got, " --launches 34") || strings.Contains(got, "--launches 3 ") {
		t.Error(got)
	}
	f.standing = string(results.Fail)
	if got := again(doc, f); !strings.Contains(got, "--launches 3 ") {
		t.Error(got)
	}
	f.standing = string(results.InconclusiveVerdict)
	f.assertion.Reasons = []results.Reason{{Kind: results.Undecidable}}
	if got := again(doc, f); got != "" {
		t.Error("more launches are as inconclusive, but the finding has", got)
	}
}
