package reporters

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// A terminal has a line for a run of many cases, where other reports have one for each case.
func TestManyCasesAreFolded(t *testing.T) {
	doc := &results.Document{}
	add := func(run string, i int, pieces, launches float64, discarded int) {
		c := &results.Case{Key: fmt.Sprintf("%s[i=%d]", run, i), Run: run}
		c.Metrics.Set("bandwidth", results.MetricEstimate{Components: []results.Variance{
			{Of: "pieces", CV: pieces}, {Of: "launches", CV: launches},
		}})
		for k := range 4 {
			l := &results.Launch{}
			if k < discarded {
				l.Discarded = fmt.Sprintf("node n was busy %d", i)
			}
			c.Launches = append(c.Launches, l)
		}
		doc.Cases = append(doc.Cases, c)
	}
	add("few", 0, 0.05, 0.01, 1)
	add("many", 0, 0.02, 0.3, 0)
	add("many", 1, 0.41, 0.1, 1)
	add("few", 1, 0.06, 0.02, 0)
	add("many", 2, 0.03, 0.2, 2)
	add("many", 3, 0.03, 0.2, 1)
	if got, want := variancesShort(doc), []string{
		"bandwidth of few[i=0] varies by 5.0% between parts of a launch, 1.0% between launches",
		"bandwidth of few[i=1] varies by 6.0% between parts of a launch, 2.0% between launches",
		"bandwidth of 4 cases of many varies by 2.0% to 41% between parts of a launch, 10% to 30% between launches",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	void := []string{"5 of 24 measurements of cases discarded (last: node n was busy 3)"}
	if got := discarded(doc); !slices.Equal(got, void) {
		t.Errorf("%q", got)
	}
	if got := len(variances(doc)); got != 6 {
		t.Errorf("%d lines for 6 cases", got)
	}
}
