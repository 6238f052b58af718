package executor

import (
	"cmp"
	"slices"

	"weir/engine"
	"weir/results"
	"weir/workload"
)

// processors are what is known of the processors of the launch's nodes; nil: nothing.
func (l *launched) processors() *results.Processors {
	if len(l.loads) == 0 {
		return nil
	}
	threads := map[string]int{}
	for _, by := range append([]*launched{l}, l.load.launches()...) {
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

// What becomes of launches that did not have their processors.
const (
	RepeatDisturbed = "repeat" // they do not count, and others are made instead within the budget
	KeepDisturbed   = "keep"   // they count, and are marked
	FailDisturbed   = "fail"   // they are errors
)

// disturbed marks the entry of a case that did not have its processors, and does with it what the session's policy
// says; "" or why it does not count. A launch counts all the same where what was lost can change nothing of what is
// asserted. What runs in the background is there to disturb others.
func (l *launched) disturbed(i int, entry *results.Launch) string {
	if entry.Status != results.OK || l.background {
		return ""
	}
	d := entry.Disturbed()
	if d == nil && l.kind.Disturbed != nil && !entry.Simulated {
		d = l.kind.Disturbed(entry.Metrics)
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
	if c != nil && c.Bears(entry, d.Share, doc.Assertions, define) {
		d.Borne = true
		return ""
	}
	if l.s.o.Disturbed == FailDisturbed {
		entry.Status = results.Error
		entry.Failure = &results.Failure{Rank: -1, Phase: results.Evaluating, Kind: results.Disturbed,
			Cause: d.Text + " (--disturbed fail)"}
		return ""
	}
	entry.Void = d.Text
	return d.Text
}

// launches are one of each member: those that run at a time.
func (l *load) launches() []*launched {
	if l == nil {
		return nil
	}
	var out []*launched
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
