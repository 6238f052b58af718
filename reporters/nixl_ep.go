package reporters

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// nixlEPNotes list differences from the lines of NIXL EP's tests.
const nixlEPNotes = `The lines of NIXL EP's performance tests with what weir measured: medians over the launches of a case. Not the same as there:
  passed     ranks that have checked each byte that came, with verify, in the launch that had the fewest; there each rank with a
             positive time
  Bandwidth  the same formula; with timing aligned of iterations that begin together, not back to back (timing stream)
  Latency    of all ranks, on whatever node they are
  Operation  over all ranks and rounds; there of the first rank of a node
  Elastic    weir's own lines, of a phase; NIXL EP's elastic.py prints none
  -          not measured: the launches failed, were discarded or told to stop, or nobody knows
`

// NIXLEP writes the cases of a session in the format of NIXL EP's tests.
func NIXLEP(w io.Writer, doc *results.Document) error {
	out := bufio.NewWriter(w)
	for _, text := range banners(doc) {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	out.WriteString(nixlEPNotes)
	others := 0
	for _, c := range attempted(doc).Cases {
		block := blockOf(c, "nixl-ep")
		if block == nil {
			others++
			continue
		}
		metric := func(name string) (float64, bool) {
			if p, ok := workload.As[workload.RankChecker](c.Workload); ok && name == p.Passed() {
				return ranksPassed(c, name)
			}
			m, ok := c.Metrics.Get(name)
			return m.Median, ok
		}
		option := func(name string) string {
			if name == "fabric" {
				return cmp.Or(ranOver(c), "-")
			}
			return setting(c, name)
		}
		fmt.Fprintf(out, "\n%s\n", plain(c.Key))
		for _, line := range block(option, metric) {
			fmt.Fprintln(out, line)
		}
		fmt.Fprintf(out, "Verdict: %s\n", sentence(": ", caseLabel(c), sentenceOf(reason(c))))
	}
	foreignEnd(out, doc, others, "NIXL EP has no such test")
	return out.Flush()
}

// ranksPassed is the number of ranks that ran and checked a case in the launch with the fewest; known is
// false if ranks were stopped because another failed.
func ranksPassed(c *results.Case, metric string) (least float64, known bool) {
	if len(c.Launches) == 0 {
		m, ok := c.Metrics.Get(metric)
		return m.Median, ok
	}
	for _, l := range c.Launches {
		n, ok := l.Metrics.Get(metric)
		switch {
		case l.Retried:
			continue
		case !ok && l.Finished == 0 && l.Status == results.OK:
			m, of := c.Metrics.Get(metric)
			n, ok = m.Median, of
		case !ok && l.Finished > 0:
			n, ok = float64(l.Finished), true
		}
		if !ok {
			return 0, false
		}
		if !known || n < least {
			least, known = n, true
		}
	}
	return least, known
}

// ranOver is the fabric that moved the data, or the requested one; "" if nothing ran and weir was to
// choose.
func ranOver(c *results.Case) string {
	if name := plain(strings.Join(fabricsOf(one(c)), " or ")); name != "auto" {
		return name
	}
	return ""
}
