package reporters

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/weir-bench/weir/results"
)

// ctPerftestNotes list differences from the reports of ct-perftest and sequential-ct-perftest.
const ctPerftestNotes = `The reports of NIXL's ct-perftest and sequential-ct-perftest with what weir measured: medians over the launches of a case in the
tables; in iterations_results a launch for each iteration, with means over its own iterations. Not the same as there:
  Latency           ranks of a pattern start at a common instant, and clocks of hosts are compared; there barriers take up to 50 ms
  Isolated Latency  of the whole pattern; there the mean of the slowest sender
  Total time        the sum of the iterations, which begin together
  -                 not measured
`

// ctPerftestPattern matches the number of a pattern in the key of a case.
var ctPerftestPattern = regexp.MustCompile(`(,?)pattern=\d+(,?)`)

// ctPerftestTable is a table of one of the two programs: its headings, and the format of its rows.
type ctPerftestTable struct {
	head   string
	widths []string // of a number, with its decimals
	blank  []string // of a missing one
}

var (
	// ctPerftestSequence has the widths of the published table.
	ctPerftestSequence = ctPerftestTable{
		"  Transfer size (GB)    Latency (ms)    Isolated Latency (ms)    Num Senders    Mean BW (GB/s)\n" +
			"--------------------  --------------  -----------------------  -------------  ----------------\n",
		[]string{"%14.3f", "%21.3f", "%25.3f", "%15.0f", "%18.3f"}, []string{"%14s", "%21s", "%25s", "%15s", "%18s"},
	}
	ctPerftestSingle = ctPerftestTable{
		"  Iters    Total time (s)    Avg latency/iter (s)    Total size (GB)    Mean BW (GB/s)\n" +
			"-------  ----------------  ----------------------  -----------------  ----------------\n",
		[]string{"%7.0f", "%18.6f", "%24.6f", "%19.3f", "%18.3f"}, []string{"%7s", "%18s", "%24s", "%19s", "%18s"},
	}
)

// CTPerftest writes the matrices of a session as the tables of ct-perftest and sequential-ct-perftest, and
// behind them the JSON of the latter if there is a sequence.
func CTPerftest(w io.Writer, doc *results.Document) error {
	out := bufio.NewWriter(w)
	for _, text := range banners(doc) {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	out.WriteString(ctPerftestNotes)
	others, sequence := 0, false
	for _, group := range ctPerftestGroups(doc, &others) {
		table := ctPerftestSingle
		if group.sequence {
			table, sequence = ctPerftestSequence, true
		}
		fmt.Fprintf(out, "\n%s\n\n%s", plain(group.name), table.head)
		for _, c := range group.cases {
			numbers, members := ctPerftestNumbers(c, nil)
			for i, member := range members {
				if v, ok := numbers[member].(float64); ok {
					fmt.Fprintf(out, table.widths[i], v)
				} else {
					fmt.Fprintf(out, table.blank[i], "-")
				}
			}
			out.WriteByte('\n')
		}
	}
	foreignEnd(out, doc, others, "ct-perftest has no such table")
	if sequence {
		out.WriteByte('\n')
		if err := CTPerftestJSON(out, doc); err != nil {
			return err
		}
	}
	return out.Flush()
}

// CTPerftestJSON writes the sequences of a session as the JSON of sequential-ct-perftest: the first as it is, all
// of several in weir_sequences.
func CTPerftestJSON(w io.Writer, doc *results.Document) error {
	all := []map[string]any{}
	for _, group := range ctPerftestGroups(doc, new(int)) {
		if !group.sequence {
			continue
		}
		iterations := [][]map[string]any{}
		for i := range ctPerftestLaunches(group.cases) {
			var patterns []map[string]any
			for _, c := range group.cases {
				numbers, _ := ctPerftestNumbers(c, c.Succeeded()[i])
				patterns = append(patterns, numbers)
			}
			iterations = append(iterations, patterns)
		}
		all = append(all, map[string]any{
			"iterations_results": iterations,
			"metadata": map[string]any{
				"ts": doc.Session.Started.Unix(), "finished_ts": doc.Session.Finished.Unix(), "weir_case": group.name,
				"weir_session": doc.Session.ID,
			},
		})
	}
	out := map[string]any{"iterations_results": [][]any{}}
	if len(all) > 0 {
		out = all[0]
	}
	if len(all) > 1 {
		out["weir_sequences"] = all[1:]
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// ctPerftestGroup is a sequence with its patterns, or a case of one matrix.
type ctPerftestGroup struct {
	name     string
	sequence bool
	cases    []*results.Case
}

// ctPerftestGroups returns the groups of a session in order, and counts cases of other workloads.
func ctPerftestGroups(doc *results.Document, others *int) (all []*ctPerftestGroup) {
	seen := map[string]*ctPerftestGroup{}
	for _, c := range attempted(doc).Cases {
		if blockOf(c, "ct-perftest") == nil {
			*others++
			continue
		}
		name := ctPerftestPattern.ReplaceAllStringFunc(c.Key, func(m string) string {
			if strings.HasPrefix(m, ",") && strings.HasSuffix(m, ",") {
				return ","
			}
			return ""
		})
		name = strings.TrimSuffix(name, "[]")
		g := seen[name]
		if g == nil {
			g = &ctPerftestGroup{name: name, sequence: name != c.Key}
			seen[name] = g
			all = append(all, g)
		}
		g.cases = append(g.cases, c)
	}
	return all
}

// ctPerftestLaunches is the number of launches that all patterns have.
func ctPerftestLaunches(cases []*results.Case) int {
	least := len(cases[0].Succeeded())
	for _, c := range cases {
		least = min(least, len(c.Succeeded()))
	}
	return least
}

// ctPerftestNumbers returns the numbers of a case in one launch, and their order; nil: their medians over all.
func ctPerftestNumbers(c *results.Case, l *results.Launch) (numbers map[string]any, order []string) {
	metric := func(name string) (float64, bool) {
		if l != nil {
			return l.Metrics.Get(name)
		}
		m, ok := c.Metrics.Get(name)
		return m.Median, ok
	}
	lines := blockOf(c, "ct-perftest")(func(option string) string { return setting(c, option) }, metric)
	if err := json.Unmarshal([]byte(lines[0]), &numbers); err != nil || len(lines) < 2 {
		return nil, nil // which no block writes
	}
	return numbers, strings.Fields(lines[1])
}
