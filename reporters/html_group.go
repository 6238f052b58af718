package reporters

import (
	"fmt"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const (
	mostGroupCases = 12  // drawn, of a run
	mostGroupSteps = 400 // bars of a case
)

// groupTimelines draws changing groups of ranks, a figure for each case.
func groupTimelines(cases []*results.Case) (out []html.Figure) {
	more := 0
	for _, c := range cases {
		launch := middle(c, func(l *results.Launch) bool { return l.Timeline != nil })
		switch {
		case launch == nil:
		case len(out) == mostGroupCases:
			more++
		default:
			out = append(out, groupTimeline(c, launch))
		}
	}
	if more > 0 {
		out[len(out)-1].Note += fmt.Sprintf(" %d further cases are not drawn.", more)
	}
	return out
}

// middle is the median launch of those that match; nil: there is none.
func middle(c *results.Case, meant func(*results.Launch) bool) *results.Launch {
	var all []*results.Launch
	for _, l := range c.Succeeded() {
		if meant(l) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[(len(all)-1)/2]
}

// groupTimeline draws one case in one launch: the group's steps and events, and a row for each rank with
// events.
func groupTimeline(c *results.Case, l *results.Launch) html.Figure {
	title := "Group of ranks over time: " + plain(c.Key)
	chart := html.Chart{Kind: html.Spans, Name: title, X: html.Axis{Unit: "s"}, Rows: []string{"steps", "group"}}
	drawable := func(at, took float64) bool { return at >= 0 && took >= 0 && at+took < 1e9 } // excludes damaged values
	for _, s := range evenly(l.Timeline.Steps, mostGroupSteps) {
		if drawable(s.At, s.Took) {
			chart.Spans = append(chart.Spans, html.Span{From: s.At, To: s.At + s.Took, Group: plural(s.Ranks, "rank"),
				Says: fmt.Sprintf("a step of %s: from %s, %s", plural(s.Ranks, "rank"), quantity.FormatTime(s.At),
					quantity.FormatTime(s.Took))})
		}
	}
	var moments map[string]workload.Moment
	if k, ok := workload.Lookup(c.Workload); ok {
		moments = k.Show.Moments
	}
	rows := map[int]int{-1: 1} // events without a rank belong to the group
	for _, m := range l.Timeline.Moments {
		kind, known := moments[m.What]
		if !known || !drawable(m.At, m.Took) {
			continue
		}
		row, there := rows[m.Rank]
		if !there {
			row = len(chart.Rows)
			rows[m.Rank] = row
			chart.Rows = append(chart.Rows, fmt.Sprintf("rank %d", m.Rank))
		}
		what := kind.Text
		if kind.By {
			what = fmt.Sprintf("%s by rank %d", what, m.By)
		}
		span := html.Span{Row: row, From: m.At, To: m.At + m.Took, Group: kind.Text}
		if kind.Fault {
			span.Sign = symbols["fail"]
		}
		span.Says = fmt.Sprintf("%s: %s at %s", chart.Rows[row], what, quantity.FormatTime(m.At))
		if m.Took > 0 {
			span.Says += ", for " + quantity.FormatTime(m.Took)
		}
		chart.Spans = append(chart.Spans, span)
	}
	note := fmt.Sprintf("Seconds since the phase began, in %s.", results.LaunchName(l.Index))
	note += " A bar is a step of all ranks of the group, from the start of its first rank to the end of its last"
	if n := len(l.Timeline.Steps); n > mostGroupSteps {
		note += fmt.Sprintf(" (%d of %d, evenly spread)", mostGroupSteps, n)
	}
	return html.Figure{Title: title, Note: note + ".", Charts: []html.Chart{chart}}
}

// waits draws how long ranks waited for each other: a heat map for each operation of a case.
func (d *draft) waits(cases []*results.Case) (out []html.Figure) {
	cells, left := 0, 0
	for _, c := range cases {
		launch := middle(c, func(l *results.Launch) bool { return len(l.Waits) > 0 })
		if launch == nil {
			continue
		}
		f := html.Figure{
			Title: "Waits of ranks for each other: " + plain(c.Key),
			Note: "Means of " + results.LaunchName(launch.Index) + ", from the start of an operation at a rank" +
				" until all that a source sends in it had come. A dark column is a slow source, a dark row a rank that begins early.",
		}
		for _, w := range launch.Waits {
			if cells += len(w.Mean) * len(w.Mean); cells > mostCells {
				left++
				continue
			}
			f.Charts = append(f.Charts, waitMap(w))
		}
		if len(f.Charts) > 0 {
			out = append(out, f)
		}
	}
	if left > 0 && len(out) > 0 {
		out[len(out)-1].Note += fmt.Sprintf(" %s not drawn.", plural(left, "further heat map"))
	}
	return out
}

// waitMap is the heat map of an operation: a row for each waiting rank, a column for each source.
func waitMap(w results.Waits) html.Chart {
	title := plain(w.Operation)
	c := html.Chart{Kind: html.Heat, Name: "waits in " + title, Title: title, X: html.Axis{Name: "for rank"},
		Y: html.Axis{Name: "rank that waits"}}
	most := 0.
	for rank, row := range w.Mean {
		c.Rows = append(c.Rows, fmt.Sprint(rank))
		for _, v := range row {
			most = max(most, v)
		}
	}
	c.Columns = c.Rows
	for rank, row := range w.Mean {
		for source, v := range row {
			if source >= len(w.Mean) || !(v >= 0 && v < 1e9) { // damaged value
				continue
			}
			heat := 0.
			if most > 0 {
				heat = float64(int(1000*v/most)) / 1000
			}
			c.Cells = append(c.Cells, html.Cell{Row: rank, Column: source, Heat: heat, Own: rank == source,
				Says: fmt.Sprintf("rank %d waits for rank %d: %s", rank, source, quantity.FormatTime(v))})
		}
	}
	c.Least, c.Most = quantity.FormatTime(0), quantity.FormatTime(most)
	return c
}
