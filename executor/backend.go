// This file holds the interface to what runs ranks, and its implementation by processes of nodes.

package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// backend runs the launches of a case.
type backend interface {
	// nodes are the nodes for which the condition of a case is evaluated.
	nodes() []results.Node
	// lacks lists what the nodes lack for a case.
	lacks(c *planner.Case, needs workload.Demand, known map[string]trialPlacement) []string
	// ready waits until a group's launch can begin.
	ready(ctx context.Context, g *ledger.Group, cases []*planner.Case) error
	// place assigns nodes to a launch, next to launches that run at the same time.
	place(l *launchRun, d placement.Demand, concurrent []*launchRun) error
	// pack encodes the launch for its nodes.
	pack(l *launchRun) error
	// run runs the launch's ranks and gathers their results. The error is why the session must end.
	run(ctx context.Context, l *launchRun) error
	// resume takes note of a launch that an earlier session ran on some nodes, by rank.
	resume(g *ledger.Group, cases []*planner.Case, index int, nodes []string)
	// processes reports whether ranks are processes, with variables, processors and devices.
	processes() bool
}

func (s *session) backendOf(c *planner.Case) backend {
	if k, ok := workload.Lookup(c.Workload); ok {
		if b, some := k.Behaviour.(workload.Simulator); some && b.Simulated(k.Get(c.Options)) {
			return s.simulated
		}
	}
	return processBackend{s}
}

// processBackend runs ranks as processes of the session's nodes.
type processBackend struct{ s *session }

func (processBackend) processes() bool { return true }

// nodes include the simulated fabrics, which every node has.
func (b processBackend) nodes() []results.Node {
	nodes := b.s.nodes.Inventories()
	for i := range nodes {
		fabrics := engine.SimulatedFabrics()
		maps.Copy(fabrics, nodes[i].Fabrics)
		nodes[i].Fabrics = fabrics
	}
	return nodes
}

func (b processBackend) lacks(c *planner.Case, needs workload.Demand, known map[string]trialPlacement) []string {
	s, d := b.s, b.s.demand(c, needs)
	at, ok := known[d.Key()]
	if !ok {
		at.placed, at.lacks = s.nodes.Locate(d, nil)
		all := s.clusterLacks()
		at.lacks = append(all, slices.DeleteFunc(at.lacks,
			func(what string) bool { return slices.Contains(all, what) })...)
		known[d.Key()] = at
	}
	if len(at.lacks) > 0 {
		return at.lacks
	}
	for _, service := range needs.Services {
		if there := len(s.nodes.Names()); service.Cluster == nil && service.Node >= there {
			return []string{fmt.Sprintf("node %d, counted from 0, for service %s (there: %d)", service.Node,
				service.Name, there)}
		}
	}
	if bindings, lacks := s.bindServices(needs.Services, nil, nil); len(lacks) > 0 {
		return lacks
	} else if reserved := reservedByServices(needs.Services, bindings, s.nodes.Names()); len(reserved) > 0 {
		d.Affine = true
		if _, lacks = s.nodes.Locate(d, reserved); len(lacks) > 0 {
			return lacks
		}
	}
	lacks := s.nodes.Lacks(needs, at.placed.Nodes)
	if len(lacks) == 0 {
		s.warnUnused(c, needs, at.placed.Nodes)
	}
	return lacks
}

func (b processBackend) ready(ctx context.Context, g *ledger.Group, cases []*planner.Case) error {
	if err := b.s.sleep(ctx, b.s.ledger.RetryDelay(cases)); err != nil {
		return err
	}
	return b.s.reacquire(ctx, groupNodesNeeded(g))
}

func (b processBackend) place(l *launchRun, d placement.Demand, concurrent []*launchRun) error {
	s := b.s
	taken := bindingsTaken(concurrent)
	addBindings(taken, l.reserved)
	p, lacks := s.nodes.Locate(d, taken)
	if len(lacks) > 0 { // nodes were lost
		return fmt.Errorf("missing: %s", strings.Join(lacks, "; "))
	}
	l.engine.Nodes, l.bindings, l.moved = p.Nodes, p.Bindings, p.Moved
	for i := range l.bindings {
		withoutVariables(&l.bindings[i], s.shell, l.cases[0].Env, l.cases[0].Secrets)
	}
	s.nodes.Remember(d, p.Nodes)
	return nil
}

func bindingsTaken(by []*launchRun) map[string][]results.Binding {
	taken := map[string][]results.Binding{}
	for _, l := range by {
		for _, b := range l.bindings {
			node := l.engine.Nodes[b.Rank]
			taken[node] = append(taken[node], b)
		}
	}
	return taken
}

func addBindings(to, from map[string][]results.Binding) {
	for node, bindings := range from {
		to[node] = append(to[node], bindings...)
	}
}

func (processBackend) pack(l *launchRun) (err error) {
	l.packed, err = agent.Pack(l.engine)
	return err
}

func (b processBackend) run(ctx context.Context, l *launchRun) error {
	err := l.load.start(ctx)
	if err == nil && l.failure == nil {
		l.startRanks(ctx)
		err = l.err
	}
	for err == nil && !l.ended() {
		err = b.s.waitWithNews(ctx, newsEvery, func() { b.s.services.tellWork(l) }, func() bool {
			return l.ended() || l.load.changed() || l.failure == nil && b.s.services.failed(l.services) != nil
		})
		if l.failOnService(); err == nil {
			err = l.load.renew(ctx)
		}
	}
	if err == nil {
		err = l.awaitServiceFailure(ctx)
	}
	if l.task != nil {
		err = b.s.finishTask(l.task, err)
	}
	return l.load.stop(ctx, err)
}

func (b processBackend) resume(g *ledger.Group, cases []*planner.Case, _ int, nodes []string) {
	if needs, err := b.s.demandOf(cases[0]); err == nil {
		d := b.s.demand(cases[0], needs)
		d.Affine = d.Affine || b.s.needsOwnCPUs(g, nil, nil)
		b.s.nodes.Remember(d, nodes)
	}
}
