package reporters

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// HTML writes the report as one page for a browser: the verdict and the table of each run first, then findings, charts,
// and finally definitions and provenance.
func HTML(w io.Writer, doc *results.Document) error { return HTMLBeside(w, doc, nil, "") }

// HTMLBeside is HTML with drawings of raw samples from files, and a link to the list of sessions. files may be nil, and
// home "".
func HTMLBeside(w io.Writer, doc *results.Document, files fs.FS, home string) error {
	d := newDraft(workload.DefinitionsOf(doc))
	d.samples = sampleFiles{files: files}
	p := &html.Page{
		Kind: "report", Home: home, Title: plain(clip(doc.Scenario.Name, " …")), Sign: symbols[doc.Session.Status],
		Status:   plain(doc.Session.Status),
		Headline: clip(headline(doc), " …"), Description: plain(clip(doc.Scenario.Description, " …")),
		Facts: sessionFacts(doc), Brief: sessionBrief(doc),
		Against: againstText(doc),
		Notes:   notes(doc),
		Banner:  clip(strings.Join(banners(doc), ". "), " …"),
	}
	if outcome(doc) == "" {
		p.Sign, p.Status = "", ""
	}
	all := grids(doc)
	p.Overview = d.together(doc, all)
	for i, g := range all {
		p.Runs = append(p.Runs, d.run(doc, fmt.Sprintf("run-%d", i+1), g))
	}
	p.Groups = d.groups(doc)
	p.Held = d.holding(doc)
	for _, t := range claimTables(doc) {
		p.Claims = t.page()
		p.Claims.Columns[slices.Index(t.head, claimStatus)].Verdict = true
		p.ClaimNotes = t.notes
		for i, c := range claimsOf(doc) {
			p.Claims.Rows[i].Class = claimClass(c.Status)
		}
	}
	p.Matrices = matrices(doc)
	p.Timeline = timeline(doc)
	p.Environment = environment(doc)
	p.Definitions = d.definitions
	return p.Write(w)
}

// rowClass is the CSS class of a standing's row.
func rowClass(standing string) string {
	switch standing {
	case "fail", "failed", "error", "aborted", "xpass":
		return "bad"
	case "inconclusive", "warn":
		return "doubt"
	case "pass", "passed", "xfail":
		return "good"
	}
	return ""
}

// nodesOf names the nodes of a case.
func nodesOf(c *results.Case) string {
	var names []string
	for _, l := range c.Launches {
		for _, n := range l.Nodes {
			names = ordered.Append(names, n)
		}
		if len(names) > mostShown {
			break // enough to read
		}
	}
	if len(names) > mostShown {
		names = append(names[:mostShown], "…")
	}
	return plain(strings.Join(names, ", "))
}

// notes are the lists that other reports have below their tables.
func notes(doc *results.Document) []html.Note {
	var out []html.Note
	for _, n := range []html.Note{
		{Title: variantNotesTitle, Lines: variantNotes(doc)}, {Title: sinceTitle, Lines: sinceLast(doc)},
		{Title: recomputedTitle, Lines: recomputed(doc)},
		{Title: "Counters that moved", Lines: countersMoved(doc)},
		{Title: "Marks", Lines: marks(doc)}, {Title: unsteadyTitle, Lines: unsteady(doc)},
		{Title: variancesTitle, Table: varianceTable(doc)},
		{Title: "Ignored settings", Lines: ignored(doc)}, {Title: "Odd operations", Lines: oddOperations(doc)},
		{Title: undecidableTitle, Lines: undecidableValues(doc)},
		{Title: "Fabrics chosen", Lines: chosenFabrics(doc)}, {Title: oneHostTitle, Lines: oneHost(doc)},
		{Title: sameBuildTitle, Lines: sameBuilds(doc)},
		{Title: "Windows of rates", Lines: fullLoads(doc)},
		{Title: "Measured once for a launch", Lines: sharedMetrics(doc)},
		{Title: "Working sets", Lines: workingSets(doc)},
		{Title: "Services", Lines: services(doc)}, {Title: "Nodes changed", Lines: nodesChanged(doc)},
		{Title: "Retried launches", Lines: retriedLaunches(doc)},
		{Title: disturbedTitle, Lines: append(discardedLaunches(doc), disturbedKept(doc)...)},
		{Title: crowdedTitle, Lines: oversubscribedNodes(doc)},
		{Title: idleTitle, Lines: idleNodes(doc)},
		{Title: "Not run", Lines: leftOut(doc)},
		{Title: "Artifacts", Files: artifacts(doc)},
	} {
		if more := len(n.Files) - mostRows; more > 0 {
			n.Files, n.Lines = n.Files[:mostRows], []string{
				fmt.Sprintf("%d more are not listed; results.json has all", more),
			}
		}
		if len(n.Lines)+len(n.Files) == 0 && n.Table == nil {
			continue
		}
		if more := len(n.Lines) - mostRows; more > 0 {
			n.Lines = append(slices.Clone(n.Lines[:mostRows]), fmt.Sprintf("… and %d more", more))
		}
		out = append(out, n)
	}
	return out
}
