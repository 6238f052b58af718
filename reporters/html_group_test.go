package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// A group that changes is drawn over time: its steps, what happened to it, and a row for each rank that
// something happened to. What a damaged document has is left out.
func TestGroupTimeline(t *testing.T) {
	l := &results.Launch{Index: 1, Status: results.OK, Timeline: &results.Timeline{
		Moments: []results.Moment{
			{At: 0.1, What: "order", Rank: -1, By: -1}, {At: 0.2, What: "killed", Rank: 3, By: -1},
			{At: 0.21, What: "noticed", Rank: 3, By: 0}, {At: 0.3, What: "joined", Rank: 5, By: -1},
			{At: 0.3, What: "prepare", Rank: -1, By: -1, Took: 0.05}, {At: -1, What: "left", Rank: 2, By: -1},
			{At: 1, What: "later version's", Rank: 7, By: -1},
		},
		Steps: []results.GroupStep{{At: 0, Took: 0.05, Ranks: 4}, {At: 0.4, Took: 0.05, Ranks: 1},
			{At: 1, Took: -1, Ranks: 4}},
	}}
	c := &results.Case{Key: "e[phase=1]", Workload: "ep_elastic", Status: results.OK, Launches: []*results.Launch{l}}
	figures := groupTimelines([]*results.Case{c, {Key: "none", Status: results.OK}})
	if len(figures) != 1 || !strings.Contains(figures[0].Title, "e[phase=1]") {
		t.Fatalf("%+v", figures)
	}
	chart := figures[0].Charts[0]
	if got := strings.Join(chart.Rows, ","); got != "steps,group,rank 3,rank 5" {
		t.Errorf("rows %s", got)
	}
	groups, says := map[string]int{}, []string{}
	for _, s := range chart.Spans {
		groups[s.Group]++
		says = append(says, s.Says)
	}
	for group, n := range map[string]int{
		"4 ranks": 1, "1 rank": 1, "the order to change": 1, "killed": 1, "masked": 1, "joined": 1,
		"prepares its next steps": 1, "left": 0,
	} {
		if groups[group] != n {
			t.Errorf("%d spans of %q in %v", groups[group], group, groups)
		}
	}
	text := strings.Join(says, "\n")
	for _, want := range []string{"rank 3: killed at 200 ms", "rank 3: masked by rank 0 at 210 ms", "for 50.0 ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	many := make([]*results.Case, mostGroupCases+3)
	for i := range many {
		many[i] = c
	}
	if f := groupTimelines(many); len(f) != mostGroupCases || !strings.Contains(f[len(f)-1].Note, "3 further cases") {
		t.Errorf("%d figures, %s", len(f), f[len(f)-1].Note)
	}
}

// Waits of ranks for each other are a heat map for each operation; the darkest cell is the longest.
func TestWaitMaps(t *testing.T) {
	l := &results.Launch{Status: results.OK, Waits: []results.Waits{
		{Operation: "dispatch", Mean: [][]float64{{0, 2e-3}, {1e-3, 0}}},
		{Operation: "combine", Mean: [][]float64{{0, 0}, {0, 0}}},
	}}
	c := &results.Case{Key: "a", Workload: "ep", Status: results.OK, Launches: []*results.Launch{l}}
	figures := newDraft(workload.NewDefinitions(nil)).waits([]*results.Case{c})
	if len(figures) != 1 || len(figures[0].Charts) != 2 {
		t.Fatalf("%+v", figures)
	}
	chart := figures[0].Charts[0]
	if chart.Kind != html.Heat || chart.Title != "dispatch" || len(chart.Rows) != 2 || len(chart.Cells) != 4 ||
		chart.Most != "2.00 ms" {
		t.Errorf("%+v", chart)
	}
	for _, cell := range chart.Cells {
		want := map[[2]int]float64{{0, 1}: 1, {1, 0}: 0.5}[[2]int{cell.Row, cell.Column}]
		if cell.Heat != want || cell.Own != (cell.Row == cell.Column) {
			t.Errorf("%+v", cell)
		}
	}
}
