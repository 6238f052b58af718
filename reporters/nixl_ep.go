package reporters

import (
	"bufio"
	"fmt"
	"io"

	"weir/results"
	"weir/workload"
)

// nixlEPNotes say what a reader who knows these lines from NIXL EP's tests would otherwise take
// for the same.
const nixlEPNotes = `The lines of NIXL EP's performance tests with what weir measured: medians over the launches of a case. Not the same as there:
  passed     ranks that have checked each byte that came, with verify; there each rank with a positive time
  Bandwidth  the same formula; with timing aligned of iterations that begin together, not back to back (timing stream)
  Latency    of all ranks, on whatever node they are
  Operation  over all ranks and rounds; there of the first rank of a node
`

// NIXLEP writes the cases of a session as NIXL EP's tests print theirs.
func NIXLEP(w io.Writer, doc *results.Document) error {
	out := bufio.NewWriter(w)
	for _, text := range banners(doc) {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	out.WriteString(nixlEPNotes)
	others := 0
	for _, c := range attempted(doc).Cases {
		k, known := workload.Lookup(c.Workload)
		if !known || k.Blocks["nixl-ep"] == nil {
			others++
			continue
		}
		metric := func(name string) (float64, bool) {
			m, ok := c.Metrics.Get(name)
			return m.Median, ok
		}
		fmt.Fprintf(out, "\n%s\n", plain(c.Key))
		for _, line := range k.Blocks["nixl-ep"](func(option string) string { return setting(c, option) }, metric) {
			fmt.Fprintln(out, line)
		}
		fmt.Fprintf(out, "Verdict: %s\n", sentence(": ", caseLabel(c), sentenceOf(reason(c))))
	}
	if others > 0 {
		fmt.Fprintf(out, "\n%s of other workloads not shown: NIXL EP has no such test\n", plural(others, "case"))
	}
	out.WriteByte('\n')
	for _, line := range leftOut(doc) {
		fmt.Fprintf(out, "%s\n", line)
	}
	fmt.Fprintf(out, "%s: %s\n", labelled(doc.Session.Status), headline(doc))
	return out.Flush()
}
