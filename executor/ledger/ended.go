package ledger

import (
	"slices"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
)

// TellEnded emits the end of all cases that were measured.
func (l *Ledger) TellEnded() { l.tellEnded(true) }

// tellEnded emits the end of cases that were measured and need no more launches, or of all that were measured. A case
// that an assertion over several cases makes undecided again ends again.
func (l *Ledger) tellEnded(all bool) {
	for _, g := range l.Groups {
		if g.Background() {
			continue
		}
		goesOn := map[string]bool{}
		for _, c := range l.Launchable(g) {
			goesOn[c.Key] = l.nextOf(g, c) > 0
		}
		if len(g.Wanted) > 0 && Sequence(g.Wanted[0]) {
			undecided := !l.Decided(g)
			for _, c := range g.Wanted {
				goesOn[c.Key] = undecided
			}
		}
		for _, w := range g.Wanted {
			c := l.Case(w.Key)
			switch ended := len(c.Launches) > 0 && (all || !goesOn[c.Key]); {
			case !ended:
				delete(l.told, c.Key)
			case !l.told[c.Key]:
				l.told[c.Key] = true
				measured := *c
				measured.Launches = slices.Clone(c.Launches)
				l.Events.Emit(event.Event{
					Type: event.CaseEnded, Case: c.Key, Status: c.Status, Reason: c.Reason, Verdict: ownVerdict(c),
					Measured: &measured,
				})
			}
		}
	}
}

// ownVerdict is the verdict of a case apart from its assertions; "": it has none.
func ownVerdict(c *results.Case) results.Verdict {
	switch {
	case c.Excused():
		return results.XFail
	case c.Status == results.Error, c.Invalid != "":
		return results.ErrorVerdict
	case c.Unexpected():
		return results.XPass
	case c.Unmeasured() != "":
		return results.InconclusiveVerdict
	}
	return ""
}
