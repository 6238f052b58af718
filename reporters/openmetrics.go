package reporters

import (
	"bufio"
	"io"
	"strings"

	"github.com/weir-bench/weir/results"
)

// OpenMetrics writes the gauges of a document (reporters/gauges.go) in the text format of OpenMetrics 1.0. With gauges
// only, Prometheus's older text format can be read too.
func OpenMetrics(w io.Writer, doc *results.Document) error {
	return openMetrics(w, gaugesOf(doc, false))
}

// OpenMetricsSoFar is OpenMetrics of a session that still runs: without exit code and verdicts, which are not reached.
func OpenMetricsSoFar(w io.Writer, doc *results.Document) error {
	return openMetrics(w, gaugesOf(doc, true))
}

func openMetrics(w io.Writer, all []*gauge) error {
	out := bufio.NewWriter(w)
	for _, g := range all {
		g.text(out)
	}
	out.WriteString("# EOF\n")
	return out.Flush()
}

func (g *gauge) text(w *bufio.Writer) {
	line := func(parts ...string) {
		for _, s := range parts {
			w.WriteString(s)
		}
	}
	line("# TYPE ", g.name, " gauge\n")
	if g.unit != "" {
		line("# UNIT ", g.name, " ", g.unit, "\n")
	}
	// the two formats escape quotes differently: avoid them
	line("# HELP ", g.name, " ", strings.NewReplacer(`\`, `\\`, `"`, "'").Replace(plain(g.help)), "\n")
	for _, s := range g.samples {
		line(g.name, "{")
		for i, l := range s.labels {
			if i > 0 {
				line(",")
			}
			line(l.name, `="`, labelText.Replace(l.value), `"`)
		}
		line("} ", s.value, "\n")
	}
}

var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
