// This file applies the policy for launches that lacked processor time. recordCases in launch_evaluate.go calls it.

package executor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// processors is the processor usage of the launch's nodes; nil: not known.
func (l *launchRun) processors() *results.Processors {
	if len(l.loads) == 0 {
		return nil
	}
	threads := map[string]int{}
	for _, by := range append([]*launchRun{l}, l.load.launches()...) {
		for _, node := range by.engine.Nodes {
			threads[node] += max(1, by.engine.Threads)
		}
	}
	p := &results.Processors{Nodes: slices.Clone(l.loads)}
	for i := range p.Nodes {
		p.Nodes[i].Threads = threads[p.Nodes[i].Node]
	}
	slices.SortFunc(p.Nodes, func(a, b results.NodeLoad) int { return cmp.Compare(a.Node, b.Node) })
	return p
}

// Policies for launches that lacked processor time.
const (
	RepeatDisturbed = "repeat" // discard them, and repeat them within the budget
	KeepDisturbed   = "keep"   // count and mark them
	FailDisturbed   = "fail"   // make them errors
)

// discardIfDisturbed marks the entry of a case that lacked processor time and applies the session's policy. It
// returns why the launch is discarded; "": it counts. A launch also counts if the lost time cannot change any
// assertion. Background launches always count.
func (l *launchRun) discardIfDisturbed(i int, entry *results.Launch) string {
	if entry.Status != results.OK || l.background {
		return ""
	}
	d := entry.Disturbed()
	if b, ok := l.kind.Behaviour.(workload.DisturbanceDetector); ok && d == nil && !entry.Simulated {
		d = b.Disturbed(entry.Metrics)
	}
	if d == nil && engine.RunsCommands(l.engine.Runner) {
		d = entry.Outnumbered()
	}
	entry.Disturbance = d
	if d == nil || l.s.o.Disturbed == KeepDisturbed {
		return ""
	}
	doc := l.s.ledger.Doc
	c, metrics := doc.Case(l.cases[i].Key), workload.DefinitionsOf(doc)
	define := func(name string) (results.Metric, bool) { return metrics.Metric(c, name) }
	if c != nil && c.Tolerates(entry, d.Share, doc.Assertions, define) {
		d.Tolerated = true
		return ""
	}
	if l.s.o.Disturbed == FailDisturbed {
		entry.Status = results.Error
		entry.Failure = &results.Failure{Rank: -1, Phase: results.Evaluating, Kind: results.Disturbed,
			Cause: d.Text + " (--disturbed fail)"}
		return ""
	}
	entry.Discarded = d.Text
	return d.Text
}

// Waits between launches that are discarded one after the other, so that a burst of other work passes before the
// budget of launches is spent: the first, the longest, and all of a session.
const (
	firstQuietWait   = 500 * time.Millisecond
	longestQuietWait = 2 * time.Second
	allQuietWaits    = 15 * time.Second
)

func (s *session) countDiscarded(discarded bool) {
	if !discarded {
		s.discardedInARow = 0
		return
	}
	s.discardedInARow++
}

// awaitQuiet waits before a launch that follows discarded ones, longer each time.
func (s *session) awaitQuiet(ctx context.Context) error {
	d := quietWait(s.discardedInARow, s.waitedForQuiet)
	if d == 0 {
		return nil
	}
	s.waitedForQuiet += d
	return s.sleep(ctx, d)
}

func quietWait(discardedInARow int, waited time.Duration) time.Duration {
	if discardedInARow == 0 {
		return 0
	}
	d := longestQuietWait
	if shift := discardedInARow - 1; shift < 8 {
		d = min(d, firstQuietWait<<shift)
	}
	return max(0, min(d, allQuietWaits-waited))
}

// launches are the current or last launch of each member.
func (l *load) launches() []*launchRun {
	if l == nil {
		return nil
	}
	var out []*launchRun
	for _, m := range l.members {
		switch {
		case m.current != nil:
			out = append(out, m.current)
		case len(m.done) > 0:
			out = append(out, m.done[len(m.done)-1])
		}
	}
	return out
}
