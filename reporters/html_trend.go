package reporters

import (
	"fmt"
	"io"
	"strconv"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// TrendHTML writes a metric over the sessions of a history as one page for a browser: changes with their
// differences, drifts, the course with its levels, and all sessions. home is the list of sessions, or ""; without
// addresses in to they are no links.
func TrendHTML(w io.Writer, t *history.Trend, home string, to Addresses) error {
	d := newDraft(workload.NewDefinitions(nil))
	name := plain(clip(t.Metric+" of "+t.Case, " …"))
	p := &html.Page{
		Kind: "history", Home: home, Title: name, Sign: "=", Status: "unchanged", Headline: changesText(t),
		ChartsFirst: true,
		Banner:      sentence(". ", simulatedSessions(t), definedDifferently(t)),
		Groups:      changes(t),
		Runs: []html.Run{
			{ID: "sessions", Name: "Sessions", Figures: []html.Figure{course(d, t)}, Table: sessionTable(t, to)},
		},
	}
	if len(t.Points) < history.FirstLook {
		p.Status = string(results.InconclusiveVerdict)
		p.Sign = symbols[p.Status]
	}
	if n := len(t.Changes); n > 0 {
		p.Sign, p.Status = effectSign(t.Changes[n-1].Effect)
	}
	if n := len(t.Drifts); n > 0 {
		p.Sign, p.Status = effectSign(t.Drifts[n-1].Effect)
	}
	var f facts
	f.add("scenario", t.Scenario)
	f.add("sessions", strconv.Itoa(len(t.Points)))
	f.add("first", sessionText(t.Points[0]))
	f.add("last", sessionText(t.Points[len(t.Points)-1]))
	f.add("level now", levelText(t, len(t.Levels)-1))
	p.Facts, p.Brief = f, sentence(", ", plain(clip(t.Scenario, " …")), plural(len(t.Points), "session"))
	if len(t.LeftOut) > 0 {
		note := html.Note{Title: fmt.Sprintf("Left out (%d)", len(t.LeftOut))}
		for i, x := range t.LeftOut {
			if i == mostRows {
				note.Lines = append(note.Lines, fmt.Sprintf("… and %d more", len(t.LeftOut)-i))
				break
			}
			note.Lines = append(note.Lines, plain(x.File+": "+x.Reason))
		}
		p.Notes = []html.Note{note}
	}
	p.Definitions = d.definitions
	return p.Write(w)
}

// effectSign is a change as a symbol and a word.
func effectSign(effect string) (sign, word string) {
	switch effect {
	case "worse":
		return symbols["fail"], effect
	case "better":
		return symbols["pass"], effect
	}
	return "≠", "changed"
}

// changes lists the changes of level with their sessions and differences.
func changes(t *history.Trend) []html.Group {
	all := driftsOf(t)
	if len(t.Changes) == 0 {
		return all
	}
	g := html.Group{Title: fmt.Sprintf("Changes of level (%d)", len(t.Changes))}
	for i, c := range t.Changes {
		card := html.Card{
			Where: strconv.Itoa(i + 1), Name: changeText(t, i), Message: betweenText(t, c) + "; " + pText(c.P),
		}
		card.Sign, card.Standing = effectSign(c.Effect)
		if len(c.Differ) == 0 {
			card.Message += "; " + nothingDiffers
		}
		card.Lines = differenceTexts(c.Differ[:min(len(c.Differ), mostDifferences)])
		if more := len(c.Differ) - mostDifferences; more > 0 {
			card.Lines = append(card.Lines, fmt.Sprintf("and %d more; --format json has all", more))
		}
		g.Cards = append(g.Cards, card)
	}
	return append(all, g)
}

// driftsOf lists the drifts.
func driftsOf(t *history.Trend) []html.Group {
	if len(t.Drifts) == 0 {
		return nil
	}
	g := html.Group{Title: fmt.Sprintf("Drifts (%d)", len(t.Drifts))}
	for _, d := range t.Drifts {
		card := html.Card{Name: driftText(t, d), Message: driftedText(t, d) + "; " + pText(d.P)}
		card.Sign, card.Standing = effectSign(d.Effect)
		g.Cards = append(g.Cards, card)
	}
	return []html.Group{g}
}

// course is the chart of all sessions.
func course(d *draft, t *history.Trend) html.Figure {
	scale := axisScale(t.Unit)
	at := func(ci *[2]float64) *[2]float64 {
		if ci == nil || !drawable(ci[0]) || !drawable(ci[1]) {
			return nil
		}
		return &[2]float64{ci[0] * scale.Factor, ci[1] * scale.Factor}
	}
	chart := html.Chart{Kind: html.Lines, Name: plain(t.Metric) + " over the sessions"}
	var values []float64
	sessions := html.Series{Name: "sessions", Style: html.Loose}
	labels := pointLabels(t.Points)
	for i, p := range t.Points {
		chart.X.Ticks = append(chart.X.Ticks, html.Tick{At: float64(i), Label: labels[i]})
		if !drawable(p.Value) {
			continue
		}
		values = append(values, p.Value)
		q := html.Point{X: float64(i), Y: p.Value * scale.Factor, CI: at(p.CI),
			Says: []string{sessionText(p) + ": " + observed(t, p).String()}}
		if q.CI != nil {
			chart.Interval = results.ConfidenceText + " interval"
		}
		sessions.Points = append(sessions.Points, q)
	}
	level := html.Series{Name: "level", Style: html.Steps}
	for i, l := range t.Levels {
		if i > 0 {
			sign, _ := effectSign(t.Changes[i-1].Effect)
			chart.Marks = append(chart.Marks, html.Tick{At: float64(l.From) - 0.5, Label: strconv.Itoa(i) + " " + sign})
		}
		if !drawable(l.Value) {
			continue
		}
		values = append(values, l.Value)
		says := []string{fmt.Sprintf("level of %s: %s", plural(l.To-l.From, "session"), levelText(t, i))}
		for _, x := range []float64{float64(l.From) - 0.5, float64(l.To) - 0.5} {
			level.Points = append(level.Points, html.Point{X: x, Y: l.Value * scale.Factor, CI: at(l.CI), Says: says})
		}
	}
	chart.Y = valueAxis(t.Unit, values)
	chart.Series = []html.Series{sessions, level}
	for _, d := range t.Drifts {
		line := html.Series{Name: "steady drift"}
		for _, i := range []int{d.From, d.To - 1} {
			if drawable(d.At(i)) {
				line.Points = append(line.Points, html.Point{X: float64(i), Y: d.At(i) * scale.Factor,
					Says: []string{driftText(t, d)}})
			}
		}
		chart.Series = append(chart.Series, line)
	}
	return html.Figure{Metric: d.link(t.Workload, "", t.Metric),
		Title:  sentence(" ", unitIn(t.Unit), "over the sessions"),
		Note:   "Sessions are evenly spaced, whenever they were. Lines are levels with their intervals at both ends; a number is that of the change below.",
		Charts: []html.Chart{chart}}
}

func observed(t *history.Trend, p history.Point) results.Observed {
	return results.Observed{Value: p.Value, Unit: t.Unit, CI: p.CI, N: p.N}
}

// sessionTable has all sessions, the last first.
func sessionTable(t *history.Trend, to Addresses) html.Table {
	var values []float64
	for _, p := range t.Points {
		values = append(values, p.Value)
	}
	s := columnScale(t.Unit, values...)
	out := html.Table{Caption: plural(len(t.Points), "session"), Folded: len(t.Points) > mostRows,
		Columns: []html.Column{
			{Head: "session"}, {Head: "started (UTC)"}, {Head: sentence(" ", plain(t.Metric), s.Unit), Right: true},
			{Head: results.ConfidenceText + " CI", Right: true},
			{Head: "launches", Right: true}, {Head: "change"}, {Head: "weir"}, {Head: "environment"}, {Head: "file"},
			{Head: "moved"}}}
	began := map[int]int{} // change by its first session
	for i, c := range t.Changes {
		began[c.At] = i + 1
	}
	for i := len(t.Points) - 1; i >= 0; i-- {
		p := t.Points[i]
		value, low, high := s.Estimate(p.Value, p.CI)
		ci, change, moved := "-", "", "data"
		if low != "" {
			ci = low + "–" + high
		}
		if n := began[i]; n > 0 {
			sign, word := effectSign(t.Changes[n-1].Effect)
			change = fmt.Sprintf("%d %s %s", n, sign, word)
		}
		if p.Simulated {
			moved = "nothing (simulated)"
		}
		address := ""
		if to.Session != nil {
			address = to.Session(p.File)
		}
		weir := p.Weir()
		out.Rows = append(out.Rows, html.Row{Href: address, Cells: []string{plain(p.Session),
			p.Started.UTC().Format("2006-01-02 15:04"), value, ci,
			strconv.Itoa(p.N), change, versionText(weir.Version, weir.Commit), plain(shortDigest(p.Fingerprint)),
			plain(p.File), moved}})
	}
	return out
}
