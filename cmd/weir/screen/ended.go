package screen

import (
	"fmt"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// mostEnded is the largest number of cases in a session that prints a line for each when it ends, on a terminal. Larger
// sessions print one for cases that did not pass.
const mostEnded = 100

// ended is a line for a case that needs no more launches, verdict first; "" for other events, and in a large session
// for a case that is in order.
func (l *live) ended(e event.Event) string {
	if e.Type != event.CaseEnded || l.state.plan[e.Case] == nil {
		return ""
	}
	if worst := l.state.verdict(e.Case); len(l.state.plan) > mostEnded && (worst == results.Pass || worst == "") {
		return ""
	}
	return l.state.ended(e.Case, l.state.points[e.Case])
}

// verdict is the worst of a case's verdicts so far, its own and those of its assertions; "": there is none.
func (t *progressState) verdict(key string) results.Verdict {
	verdicts := t.verdictsOf(t.plan[key])
	if own := t.ends[key]; own != "" {
		verdicts = append(verdicts, own)
	}
	return reporters.WorstOf(verdicts)
}

// ended says how a case ended: its verdict, a name, and its estimates or why it has none.
func (t *progressState) ended(key, name string) string {
	label := "-"
	if worst := t.verdict(key); worst != "" {
		label = reporters.Label(worst)
	}
	text := fmt.Sprintf("%-6s  %s", label, name)
	m := t.measured[key]
	if m == nil {
		return printable.Line(text)
	}
	brief := t.brief(key, gate.Estimates(t.metrics, m))
	if n := m.Discarded(); brief == "" && n > 0 {
		brief = fmt.Sprintf("%d of %d launches discarded", n, len(m.Launches))
	}
	if brief != "" {
		text += ": " + brief
	}
	return printable.Line(text)
}
