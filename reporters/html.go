package reporters

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"weir/reporters/html"
	"weir/results"
	"weir/workload"
)

// HTML writes the report as one page for a browser: the verdict and what is wrong
// first, then a section for each run with its charts, and at the end what the
// numbers mean and where they come from.
func HTML(w io.Writer, doc *results.Document) error { return htmlBeside(w, doc, nil) }

// htmlBeside is HTML with what is drawn of the raw samples that files hold; nil: there are none.
func htmlBeside(w io.Writer, doc *results.Document, files fs.FS) error {
	d := newDraft(workload.DefinitionsOf(doc))
	d.samples = sampleFiles{files: files}
	p := &html.Page{
		Kind: "report", Title: plain(clip(doc.Scenario.Name, " …")), Sign: symbols[doc.Session.Status],
		Status:   plain(doc.Session.Status),
		Headline: clip(headline(doc), " …"), Description: plain(clip(doc.Scenario.Description, " …")),
		Facts: sessionFacts(doc), Brief: sessionBrief(doc),
		Groups: d.groups(doc),
		Notes:  notes(doc),
		Banner: clip(strings.Join(banners(doc), ". "), " …"),
	}
	all := grids(doc)
	p.Overview = d.together(doc, all)
	for i, g := range all {
		p.Runs = append(p.Runs, d.run(doc, fmt.Sprintf("run-%d", i+1), g))
	}
	p.Held = held(doc)
	p.Matrices = matrices(doc)
	p.Timeline = timeline(doc)
	p.Environment = environment(doc)
	p.Definitions = d.definitions
	return p.Write(w)
}

// held are the assertions over several cases that hold: no row of a run has these.
func held(doc *results.Document) *html.Table {
	var all []finding
	for _, a := range doc.Assertions {
		if a.Standing() == string(results.Pass) || a.Standing() == string(results.SkippedVerdict) {
			all = append(all, found(a, over(doc, a)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return findingTable(plural(len(all), "assertion")+" over several cases", all)
}

func findingTable(caption string, all []finding) *html.Table {
	t := &html.Table{Caption: caption, Text: true,
		Columns: []html.Column{
			{Head: "case"}, {Head: "assertion"}, {Head: "what was found"}, {Head: "asserted at"}, {Head: "verdict"},
		}}
	for _, f := range all {
		t.Rows = append(t.Rows, html.Row{
			Class: rowClass(f.standing), Cells: []string{f.where, f.name, f.message, f.place, f.label()},
		})
	}
	return t
}

// rowClass is the colour of a standing's row.
func rowClass(standing string) string {
	switch standing {
	case "fail", "error", "xpass":
		return "bad"
	case "inconclusive", "warn":
		return "doubt"
	case "pass", "xfail":
		return "good"
	}
	return ""
}

// nodesOf names the nodes that a case ran on.
func nodesOf(c *results.Case) string {
	var names []string
	for _, l := range c.Launches {
		for _, n := range l.Nodes {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		if len(names) > mostShown {
			break // of thousands nobody reads more
		}
	}
	if len(names) > mostShown {
		names = append(names[:mostShown], "…")
	}
	return plain(strings.Join(names, ", "))
}

// notes are what other reports list below their tables.
func notes(doc *results.Document) []html.Note {
	var out []html.Note
	for _, n := range []html.Note{
		{Title: sinceTitle, Lines: sinceLast(doc)},
		{Title: recomputedTitle, Lines: recomputed(doc)},
		{Title: "Counters that moved", Lines: countersMoved(doc)},
		{Title: "Marks", Lines: marks(doc)}, {Title: warmUpTitle, Lines: unsteady(doc)},
		{Title: variancesTitle, Lines: variances(doc)},
		{Title: "Ignored settings", Lines: ignored(doc)}, {Title: "Odd operations", Lines: oddOperations(doc)},
		{Title: "Fabrics chosen", Lines: chosen(doc)}, {Title: "Windows of rates", Lines: wholeLoads(doc)},
		{Title: "Measured once for a launch", Lines: sharedMetrics(doc)},
		{Title: "Working sets", Lines: workingSets(doc)},
		{Title: "Services", Lines: services(doc)}, {Title: "Nodes changed", Lines: nodesChanged(doc)},
		{Title: "Retried launches", Lines: madeAgain(doc)},
		{Title: voidTitle, Lines: append(voidLaunches(doc), disturbedKept(doc)...)},
		{Title: crowdedTitle, Lines: crowdedNodes(doc)},
		{Title: idleTitle, Lines: idleNodes(doc)},
		{Title: "Not run", Lines: leftOut(doc)},
		{Title: "Artifacts", Files: artifacts(doc)},
	} {
		if more := len(n.Files) - mostRows; more > 0 {
			n.Files, n.Lines = n.Files[:mostRows], []string{
				fmt.Sprintf("%d more are not listed; results.json has all", more),
			}
		}
		if len(n.Lines)+len(n.Files) == 0 {
			continue
		}
		if more := len(n.Lines) - mostRows; more > 0 {
			n.Lines = append(slices.Clone(n.Lines[:mostRows]), fmt.Sprintf("… and %d more", more))
		}
		out = append(out, n)
	}
	return out
}
