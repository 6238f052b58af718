package reporters

import (
	"io"

	"github.com/weir-bench/weir/results"
)

// ComparisonMarkdown writes a comparison for pull requests and job summaries, within their size limit.
func ComparisonMarkdown(w io.Writer, c *results.Comparison) error {
	m := page{limit: markdownBudget, fullTable: "--format json"}
	m.always("# %s\n\n", mdText(comparisonHeadline(c)))
	if c.Simulated {
		m.always("> **%s**\n\n", partlySimulated)
	}
	m.always("- base: %s\n- new: %s\n\n", mdClip(comparedText(c.Base)), mdClip(comparedText(c.New)))
	m.always("%s\n\n", mdText(environmentText(c)))
	for _, d := range firstOf(differenceTexts(c.Differences)) {
		m.always("- %s\n", mdText(d))
	}
	for _, s := range c.Shifts {
		m.always("\n**%s**\n", mdText(s.String()))
	}
	if t := tableOf(effectColumns(c), effectRows(c)); len(t.rows) == 0 {
		m.always("\n")
	} else if !m.rowsOf("\n", t, mdText) {
		m.omitted(len(t.rows))
	}
	var lines []string
	for _, d := range details(c, true) {
		lines = append(lines, d.line())
	}
	m.list("Details", append(lines, leftOvers(c)...))
	m.list("How to read it", effectLegend(c))
	_, err := io.WriteString(w, m.out.String())
	return err
}
