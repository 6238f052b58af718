package reporters

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// ComparisonHTML writes comparisons with the same base as one page for a browser: all changes in a chart and in a
// table, with their geometric means over cases, and details. Several comparisons have one table in front. home is the
// list of sessions, or "".
func ComparisonHTML(w io.Writer, home string, all ...*results.Comparison) error {
	d := newDraft(workload.NewDefinitions(nil))
	worst := slices.MinFunc(all, func(a, b *results.Comparison) int {
		return rank(comparisonStanding(a)) - rank(comparisonStanding(b))
	})
	p := &html.Page{Kind: "comparison", Home: home, Headline: comparisonHeadline(worst),
		Title: plain(clip(sentence(" against ", comparedName(worst.New), comparedName(worst.Base)), " …")),
		Brief: plain(clip(strings.TrimSuffix(environmentText(worst), "; what differs:"), " …"))}
	standing := comparisonStanding(worst)
	p.Sign, p.Status = symbols[standing], standing
	if slices.ContainsFunc(all, func(c *results.Comparison) bool { return c.Simulated }) {
		p.Banner = partlySimulated
	}
	var f facts
	if len(all) == 1 {
		f.add("base", comparedText(worst.Base))
		f.add("new", comparedText(worst.New))
	} else {
		p.Title = plural(len(all)+1, "document") + " compared"
		f.add(letter(0), comparedText(all[0].Base))
		names := []string{letter(0) + " is " + documentName(all[0].Base)}
		for i, c := range all {
			f.add(letter(i+1), comparedText(c.New))
			names = append(names, letter(i+1)+" is "+documentName(c.New))
		}
		p.Brief = plain(clip(strings.Join(names, ", "), " …"))
		p.Runs = append(p.Runs, acrossRun(all))
	}
	for i, c := range all {
		for _, s := range c.Shifts {
			f.add("together", s.String())
		}
		of := ""
		if len(all) > 1 {
			of = letter(i+1) + " against " + letter(0)
		}
		p.Runs = append(p.Runs, changedRun(c, of))
		p.Notes = append(p.Notes, comparisonNotes(c, of)...)
	}
	p.Facts = f
	p.Definitions = d.definitions
	return p.Write(w)
}

// changedRun is the chart and the table of one comparison; of names it among several.
func changedRun(c *results.Comparison, of string) html.Run {
	effects := effectRows(c)
	r := html.Run{ID: "changes", Name: "Changes", Figures: changesOf(c)}
	r.Table = *tableOf(effectColumns(c), effects).page()
	r.Table.Caption, r.Table.Folded = plural(len(c.Effects), "change"), len(c.Effects) > mostRows
	if of != "" {
		r.ID, r.Name = "changes-"+of[:1], of
		r.Table.Caption += " of " + of
	}
	for i, col := range r.Table.Columns {
		r.Table.Columns[i].Verdict = col.Head == verdictColumn
	}
	for i, e := range effects {
		if e.Verdict != "" {
			r.Table.Rows[i].Class = rowClass(standingOf(e.Verdict))
		}
	}
	return r
}

func comparisonNotes(c *results.Comparison, of string) (notes []html.Note) {
	var lines []string
	for _, d := range details(c, true) {
		lines = append(lines, clip(fmt.Sprintf("%s %s: %s", effectLabel(d.verdict),
			sentence(", ", d.names...), d.text), " …"))
	}
	for _, n := range []html.Note{
		{Title: "Details", Lines: lines}, {Title: "What else differs", Lines: firstOf(differenceTexts(c.Differences))},
		{Title: "Not compared", Lines: leftOvers(c)}, {Title: "How to read it", Lines: effectLegend(c)},
	} {
		if len(n.Lines) > 0 {
			n.Title = sentence(": ", of, n.Title)
			notes = append(notes, n)
		}
	}
	return notes
}

// comparedName names one side briefly.
func comparedName(side results.Compared) string {
	if side.Part != "" {
		return side.Part
	}
	return side.Session
}

// documentName names one of several documents briefly: its part, its file or else its session.
func documentName(side results.Compared) string {
	return cmp.Or(side.Part, side.File, side.Session)
}

// changesOf are charts of changes that are ratios, one for each metric.
func changesOf(c *results.Comparison) []html.Figure {
	var of ordered.Groups[string, *results.Effect]
	for _, e := range effectRows(c) {
		if e.Change == nil || e.Additive || !drawable(e.Change.Value) {
			continue
		}
		of.Add(e.Metric, e)
	}
	var out []html.Figure
	for _, metric := range of.Keys()[:min(len(of.Keys()), mostFigures)] {
		f := html.Figure{Title: plain(metric) + ", change"}
		chart := html.Chart{Kind: html.Bars, Name: "changes of " + plain(metric),
			Y: html.Axis{Unit: "%", Signed: true}, Band: "no regression",
			Interval: results.PercentText(c.Confidence) + " interval"}
		series := html.Series{}
		all := of.Of(metric)
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
