package reporters

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/quantity"
	"weir/results"
	"weir/workload/transfer"
)

// nixlbenchNotes say what a reader who knows the columns from nixlbench would
// otherwise take for the same.
const nixlbenchNotes = `The columns of nixlbench with what weir measured, the mean over the launches of a case. Not the same as in nixlbench:
  B/W          all initiators together, or the slowest of them where Aggregate B/W has the sum; without starting threads, and
               without making and releasing requests (but with nixl_recreate), which nixlbench times too; a write ends when its last
               byte is at the target
  Avg Lat.     of a whole request, from posting it to its completion; nixlbench divides the time of the run by the number of blocks
  Avg Prep     of the slowest initiator; with fabric nixl of all requests that NIXL made for the case, and there is a P99 Prep
  P99 ...      of the initiator that has the largest; times have fractions of a microsecond, nixlbench cuts them off
  Network Util of what the same launch found this path to be able to carry; nixlbench takes 50 GB/s for every network
Digits are those that the interval of the launches supports. The last column is weir's.
`

// nixlbenchColumn is a column of nixlbench's table: its head, its width and weir's
// metric for it, in the column's unit.
type nixlbenchColumn struct {
	head  string
	width int
	cell  func(*results.Case) string
}

// NIXLBench writes the transfers of a session as the table that nixlbench prints
// (the same heads, units, order and widths of columns), with notes of what weir
// defines in another way. What is not an axis of nixlbench's table stands
// above the rows that share it.
func NIXLBench(w io.Writer, doc *results.Document) error {
	out := bufio.NewWriter(w)
	for _, text := range banners(doc) {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	out.WriteString(nixlbenchNotes)
	var order []string
	groups, others := map[string][]*results.Case{}, 0
	for _, c := range attempted(doc).Cases {
		if c.Workload != transfer.Kind.Name {
			others++
			continue
		}
		g := nixlbenchGroup(c)
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], c)
	}
	for _, g := range order {
		fmt.Fprintf(out, "\n%s\n", g)
		nixlbenchTable(out, groups[g])
	}
	if others > 0 {
		fmt.Fprintf(out, "\n%s of other workloads not shown: nixlbench has no such table\n", plural(others, "case"))
	}
	out.WriteByte('\n')
	for _, line := range leftOut(doc) {
		fmt.Fprintf(out, "%s\n", line)
	}
	fmt.Fprintf(out, "%s: %s\n", labelled(doc.Session.Status), headline(doc))
	return out.Flush()
}

// nixlbenchGroup is what the rows of one table share: the run and its axes but for
// those that have columns.
func nixlbenchGroup(c *results.Case) string {
	parts := []string{plain(c.Run) + ":"}
	for _, a := range c.AxisOrder {
		if v, ok := c.Axes[a]; ok && !named(optionColumns, a) {
			parts = append(parts, plain(a+"="+valueText(v)))
		}
	}
	if severalInitiators(c) {
		parts = append(parts, setting(c, "ranks")+" ranks")
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ":")
}

// severalInitiators says whether nixlbench would have shown a sum beside B/W.
func severalInitiators(c *results.Case) bool {
	ranks, err := strconv.Atoi(setting(c, "ranks"))
	return err == nil && ranks > 2
}

func nixlbenchTable(out io.Writer, cases []*results.Case) {
	columns := nixlbenchColumns(severalInitiators(cases[0]))
	var head strings.Builder
	for _, c := range columns {
		head.WriteString(padded(c.head, c.width))
	}
	fmt.Fprintf(out, "%s\n%s\n", strings.TrimRight(head.String(), " "), strings.Repeat("-", 160))
	for _, c := range cases {
		var row strings.Builder
		for i, column := range columns {
			if i == 2 && c.Metrics.IsZero() { // what to say instead of numbers
				row.WriteString(sentence(": ", labelled(standing(c)), plain(reason(c))))
				break
			}
			row.WriteString(padded(column.cell(c), column.width))
		}
		fmt.Fprintln(out, strings.TrimRight(row.String(), " "))
	}
}

func nixlbenchColumns(several bool) []nixlbenchColumn {
	metric := func(name string, s results.Scale) func(*results.Case) string {
		return func(c *results.Case) string { return number(c, name, s) }
	}
	rate := results.Scale{Unit: "GB/s", Factor: 1}
	columns := []nixlbenchColumn{
		{"Block Size (B)", 20, func(c *results.Case) string { return inBytes(setting(c, "block_size")) }},
		{"Batch Size", 15, func(c *results.Case) string { return setting(c, "batch") }},
	}
	if several {
		columns = append(columns,
			nixlbenchColumn{"B/W (GB/Sec)", 15, metric("bandwidth.min_rank", rate)},
			nixlbenchColumn{"Aggregate B/W (GB/Sec)", 25, metric("bandwidth", rate)},
			nixlbenchColumn{"Network Util (%)", 20, metric("ceiling", results.Scale{Unit: "%", Factor: 100})})
	} else {
		columns = append(columns, nixlbenchColumn{"B/W (GB/Sec)", 15, metric("bandwidth", rate)})
	}
	for _, m := range []struct{ head, metric string }{
		{"Avg Lat. (us)", "latency.avg"}, {"Avg Prep (us)", "prep.request"}, {"P99 Prep (us)", "prep.request.p99"},
		{"Avg Post (us)", "post.avg"}, {"P99 Post (us)", "post.p99"}, {"Avg Tx (us)", "transfer.avg"}, {"P99 Tx (us)", "transfer.p99"},
	} {
		columns = append(columns, nixlbenchColumn{m.head, 15, metric(m.metric, results.Micro)})
	}
	return append(columns, nixlbenchColumn{"Verdict", 0, func(c *results.Case) string {
		return sentence(" ", sentence(": ", labelled(standing(c)), plain(reason(c))), simulatedMark(c))
	}})
}

// inBytes is a size as a number of bytes.
func inBytes(text string) string {
	q, err := quantity.Parse(text)
	if err != nil || q.Dim != quantity.SizeDim && q.Dim != quantity.Number {
		return text
	}
	return strconv.FormatFloat(q.Value, 'f', -1, 64)
}

// padded fills a text up to a width, with a space behind it in any case.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 1))
}
