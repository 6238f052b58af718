package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// The number of findings of a kind with all details, and with one row each.
const (
	atLength = 20
	inRows   = 2000
)

// groups are the findings, worst first. Several cases with one reason are one finding.
func (d *draft) groups(doc *results.Document) []html.Group {
	var out []html.Group
	for _, s := range []struct{ standing, heading string }{
		{"fail", "Failed"}, {"xpass", "Waiver no longer needed"}, {"error", "Errors"},
		{"inconclusive", "Inconclusive"},
		{"warn", "Warnings"}, {"info", "For information"}, {"xfail", "Failed as expected"},
	} {
		all := findings(doc, s.standing)
		if len(all) == 0 {
			continue
		}
		reasons := byReason(all)
		title := fmt.Sprintf("%s (%d)", s.heading, len(all))
		if len(reasons) < len(all) {
			title = fmt.Sprintf("%s (%d, for %s)", s.heading, len(all), plural(len(reasons), "reason"))
		}
		group := html.Group{Title: title}
		shown := reasons[:min(len(reasons), atLength)]
		for _, r := range shown {
			group.Cards = append(group.Cards, d.card(doc, r))
		}
		group.Cards[0].Open = len(out) == 0
		var rest []finding
		for _, r := range reasons[len(shown):] {
			rest = append(rest, r...)
		}
		if len(rest) > 0 {
			caption := fmt.Sprintf("%s: %d more", s.heading, len(rest))
			group.More = d.findingTable(listed(caption, len(rest)), rest[:min(len(rest), inRows)])
			group.More.Folded = true
		}
		out = append(out, group)
	}
	return out
}

// listed says how many rows of a table are in the page, if not all.
func listed(caption string, rows int) string {
	if rows > inRows {
		return caption + fmt.Sprintf(", of which %d are listed; results.json has all", inRows)
	}
	return caption
}

// card is a finding with the details of its best example: bound, estimate with interval, launches with
// nodes, and the command to repeat it. Several findings follow as a table.
func (d *draft) card(doc *results.Document, all []finding) html.Card {
	f := all[0]
	c := html.Card{ID: d.findingAnchor(f), Sign: sign(f.assertion, f.standing), Standing: f.standing,
		Where: clip(f.where, " …"), Name: clip(f.name, " …"), Place: f.place,
		Message: clip(f.message, " …"), Log: f.log}
	if text := waiverText(f); text != "" {
		c.Lines = append(c.Lines, text)
	}
	if text := remedy(f); text != "" {
		c.Lines = append(c.Lines, clip("again: "+text, " …"))
	} else {
		c.Again = clip(again(doc, f), " …")
	}
	for _, line := range f.context() {
		c.Lines = append(c.Lines, clip(line, " …"))
	}
	if f.of != nil {
		c.Nodes = nodesOf(f.of)
		for _, l := range f.of.Launches {
			c.Launches = append(c.Launches, plain(launchLine(l, f.assertion)))
		}
	}
	if len(all) > 1 {
		c.Name = sentence(" ", c.Name, fmt.Sprintf("and %d more", len(all)-1))
		c.Others = d.findingTable(listed(fmt.Sprintf("All %d", len(all)), len(all)), all[:min(len(all), inRows)])
		c.Others.Rows[0].ID = "" // it is that of the card
		if f.assertion == nil {
			c.Others = casesTable(all)
		}
	}
	a := f.assertion
	if a == nil {
		first, rest, _ := strings.Cut(f.message, "\n")
		c.Name, c.Message = sentence(": ", c.Name, clip(first, " …")), clip(rest, " …")
		return c
	}
	c.Promised = plain(clip(a.Inequality(), " …"))
	of := f.of
	if of == nil && len(a.Cases) > 0 {
		of = doc.Case(a.Cases[0])
	}
	if a.Subject != nil && of != nil {
		for _, m := range a.Subject.Metrics() {
			c.Metrics = append(c.Metrics, d.link(of.Workload, of.Run, m))
		}
	}
	if a.Observed != nil {
		c.Measured = judgedText(a)
		c.Margin = margin(a)
	}
	return c
}

// judgedText is the estimate of an assertion; of a gain with signs.
func judgedText(a *results.AssertionVerdict) string {
	o := a.Observed
	if _, _, ok := gainIn(a); !ok {
		return o.Beside(results.ScaleFor(o.Value, o.Unit), a.Bounds.Lower, a.Bounds.Upper)
	}
	return o.Gain(a.Bounds.Lower, a.Bounds.Upper)
}
