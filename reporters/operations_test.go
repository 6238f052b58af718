package reporters

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// What is odd about operations that did not fail is reported in all reports that people read.
func TestReportsTellOddOperations(t *testing.T) {
	doc := chosenByWeir()
	l := doc.Cases[0].Launches[0]
	l.Notes = []results.Cause{{Text: "usage is not believed", Count: 3}, {Text: "late", Count: 2}}
	doc.Cases[0].Launches = append(doc.Cases[0].Launches, &results.Launch{
		Index: 1, Status: results.OK, Notes: []results.Cause{{Text: "late", Count: 5}},
	})
	for _, format := range []string{"markdown", "html", "table"} {
		got := written(t, format, doc)
		late := strings.Index(got, "late (7 operations of c)")
		usage := strings.Index(got, "usage is not believed (3 operations of c)")
		if late < 0 || usage < late {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// Advice that differs by the size of blocks is one line, with that of most launches for each case.
func TestOddOperationsOfOneKindAreOneLine(t *testing.T) {
	of := func(key string, enough ...int) *results.Case {
		c := &results.Case{Key: key}
		for i, n := range enough {
			text := fmt.Sprintf("time stamps took over 5 %% of it: set iterations: %d, or duration", n)
			c.Launches = append(c.Launches, &results.Launch{Index: i, Notes: []results.Cause{{Text: text, Count: 10}}})
		}
		return c
	}
	doc := &results.Document{Cases: []*results.Case{
		of("w[ucx]", 1000, 1000), of("w[shm]", 100000, 10000, 10000), of("w[tcp]", 10000),
	}}
	const want = "time stamps took over 5 % of it: set iterations: 10000, or duration (40 operations of w[shm], w[tcp]); " +
		"1000 (20 operations of w[ucx])"
	if got := oddOperations(doc); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}

// A note on the metric of an assertion that does not hold stands with it, once, in all reports.
func TestNotesStandWithWhatTheyExplain(t *testing.T) {
	const note = "found.concurrency is 0: at concurrency 2 ttft.p90 is 51.9 ms, promised <= 40ms"
	doc := read(t, "failed")
	c := doc.Cases[slices.IndexFunc(doc.Cases, func(c *results.Case) bool { return standing(c) == "fail" })]
	a := c.Assertions[slices.IndexFunc(c.Assertions, func(a *results.AssertionVerdict) bool {
		return a.Verdict == results.Fail && a.Subject != nil
	})]
	a.Subject = &assertion.Expr{Op: assertion.Metric, Metric: "found.concurrency"}
	c.Launches[0].Notes = []results.Cause{{Text: note, Count: 9}}
	for _, format := range []string{"table", "markdown", "comment", "html", "junit", "github"} {
		text := strings.NewReplacer("&lt;", "<", `\<`, "<").Replace(written(t, format, doc))
		if n := strings.Count(text, note); n != 1 {
			t.Errorf("%s has it %d times", format, n)
		}
	}
}
