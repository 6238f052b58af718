package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// TestLinesOfACauseStayLines in reports for people, and are shown once.
func TestLinesOfACauseStayLines(t *testing.T) {
	table := "Block Size (B)      B/W (GB/Sec)\n4096                1.5"
	f := &results.Failure{Rank: 0, Node: "n1", Phase: "run", Kind: results.Crashed,
		Cause: "role a: exit status 3 in case c\nstdout ends with:\n" + table,
		Log:   append(strings.Split(table, "\n"), "weir rank: role a: exit status 3")}
	c := &results.Case{Key: "c", Run: "c", Workload: "command", Status: results.Error,
		Reason:   results.LaunchName(0) + ": " + f.String(),
		Launches: []*results.Launch{{Status: results.Error, Nodes: []string{"n1"}, Failure: f}}}
	doc := &results.Document{Cases: []*results.Case{c}}
	fs := findings(doc, "error")
	if len(fs) != 1 || fs[0].message != "the case ended with an error: launch 1: rank 0 on n1, phase run: role a: exit status 3 in case c" {
		t.Fatalf("%+v", fs)
	}
	if got := strings.Join(fs[0].log, "\n"); got != "stdout ends with:\n"+table {
		t.Errorf("%s", got)
	}
	c.MayFail = &results.MayFail{Message: "it may"}
	if first, lines := splitLines(reason(c)); !strings.HasSuffix(first, "in case c; it may") || len(lines) != 3 {
		t.Errorf("%s, %q", first, lines)
	}
	f.Cause, c.MayFail = "role a: exit status 3", nil
	c.Reason = f.String()
	if got := findings(doc, "error")[0].log; len(got) != 2 || got[1] != "4096                1.5" {
		t.Errorf("what the rank said is reported again: %q", got)
	}
}
