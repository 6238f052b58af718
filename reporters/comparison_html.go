package reporters

import (
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// ComparisonHTML writes a comparison as one page for a browser: all changes in a chart and in a table,
// with their geometric means over cases, and details.
func ComparisonHTML(w io.Writer, c *results.Comparison) error {
	d := newDraft(workload.NewDefinitions(nil))
	p := &html.Page{Kind: "comparison", Headline: comparisonHeadline(c),
		Title: plain(clip(sentence(" against ", comparedName(c.New), comparedName(c.Base)), " …")),
		Brief: plain(clip(strings.TrimSuffix(environmentText(c), "; what differs:"), " …"))}
	standing := comparisonStanding(c)
	p.Sign, p.Status = symbols[standing], standing
	if c.Simulated {
		p.Banner = partlySimulated
	}
	var f facts
	f.add("base", comparedText(c.Base))
	f.add("new", comparedText(c.New))
	for _, s := range c.Shifts {
		f.add("together", s.String())
	}
	p.Facts = f
	r := html.Run{ID: "changes", Name: "Changes", Figures: changesOf(c), Table: html.Table{
		Caption: plural(len(c.Effects), "change"), Folded: len(c.Effects) > mostRows,
	}}
	for _, col := range effectColumns(c) {
		r.Table.Columns = append(r.Table.Columns, html.Column{Head: col.head, Right: col.right})
	}
	for _, e := range effectRows(c) {
		row := html.Row{Class: rowClass(standingOf(e.Verdict))}
		if e.Verdict == "" {
			row.Class = ""
		}
		for _, col := range effectColumns(c) {
			row.Cells = append(row.Cells, col.cell(e))
		}
		r.Table.Rows = append(r.Table.Rows, row)
	}
	p.Runs = []html.Run{r}
	var lines []string
	for _, told := range details(c, true) {
		lines = append(lines, clip(fmt.Sprintf("%s %s: %s", effectLabel(told.verdict),
			sentence(", ", told.names...), told.text), " …"))
	}
	for _, n := range []html.Note{
		{Title: "Details", Lines: lines}, {Title: "What else differs", Lines: firstOf(differenceTexts(c.Differences))},
		{Title: "Not compared", Lines: leftOvers(c)}, {Title: "How to read it", Lines: effectLegend(c)},
	} {
		if len(n.Lines) > 0 {
			p.Notes = append(p.Notes, n)
		}
	}
	p.Definitions = d.definitions
	return p.Write(w)
}

// comparedName names one side briefly.
func comparedName(side results.Compared) string {
	if side.Part != "" {
		return side.Part
	}
	return side.Session
}

// changesOf are charts of changes that are ratios, one for each metric.
func changesOf(c *results.Comparison) []html.Figure {
	var order []string
	of := map[string][]*results.Effect{}
	for _, e := range effectRows(c) {
		if e.Change == nil || e.Additive || !drawable(e.Change.Value) {
			continue
		}
		if of[e.Metric] == nil {
			order = append(order, e.Metric)
		}
		of[e.Metric] = append(of[e.Metric], e)
	}
	var out []html.Figure
	for _, metric := range order[:min(len(order), mostFigures)] {
		f := html.Figure{Title: plain(metric) + ", change"}
		chart := html.Chart{Kind: html.Bars, Name: "changes of " + plain(metric),
			Y: html.Axis{Unit: "%"}, Band: "no regression",
			Interval: results.PercentText(c.Confidence) + " interval"}
		series := html.Series{}
		all := of[metric]
		if len(all) > mostBars {
			f.Note = fmt.Sprintf("%d further changes are in the table only", len(all)-mostBars)
			all = append(all[:mostBars-1:mostBars-1], all[len(all)-1]) // the mean comes last
		}
		for i, e := range all {
			p := html.Point{X: float64(i), Y: e.Change.Value - 1}
			if e.Change.CI != nil && drawable(e.Change.CI[0]) && drawable(e.Change.CI[1]) {
				p.CI = &[2]float64{e.Change.CI[0] - 1, e.Change.CI[1] - 1}
			}
			value, low, high := e.ChangeText()
			p.Says = []string{sentence(" ", plain(e.Case)+":", value, parenthesis(sentence(" to ", low, high)))}
			if e.Base != nil && e.New != nil {
				p.Says = append(p.Says, "before "+e.Base.String(), "after "+e.New.String())
			}
			if class := rowClass(standingOf(e.Verdict)); e.Verdict != "" && (class == "bad" || class == "doubt") {
				p.Sign = symbols[standingOf(e.Verdict)]
			}
			edge := -c.Margin
			if e.Better == string(results.Lower) {
				edge = c.Margin
				p.Upper = &edge
			} else if e.Better == string(results.Higher) {
				p.Lower = &edge
			}
			series.Points = append(series.Points, p)
			chart.Rows = append(chart.Rows, plain(clip(e.Case, " …")))
		}
		chart.Series = []html.Series{series}
		f.Charts = []html.Chart{chart}
		out = append(out, f)
	}
	return out
}
