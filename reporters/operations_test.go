package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
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
		late := strings.Index(got, "late (7 operations in 2 launches of 1 case)")
		usage := strings.Index(got, "usage is not believed (3 operations in 1 launch of 1 case)")
		if late < 0 || usage < late {
			t.Errorf("%s: %s", format, got)
		}
	}
}
