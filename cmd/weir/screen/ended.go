package screen

import (
	"fmt"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// mostEnded is the largest number of cases of which each gets a line when it is decided. Of more cases, only those that
// did not pass do.
const mostEnded = 100

// ended is a line for a case when the last of its assertions is decided, verdict first; "" for other events.
func (l *live) ended(e event.Event) string {
	c := l.state.plan[e.Case]
	if e.Type != event.VerdictReached || c == nil || l.decided[e.Case] {
		return ""
	}
	verdicts, undecided := l.state.verdictsOf(c)
	if undecided { // more launches may decide it
		return ""
	}
	l.decided[e.Case] = true
	worst := reporters.WorstOf(verdicts)
	if worst == results.Pass && len(l.state.plan) > mostEnded {
		return ""
	}
	text := fmt.Sprintf("%-6s  %s", reporters.Label(worst), l.state.points[e.Case])
	if m := l.state.measured[e.Case]; m != nil {
		text += ": " + l.state.brief(e.Case, gate.Estimates(l.state.metrics, m))
	}
	return printable.Line(text)
}
