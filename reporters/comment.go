package reporters

import (
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
)

// commentBudget is the size of a comment in bytes: GitHub takes 65536 characters.
const commentBudget = 65_000

// The limits of what is not folded in a comment.
const (
	mostFailures = 20
	mostChanges  = 20
	briefText    = 600 // bytes of a text
	briefCell    = 200 // bytes of a cell
	briefLog     = 3   // lines of a log
)

// Against is what a comment compares a document with.
type Against struct {
	Comparison *results.Comparison // nil: there is none
	Lacking    string              // why there is none; "": nothing was to be compared
}

// Comment writes the comment on a pull request: the verdict, what changed against a baseline, failures with
// their causes, and the rest folded, as far as it fits.
func Comment(w io.Writer, doc *results.Document) error { return commentAgainst(w, doc, Against{}, "") }

// Compared returns the reporter with a comparison and a link to the page with all charts ("": none), which
// only comments show.
func (r Reporter) Compared(a Against, page string) Reporter {
	if r.Name == "comment" {
		r.Write = func(w io.Writer, doc *results.Document) error {
			return commentAgainst(&printable.Writer{To: w}, doc, a, page)
		}
	}
	return r
}

func commentAgainst(w io.Writer, doc *results.Document, a Against, link string) error {
	m := page{limit: commentBudget, reserve: 2 << 10, fullTable: "results.json"}
	m.always("### %s\n\n", sentence(": ", outcome(doc), mdBrief(doc.Scenario.Name, briefCell)))
	for _, text := range banners(doc) {
		m.always("> **%s**\n\n", mdBrief(text, briefText))
	}
	m.always("%s\n\n", mdBrief(headline(doc), briefText))
	m.part(m.limit/3, "", "", func(in *page) { in.changes(a) })
	m.part(m.limit/2, "", "", func(in *page) { in.failures(doc) })
	m.unchanged(a.Comparison)
	m.fold("Inconclusive", func(in *page) { in.findings(doc, "", findings(doc, "inconclusive")) })
	m.fold("Warnings", func(in *page) { in.findings(doc, "", findings(doc, "warn")) })
	m.fold("Measurements", func(in *page) {
		for _, g := range grids(doc) {
			in.grid(g)
		}
		in.omitted(in.omittedRuns)
	})
	for _, s := range []struct{ standing, heading string }{
		{"info", "For information"}, {"xfail", "Failed as expected"}, {"pass", "Passed"},
	} {
		m.fold(s.heading, func(in *page) { in.findings(doc, "", inShort(findings(doc, s.standing))) })
	}
	m.fold("Session", func(in *page) {
		in.list("What differs from the baseline's environment", baselineDiffers(doc))
		in.row(mdBrief(sentence(": ", doc.Session.ID, strings.Join(doc.Session.Argv, " ")), briefText) + "\n")
	})
	if m.noRoom > 0 {
		m.always("%s left out for want of room; results.json has all.\n\n", plural(m.noRoom, "section"))
	}
	if at := linkTo(link); at != "" {
		m.always("[The page with all charts](%s)\n", at)
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

// changes shows what changed of the comparison.
func (m *page) changes(a Against) {
	c := a.Comparison
	if c == nil {
		if a.Lacking != "" {
			m.always("%s\n\n", mdBrief(a.Lacking, briefText))
		}
		return
	}
	found, _, _ := strings.Cut(comparisonHeadline(c), "; exit code ") // which is that of weir compare
	m.always("#### Against the baseline: %s\n\n", mdBrief(found, briefText))
	m.always("%s\n\n", mdBrief(sentence("; ", comparedText(c.Base),
		strings.TrimSuffix(environmentText(c), "; what differs:")), briefText))
	for _, s := range c.Shifts[:min(len(c.Shifts), mostShown)] {
		m.row("**" + mdBrief(s.String(), briefText) + "**\n\n")
	}
	changed := notable(c)
	m.effects(c, changed[:min(len(changed), mostChanges)])
}

// unchanged folds the rest of a comparison: the rows that changes omits, and how to read it.
func (m *page) unchanged(c *results.Comparison) {
	if c == nil {
		return
	}
	changed := notable(c)
	others := slices.Clone(changed[min(len(changed), mostChanges):])
	for _, e := range effectRows(c) {
		if !slices.Contains(changed, e) {
			others = append(others, e)
		}
	}
	m.fold("Other comparisons with the baseline", func(in *page) {
		in.effects(c, others)
		in.list("How to read it", slices.DeleteFunc(effectLegend(c), func(line string) bool {
			return strings.HasPrefix(line, "real?:") || strings.HasPrefix(line, "finds:") // without their columns
		}))
		in.list("What differs besides", differenceTexts(c.Differences))
		in.list("On one side only", leftOvers(c))
	})
}

// commentColumns are the columns of a comparison that a comment has.
var commentColumns = []string{"case", "metric", "base", "new", "change", "CI", "verdict"}

// effects writes a table of effects.
func (m *page) effects(c *results.Comparison, effects []*results.Effect) {
	if len(effects) == 0 {
		return
	}
	columns := slices.DeleteFunc(effectColumns(c), func(col tableColumn[*results.Effect]) bool {
		return !slices.ContainsFunc(commentColumns, func(name string) bool { return strings.HasSuffix(col.head, name) })
	})
	if !m.rowsOf("", tableOf(columns, effects), func(s string) string { return mdBrief(s, briefCell) }) {
		m.omitted(len(effects))
	}
}

// failures lists what failed, the first ones with their causes.
func (m *page) failures(doc *results.Document) {
	failed := slices.Concat(findings(doc, "fail"), findings(doc, "xpass"), findings(doc, "error"))
	if len(failed) == 0 {
		return
	}
	m.always("#### Failed\n\n")
	first := failed[:min(len(failed), mostFailures)]
	omitted := m.rows(len(first), func(i int) string {
		f := first[i]
		what := sentence(" ", mdCode(brief(f.where, briefCell)), mdBold(brief(f.name, briefCell)),
			parenthesis(mdBrief(f.place, briefCell)))
		s := "- " + f.label() + " " + sentence(": ", what, mdBrief(f.whole(), briefText)) + "\n"
		context := f.context()
		for _, line := range context[:min(len(context), briefLog)] {
			s += "  - " + mdBrief(line, briefText) + "\n"
		}
		if lines := f.log[max(0, len(f.log)-briefLog):]; len(lines) > 0 {
			s += "\n"
			for _, line := range lines {
				s += "      " + brief(line, briefCell) + "\n"
			}
			s += "\n"
		}
		return s
	})
	if more := len(failed) - len(first) + omitted; more > 0 {
		m.always("\n%d more failed; results.json and the page have all.\n", more)
	}
	m.always("\n")
}

// part writes a part of at most a size as a whole, between a head and a tail, or counts it if there is no room
// for its head. Its rows are those that fit.
func (m *page) part(size int, head, tail string, write func(in *page)) {
	in := page{
		limit:   min(size, m.limit-m.reserved()-m.out.Len()) - len(head) - len(tail),
		reserve: 512, fullTable: m.fullTable,
	}
	write(&in)
	switch {
	case in.out.Len() == 0:
	case in.out.Len() > in.limit:
		m.noRoom++
	default:
		m.out.WriteString(head + in.out.String() + tail)
	}
}

// fold writes a folded part.
func (m *page) fold(summary string, write func(in *page)) {
	m.part(m.limit, "<details><summary>"+summary+"</summary>\n\n", "\n</details>\n\n", write)
}

// inShort are findings without logs and with short texts.
func inShort(fs []finding) []finding {
	for i := range fs {
		fs[i].log = nil
		fs[i].where, fs[i].name, fs[i].message = brief(fs[i].where, briefCell), brief(fs[i].name, briefCell),
			brief(fs[i].message, briefText)
	}
	return fs
}

// brief shortens a text in one line.
func brief(s string, limit int) string {
	s = plain(s)
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …"
}

func mdBrief(s string, limit int) string { return mdText(brief(s, limit)) }

// linkTo is an address for a link in Markdown; "" if it is not one of the web.
func linkTo(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || len(text) > 1000 {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}
