package executor

import (
	"cmp"
	"slices"

	"weir/results"
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

// disturbed makes an entry void that did not have its processors, and gives the first reason of
// the launch. What runs in the background is there to disturb others.
func (l *launched) disturbed(entry *results.Launch, first string) string {
	if entry.Status != results.OK || l.background || !l.s.o.VoidDisturbed {
		return first
	}
	entry.Void = entry.Disturbed()
	return cmp.Or(first, entry.Void)
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
