package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Nodes of a session that ran nothing are named where a person reads: two that were to measure between
// them, and one that did, look alike otherwise.
func TestIdleNodesAreNamed(t *testing.T) {
	doc := func(launches []string, service string, nodes ...string) *results.Document {
		d := &results.Document{Session: results.Session{Status: results.Passed}}
		for _, n := range nodes {
			d.Environment.Nodes = append(d.Environment.Nodes, results.Node{Name: n})
		}
		if service != "" {
			d.Services = []results.Service{{Name: "s", Node: service}}
		}
		d.Cases = []*results.Case{{Key: "c", Run: "c", Workload: "transfer", Status: results.OK,
			Launches: []*results.Launch{{Status: results.OK, Nodes: launches}}}}
		return d
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("n%02d", i))
	}
	for _, c := range []struct {
		doc  *results.Document
		says string
	}{
		{doc([]string{"n1", "n1"}, "", "n1", "n2"), "node n2 ran nothing"},
		{doc([]string{"n1"}, "", "n1", "n2", "n3"), "nodes n2, n3 ran nothing"},
		{doc([]string{"n1"}, "n2", "n1", "n2"), ""},
		{doc([]string{"n1", "n2"}, "", "n1", "n2"), ""},
		{doc(nil, "", "n1", "n2"), ""},
		{doc([]string{"n00"}, "", many...), "n08 and 3 more ran nothing"},
	} {
		for _, format := range []string{"markdown", "html"} {
			got := written(t, format, c.doc)
			if c.says == "" && strings.Contains(got, "ran nothing") || !strings.Contains(got, c.says) {
				t.Errorf("%s: no %q in\n%s", format, c.says, got)
			}
		}
		if got := strings.Join(idleNodes(c.doc), "; "); !strings.HasSuffix(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}
