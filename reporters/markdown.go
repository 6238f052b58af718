package reporters

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// markdownBudget is the size of a Markdown report: GitHub rejects step summaries above 1 MiB.
const markdownBudget = 900 << 10

// Markdown writes the report for pull requests and job summaries: the verdict, findings with numbers,
// measurements, and what passed, folded.
func Markdown(w io.Writer, doc *results.Document) error {
	_, err := io.WriteString(w, markdown(doc, markdownBudget))
	return err
}

func markdown(doc *results.Document, limit int) string {
	m := page{limit: limit, fullTable: "results.json"}
	m.always("# %s\n\n", sentence(": ", outcome(doc), mdClip(doc.Scenario.Name)))
	for _, text := range banners(doc) {
		m.always("> **%s**\n\n", mdClip(text))
	}
	m.always("%s\n\n", clip(headline(doc), " …"))
	for _, text := range titledLine(variablesTitle, variables(doc)) {
		m.always("%s\n\n", mdText(text))
	}
	if doc.Scenario.Description != "" {
		m.always("%s\n\n", mdClip(doc.Scenario.Description))
	}
	for _, s := range []struct{ standing, heading string }{
		{"fail", "Failed"}, {"xpass", "Passed against expectation"}, {"error", "Errors"},
		{"inconclusive", "Inconclusive"},
		{"warn", "Warnings"}, {"info", "For information"},
	} {
		m.findings(doc, s.heading, findings(doc, s.standing))
	}
	for _, g := range grids(doc) {
		m.grid(g)
	}
	for _, t := range append(gainTables(doc), claimTables(doc)...) {
		m.table(t)
	}
	m.omitted(m.omittedRuns)
	m.list(variantNotesTitle, variantNotes(doc))
	m.list(sinceTitle, sinceLast(doc))
	m.list(recomputedTitle, recomputed(doc))
	m.list("Marks", marks(doc))
	m.list(unsteadyTitle, unsteady(doc))
	m.list(variancesTitle, variances(doc))
	m.list("Counters that moved", countersMoved(doc))
	m.list("Ignored settings", ignored(doc))
	m.list("Odd operations", oddOperations(doc))
	m.list(undecidableTitle, undecidableValues(doc))
	m.list("Fabrics chosen", chosenFabrics(doc))
	m.list(oneHostTitle, oneHost(doc))
	m.list(sameBuildTitle, sameBuilds(doc))
	m.list("Windows of rates", fullLoads(doc))
	m.list("Measured once for a launch", sharedMetrics(doc))
	m.list("Working sets", workingSets(doc))
	m.list("Services", services(doc))
	m.list("Nodes changed", nodesChanged(doc))
	m.list("Retried launches", retriedLaunches(doc))
	m.list("Launches", unknownNoise(doc))
	m.list(disturbedTitle, append(discarded(doc), disturbedKept(doc)...))
	m.list(crowdedTitle, oversubscribedNodes(doc))
	m.list(idleTitle, idleNodes(doc))
	m.list("Not run", leftOut(doc))
	m.list("Skipped assertions", skippedLines(doc))
	m.list("What differs from the baseline's environment", baselineDiffers(doc))
	m.files("Artifacts", artifacts(doc))
	m.folded("passed", findings(doc, "pass"))
	m.folded("failed as expected", findings(doc, "xfail"))
	m.session(doc)
	return m.out.String()
}

// page is a report with a size limit. After the first row that does not fit, no further one is written, so
// that the most important part remains; omitted rows are counted.
type page struct {
	out         strings.Builder
	limit       int
	full        bool
	omittedRuns int    // rows of runs without room for their head
	reserve     int    // bytes for the ends of sections and the last parts; 0: closing
	noRoom      int    // parts without room
	fullTable   string // what has the omitted rows
}

// closing is reserved for the ends of sections and the last parts.
const closing = 8 << 10

func (m *page) reserved() int { return cmp.Or(m.reserve, closing) }

func (m *page) always(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

// row writes a row if it fits.
func (m *page) row(s string) bool {
	m.full = m.full || m.out.Len()+len(s) > m.limit-m.reserved()
	if m.full {
		return false
	}
	m.out.WriteString(s)
	return true
}

// rows writes as many rows as fit and returns the number of omitted ones.
func (m *page) rows(n int, row func(i int) string) (omitted int) {
	for i := range n {
		if m.full || !m.row(row(i)) {
			omitted++
		}
	}
	return omitted
}

func (m *page) omitted(n int) {
	if n > 0 {
		m.always("\n%s omitted; %s has all.\n", plural(n, "row"), m.fullTable)
	}
}

func (m *page) findings(doc *results.Document, heading string, fs []finding) {
	if len(fs) == 0 {
		return
	}
	if heading != "" {
		m.always("## %s\n\n", heading)
	}
	m.omitted(m.rows(len(fs), func(i int) string {
		f := fs[i]
		what := sentence(" ", mdCode(f.where), mdBold(f.name), parenthesis(mdText(f.place)))
		s := "- " + f.label() + " " + sentence(": ", what, mdText(f.whole())) + "\n"
		if len(f.log) > 0 {
			s += "\n"
			for _, line := range f.log {
				s += "      " + line + "\n" // indented code: no fence that a line could close
			}
			s += "\n"
		}
		for _, line := range f.context() {
			s += "  - " + mdText(line) + "\n"
		}
		if text := remedy(f); text != "" {
			s += "  - again: " + mdText(text) + "\n"
		} else if command := again(doc, f); command != "" && rank(f.standing) <= rank("warn") {
			s += "  - again: " + mdCode(command) + "\n"
		}
		return s
	}))
	m.always("\n")
}

func (m *page) grid(g grid) {
	var head []string
	var right []bool
	for _, c := range g.columns {
		head, right = append(head, strings.TrimSpace(c.head)), append(right, c.right)
	}
	heading := "## " + mdText(g.run)
	if g.stage != "" {
		heading = "#" + heading
	}
	if g.heads {
		heading = "## Stage " + mdText(g.stage) + "\n\n" + heading
	}
	if !m.cells(heading+"\n\n", head, right, len(g.cases), func(i int) (cells []string) {
		for _, c := range g.columns {
			cells = append(cells, c.cell(g.cases[i]))
		}
		return cells
	}, mdText) {
		m.omittedRuns += len(g.cases)
		return
	}
	lines := conditionLines(g.cases)
	m.omitted(m.rows(len(lines), func(i int) string { return "- " + mdText(lines[i]) + "\n" }))
	m.always("\n")
}

func (m *page) list(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	m.always("## %s\n\n", heading)
	m.omitted(m.rows(len(lines), func(i int) string { return "- " + mdText(lines[i]) + "\n" }))
	m.always("\n")
}

func (m *page) files(heading string, list []html.File) {
	if len(list) == 0 {
		return
	}
	m.always("## %s\n\n", heading)
	m.omitted(m.rows(len(list), func(i int) string { return mdFile(list[i]) }))
	m.always("\n")
}

func (m *page) folded(what string, fs []finding) {
	if len(fs) == 0 {
		return
	}
	m.always("<details><summary>%s %s</summary>\n\n| case | assertion | observed |\n| :--- | :--- | :--- |\n",
		ofWhat(fs), what)
	m.omitted(m.rows(len(fs), func(i int) string {
		return fmt.Sprintf("| %s | %s | %s |\n", mdCode(fs[i].where), mdText(fs[i].name), mdText(fs[i].whole()))
	}))
	m.always("\n</details>\n\n")
}

// session describes the origin of the numbers.
func (m *page) session(doc *results.Document) {
	s := doc.Session
	m.always("<details><summary>Session</summary>\n\n")
	var lines []string
	add := func(what, value string) {
		if value != "" {
			lines = append(lines, "- "+what+": "+mdText(value)+"\n")
		}
	}
	add("id", s.ID)
	if !s.Started.IsZero() {
		add("started", s.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	add("command", strings.Join(s.Argv, " "))
	add("scenario", sentence(" ", doc.Scenario.File, doc.Scenario.Digest))
	add("plan", doc.Plan.Digest)
	add("site", siteText(doc))
	add("weir", sentence(" ", doc.Weir.Version, doc.Weir.Commit, doc.Weir.Go))
	add("goes on with session", s.Resumed)
	if b := doc.Baseline; b != nil {
		add("baseline", sentence(" ", b.File, parenthesis(sentence(" ", "session", b.Session))))
	}
	for _, n := range doc.Environment.Nodes {
		add("node", sentence(", ", n.Name, n.Image, n.OS, n.Kernel, nodeCPU(n), nodeDevices(n)))
	}
	m.omitted(m.rows(len(lines), func(i int) string { return lines[i] }))
	m.always("\n</details>\n")
}

// nodeDevices names a node's devices that move data.
func nodeDevices(n results.Node) string {
	var out []string
	for _, d := range n.RDMA {
		state := "no active port"
		if d.Active() {
			state = "active"
		}
		out = append(out, fmt.Sprintf("%s (%s)", d.Name, state))
	}
	for _, g := range n.GPUs {
		out = append(out, g.Name)
	}
	return strings.Join(out, ", ")
}

func nodeCPU(n results.Node) string {
	if n.CPU.Count == 0 {
		return n.CPU.Model
	}
	return sentence(" ", n.CPU.Model, fmt.Sprintf("(%d of %s)", n.CPU.Allowed, plural(n.CPU.Count, "CPU")))
}

// mdText escapes markup of Markdown and HTML. Underscores within words, as in metric names, are not
// markup.
func mdText(s string) string {
	s = plain(s)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		inWord := c == '_' && i > 0 && i+1 < len(s) && wordByte(s[i-1]) && wordByte(s[i+1])
		if strings.IndexByte("\\`*_[]<|~&#", c) >= 0 && !inWord || c == '>' && i == 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// mdClip limits the length of a text.
func mdClip(s string) string { return mdText(clip(plain(s), " …")) }

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func mdBold(s string) string {
	if s == "" {
		return ""
	}
	return "**" + mdText(s) + "**"
}

// mdCode formats a key as code unless it has a pipe or a backtick, which would end the cell or the code.
func mdCode(s string) string {
	if s == "" || strings.ContainsAny(s, "|`") {
		return mdText(s)
	}
	return "`" + s + "`"
}
