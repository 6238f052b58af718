package reporters

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

func TestServicesInReports(t *testing.T) {
	start := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	doc := &results.Document{Services: []results.Service{
		{
			Name: "web", Node: "n1", Fresh: "launch", For: "a/0", Started: start, Ready: 0.2, Lasted: 2,
			Status: results.OK,
		},
		{
			Name: "db", Node: "n2", Fresh: "session", Started: start, Lasted: 1, Status: "failed",
			Failure: &results.Failure{Rank: -1, Cause: "service db: it ended"},
		},
		{
			Name: "web", Node: "n1", Fresh: "launch", For: "a/1", Started: start.Add(2 * time.Second), Ready: 0.1,
			Lasted: 2, Status: results.OK,
		},
	}}
	want := []string{
		"web on n1: 2 starts, fresh for each launch; ready after 100 ms to 200 ms",
		"db on n2: 1 start; 1 failed: service db: it ended",
	}
	if got := services(doc); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if text := markdown(doc, markdownBudget); !strings.Contains(text, "## Services") ||
		!strings.Contains(text, "2 starts, fresh for each launch") {
		t.Error(text)
	}
	chart := timeline(doc).Charts[0]
	if !slices.Contains(chart.Rows, "service web") ||
		!slices.ContainsFunc(chart.Spans, func(s html.Span) bool { return strings.Contains(s.Says, "it ended") }) {
		t.Errorf("%+v", chart)
	}
}
