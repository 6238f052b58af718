package reporters

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// A session without assertions passes no judgement: no report for people says that it passed.
func TestNothingIsJudgedWithoutAssertions(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Scenario: results.Scenario{Name: "bare"}, Cases: []*results.Case{
		{Key: "c", Run: "c", Workload: "transfer", Status: results.OK, Launches: []*results.Launch{{
			Status: results.OK, Verified: true, Metrics: results.ValuesOf(map[string]float64{"bandwidth": 1}),
		}}},
	}}
	gate.Judge(doc)
	said := map[string]string{"notice": Notice(doc, "")}
	for _, format := range []string{"table", "markdown", "comment", "html", "nixlbench", "ct-perftest", "nixl-ep"} {
		said[format] = written(t, format, doc)
	}
	passed := regexp.MustCompile(`✓|>passed|passed:`)
	for format, text := range said {
		if format == "html" { // without its styles and programs
			text = text[strings.Index(text, "<header"):strings.LastIndex(text, "</main>")]
		}
		const want = "no assertions: nothing was judged; cases: 1 ok; exit code 0"
		if !strings.Contains(text, want) || passed.MatchString(text) {
			t.Errorf("%s: %s", format, text)
		}
	}
}
