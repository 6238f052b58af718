package executor

import (
	"time"

	"weir/executor/agent"
	"weir/executor/event"
)

// progressPause is the least time between two words on the progress of a launch: each node
// says where it is, more seldom than that, and there may be a thousand of them.
const progressPause = 150 * time.Millisecond

// progress tells of the slowest node of those that were heard since it was told last.
func (l *launched) progress(p *agent.Progress, now time.Time) {
	if p.Case >= len(l.cases) || l.pending[p.Case].complete() {
		return
	}
	if l.slowest == nil || l.pending[l.slowest.Case].complete() || behind(p, l.slowest) {
		l.slowest = p
	}
	if now.Sub(l.progressed) < progressPause {
		return
	}
	p, l.slowest, l.progressed = l.slowest, nil, now
	l.tell(event.Event{
		Type: event.CaseProgress, Case: l.cases[p.Case].Key,
		Phase: p.Phase, Done: p.Done, Total: p.Total, Rate: p.Rate,
	})
}

// behind says whether a node has come less far than another. One whose ranks only serve
// counts nothing, and says nothing of how far the others are.
func behind(a, b *agent.Progress) bool {
	if a.Case != b.Case {
		return a.Case < b.Case
	}
	if counts := a.Total > 0; counts != (b.Total > 0) {
		return counts
	}
	return a.Done < b.Done
}
