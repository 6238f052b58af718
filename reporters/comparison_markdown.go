package reporters

import (
	"io"
	"strings"

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
	columns := effectColumns(c)
	var head, rule []string
	for _, col := range columns {
		head = append(head, mdText(col.head))
		rule = append(rule, map[bool]string{true: "---:", false: ":---"}[col.right])
	}
	if len(c.Effects) > 0 {
		m.always("\n| %s |\n| %s |\n", strings.Join(head, " | "), strings.Join(rule, " | "))
	}
	effects := effectRows(c)
	m.omitted(m.rows(len(effects), func(i int) string {
		var cells []string
		for _, col := range columns {
			cells = append(cells, mdText(col.cell(effects[i])))
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}))
	m.always("\n")
	var lines []string
	for _, d := range details(c, true) {
		lines = append(lines, d.line())
	}
	m.list("Details", append(lines, leftOvers(c)...))
	m.list("How to read it", effectLegend(c))
	_, err := io.WriteString(w, m.out.String())
	return err
}
