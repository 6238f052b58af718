package reporters

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// nixlbenchNotes list differences from the columns of nixlbench.
const nixlbenchNotes = `The columns of nixlbench with what weir measured. Times are arithmetic means over the launches of a case, so that Avg Post and
Avg Tx of a stream add up to Avg Lat.; bandwidths are as they are judged, geometric means. Not the same as in nixlbench:
  B/W          all initiators together, or the slowest of them where Aggregate B/W has the sum; without starting threads, and
               without making and releasing requests (but with nixl_recreate), which nixlbench times too; a write ends when its last
               byte is at the target
  Avg Lat.     of a whole request, from posting it to its completion; nixlbench divides the time of the run by the number of blocks
  Avg Prep     of the slowest initiator; with fabric nixl of all requests that NIXL made for the case, and there is a P99 Prep
  P99 ...      of the initiator that has the largest; times have fractions of a microsecond, nixlbench cuts them off
  Network Util of what the same launch found this path to be able to carry; nixlbench takes 50 GB/s for every network
Digits are those that the interval of the launches supports. The last column is weir's.
`

// NIXLBench writes the transfers of a session as nixlbench's table (the same heads, units, order and
// widths of columns), with notes on differing definitions. Axes that nixlbench's table lacks are above the
// rows that share them.
func NIXLBench(w io.Writer, doc *results.Document) error {
	out := bufio.NewWriter(w)
	for _, text := range banners(doc) {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	out.WriteString(nixlbenchNotes)
	var groups ordered.Groups[string, *results.Case]
	others := 0
	for _, c := range attempted(doc).Cases {
		columns, above, ok := nixlbenchColumns(c)
		if !ok {
			others++
			continue
		}
		groups.Add(nixlbenchGroup(c, columns, above), c)
	}
	for head, cases := range groups.All() {
		fmt.Fprintf(out, "\n%s\n", head)
		nixlbenchTable(out, cases)
	}
	foreignEnd(out, doc, others, "nixlbench has no such table")
	return out.Flush()
}

// foreignEnd ends a report in a tool's own form: how many cases are not in it and why, what did not run, the outcome.
func foreignEnd(out *bufio.Writer, doc *results.Document, others int, why string) {
	if others > 0 {
		fmt.Fprintf(out, "\n%s of other workloads not shown: %s\n", plural(others, "case"), why)
	}
	out.WriteByte('\n')
	for _, line := range leftOut(doc) {
		fmt.Fprintf(out, "%s\n", line)
	}
	fmt.Fprintf(out, "%s\n", sentence(": ", outcome(doc), headline(doc)))
}

// nixlbenchGroup is what the rows of one table share: the run and its axes without columns.
func nixlbenchGroup(c *results.Case, columns []workload.ForeignColumn, above string) string {
	parts := []string{plain(c.Run) + ":"}
	for _, a := range c.AxisOrder {
		hasColumn := slices.ContainsFunc(columns, func(c workload.ForeignColumn) bool { return c.Option == a })
		if v, ok := c.Axes[a]; ok && !hasColumn {
			parts = append(parts, plain(a+"="+option.Text(v)))
		}
	}
	if above != "" {
		parts = append(parts, above)
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ":")
}

// nixlbenchColumns are the columns of a case; ok is false if nixlbench has no such case.
func nixlbenchColumns(c *results.Case) (columns []workload.ForeignColumn, above string, ok bool) {
	b, ok := workload.As[workload.TablePrinter](c.Workload)
	if !ok || b.Tables()["nixlbench"] == nil {
		return nil, "", false
	}
	columns, above = b.Tables()["nixlbench"](func(option string) string { return setting(c, option) })
	return columns, above, true
}

func nixlbenchTable(out io.Writer, cases []*results.Case) {
	columns, _, _ := nixlbenchColumns(cases[0])
	var head strings.Builder
	for _, c := range columns {
		head.WriteString(padded(c.Head, c.Width))
	}
	head.WriteString("Verdict")
	fmt.Fprintf(out, "%s\n%s\n", strings.TrimRight(head.String(), " "), strings.Repeat("-", 160))
	for _, c := range cases {
		var row strings.Builder
		verdict := sentence(": ", caseLabel(c), sentenceOf(reason(c)))
		if !c.Metrics.IsZero() {
			verdict = sentence(" ", verdict, simulatedMark(c))
		}
		for _, column := range columns {
			row.WriteString(padded(nixlbenchCell(c, column), column.Width)) // "-": the verdict says why
		}
		row.WriteString(verdict)
		fmt.Fprintln(out, strings.TrimRight(row.String(), " "))
	}
}

func nixlbenchCell(c *results.Case, column workload.ForeignColumn) string {
	if column.Option != "" {
		return inBytes(setting(c, column.Option))
	}
	if column.Scale == results.Micro {
		return meanTime(c, column.Metric, column.Scale)
	}
	return number(c, column.Metric, column.Scale)
}

// meanTime is the arithmetic mean of a time over the launches, with the digits of its estimate: only
// arithmetic means of parts add up.
func meanTime(c *results.Case, metric string, s results.Scale) string {
	m, ok := c.Metrics.Get(metric)
	if !ok {
		return "-"
	}
	v, _, _ := s.Estimate(m.Mean, m.CI)
	return v
}

// inBytes is a size as a number of bytes.
func inBytes(text string) string {
	q, err := quantity.Parse(text)
	if err != nil || q.Dim != quantity.SizeDim && q.Dim != quantity.Number {
		return text
	}
	return strconv.FormatFloat(q.Value, 'f', -1, 64)
}

// padded pads a text to a width, with at least one space.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 1))
}
