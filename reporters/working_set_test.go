package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Reports say what requests went over, and whether a cache held it: in the row of each
// case, and once for each run with the size of the cache.
func TestReportsSayHotOrCold(t *testing.T) {
	const mib = 1 << 20
	doc := read(t, "passed")
	sets := []*results.WorkingSet{
		{Node: 8 << 10, Cache: 32 * mib}, {Node: 2 * mib, Cache: 32 * mib}, {Node: 128 * mib, Cache: 32 * mib},
		{Node: 3 * mib},
	}
	if len(doc.Cases) < len(sets) {
		t.Fatalf("%d cases", len(doc.Cases))
	}
	for i, c := range doc.Cases[:len(sets)] {
		c.Run = "sets"
		for _, l := range c.Launches {
			l.WorkingSet = sets[i]
		}
	}
	want := []string{
		"8KiB, hot", "2MiB, hot", "128MiB, cold", "3MiB",
		"sets, 2 cases: 8KiB to 2MiB working set on a node, last-level cache 32MiB: hot",
		"sets, 1 case: 128MiB working set on a node, last-level cache 32MiB: cold",
		"sets, 1 case: 3MiB working set on a node, last-level cache of unknown size",
	}
	for format, lines := range map[string][]string{"markdown": want, "html": want, "table": want[:4]} {
		got := written(t, format, doc)
		for _, line := range lines {
			if !strings.Contains(got, line) {
				t.Errorf("%s does not say %q", format, line)
			}
		}
	}
}

// The working set of a case is the largest of its launches that count, and a case
// without one has none.
func TestWorkingSetOfACase(t *testing.T) {
	c := &results.Case{Launches: []*results.Launch{
		{Status: results.OK}, {Status: results.OK, WorkingSet: &results.WorkingSet{Node: 5}},
		{Status: results.OK, WorkingSet: &results.WorkingSet{Node: 4}}, {
			Status: results.Error, WorkingSet: &results.WorkingSet{Node: 9},
		},
	}}
	if w := workingSet(c); w == nil || w.Node != 5 {
		t.Errorf("%+v", w)
	}
	if got := workingSetCell(&results.Case{}); got != "-" {
		t.Errorf("%q", got)
	}
}
