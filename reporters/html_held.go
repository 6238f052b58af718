package reporters

import (
	"fmt"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// openAssertions is how many assertions without a finding a page lists without being asked.
const openAssertions = 20

// holding lists the assertions without a finding: those that hold, fail as expected, or were skipped.
func (d *draft) holding(doc *results.Document) *html.Table {
	var all []finding
	for _, standing := range []string{string(results.Pass), string(results.XFail), string(results.SkippedVerdict)} {
		for _, f := range findings(doc, standing) {
			if f.assertion != nil {
				all = append(all, f)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	caption := plural(len(all), "assertion") + " that passed, failed as expected or were skipped"
	if more := len(all) - mostRows; more > 0 {
		all = all[:mostRows]
		caption += fmt.Sprintf(", without %d that results.json has", more)
	}
	t := d.findingTable(caption, all)
	t.Folded = len(all) > openAssertions
	return t
}

// findingTable has a row for each finding.
func (d *draft) findingTable(caption string, all []finding) *html.Table {
	t := &html.Table{Caption: caption, Text: true,
		Columns: []html.Column{
			{Head: "case"}, {Head: "assertion"}, {Head: "what was found"}, {Head: "asserted at"},
			{Head: "verdict", Verdict: true},
		}}
	for _, f := range all {
		t.Rows = append(t.Rows, html.Row{
			ID: d.findingAnchor(f), Class: rowClass(f.standing),
			Cells: []string{f.where, f.name, sentence("; ", f.message, waiverText(f)), f.place, f.label()},
		})
	}
	return t
}

// casesTable lists the cases of one cause.
func casesTable(all []finding) *html.Table {
	t := &html.Table{Caption: listed("Where", len(all)), Text: true, Columns: []html.Column{{Head: "where"}}}
	for _, f := range all[:min(len(all), inRows)] {
		t.Rows = append(t.Rows, html.Row{Class: rowClass(f.standing), Cells: []string{f.where}})
	}
	return t
}
