package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/ledger"
	"weir/executor/placement"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// backend is what the launches of a case run on.
type backend interface {
	// nodes are those that the condition of a case is evaluated for.
	nodes() []results.Node
	// lacks lists what the nodes lack for a case.
	lacks(c *planner.Case, needs workload.Demand, known map[string]located) []string
	// ready waits until the nodes of a group's launch can be had.
	ready(ctx context.Context, g *ledger.Group, cases []*planner.Case) error
	// place gives a launch its nodes, beside launches that run at the same time.
	place(l *launched, d placement.Demand, beside []*launched) error
	// pack makes the launch what its nodes are told.
	pack(l *launched) error
	// run runs the launch's ranks and takes what they measure. The error says why the
	// session must end.
	run(ctx context.Context, l *launched) error
	// resume takes note of a launch that a former session made on some nodes, by rank.
	resume(g *ledger.Group, cases []*planner.Case, index int, nodes []string)
	// processes says whether ranks are processes, with variables, processors and devices.
	processes() bool
}

// backendOf is that of a case.
func (s *session) backendOf(c *planner.Case) backend {
	if k, ok := workload.Lookup(c.Workload); ok && k.Simulated != nil && k.Simulated(k.Get(c.Options)) {
		return s.virtual
	}
	return agents{s}
}

// agents is the backend of real nodes.
type agents struct{ s *session }

func (agents) processes() bool { return true }

// nodes have the fabrics of simulations as well, which run anywhere.
func (b agents) nodes() []results.Node {
	nodes := b.s.hosts.Inventories()
	for i := range nodes {
		fabrics := engine.SimulatedFabrics()
		maps.Copy(fabrics, nodes[i].Fabrics)
		nodes[i].Fabrics = fabrics
	}
	return nodes
}

func (b agents) lacks(c *planner.Case, needs workload.Demand, known map[string]located) []string {
	s, d := b.s, b.s.demand(c, needs)
	at, ok := known[d.Key()]
	if !ok {
		at.placed, at.lacks = s.hosts.Locate(d, nil)
		all := s.clusterLacks()
		at.lacks = append(all, slices.DeleteFunc(at.lacks,
			func(what string) bool { return slices.Contains(all, what) })...)
		known[d.Key()] = at
	}
	if len(at.lacks) > 0 {
		return at.lacks
	}
	for _, service := range needs.Services {
		if there := len(s.hosts.Names()); service.Cluster == nil && service.Node >= there {
			return []string{fmt.Sprintf("node %d, counted from 0, for service %s (there: %d)", service.Node,
				service.Name, there)}
		}
	}
	if seats, lacks := s.seatsOfServices(needs.Services, nil, nil); len(lacks) > 0 {
		return lacks
	} else if held := heldBy(needs.Services, seats, s.hosts.Names()); len(held) > 0 {
		d.Affine = true
		if _, lacks = s.hosts.Locate(d, held); len(lacks) > 0 {
			return lacks
		}
	}
	lacks := s.hosts.Lacks(needs, at.placed.Nodes)
	if len(lacks) == 0 {
		s.tellUnread(c, needs, at.placed.Nodes)
	}
	return lacks
}

func (b agents) ready(ctx context.Context, g *ledger.Group, cases []*planner.Case) error {
	if err := b.s.sleep(ctx, b.s.ledger.Pause(cases)); err != nil {
		return err
	}
	return b.s.reacquire(ctx, nodesOf(g))
}

func (b agents) place(l *launched, d placement.Demand, beside []*launched) error {
	s := b.s
	taken := seatsTaken(beside)
	for node, seats := range l.held {
		taken[node] = append(taken[node], seats...)
	}
	p, lacks := s.hosts.Locate(d, taken)
	if len(lacks) > 0 { // some have gone
		return fmt.Errorf("missing: %s", strings.Join(lacks, "; "))
	}
	l.engine.Nodes, l.seats, l.moved = p.Nodes, p.Seats, p.Moved
	for i := range l.seats {
		withoutVariables(&l.seats[i], s.shell, l.cases[0].Env, l.cases[0].Secrets)
	}
	s.hosts.Remember(d, p.Nodes)
	return nil
}

// seatsTaken are those that launches have, by node.
func seatsTaken(by []*launched) map[string][]results.Seat {
	taken := map[string][]results.Seat{}
	for _, l := range by {
		for _, seat := range l.seats {
			node := l.engine.Nodes[seat.Rank]
			taken[node] = append(taken[node], seat)
		}
	}
	return taken
}

func (agents) pack(l *launched) (err error) {
	l.packed, err = agent.Pack(l.engine)
	return err
}

func (b agents) run(ctx context.Context, l *launched) error {
	err := l.load.start(ctx)
	if err == nil && l.failure == nil {
		l.place(ctx)
		err = l.err
	}
	for err == nil && !l.over() {
		err = b.s.Wait(ctx, func() bool {
			return l.over() || l.load.changed() || l.failure == nil && b.s.services.failed(l.services) != nil
		})
		if l.bereft(); err == nil {
			err = l.load.renew(ctx)
		}
	}
	if err == nil {
		err = l.awaitRelated(ctx)
	}
	if l.task != nil {
		err = b.s.finish(l.task, err)
	}
	return l.load.stop(ctx, err)
}

func (b agents) resume(g *ledger.Group, cases []*planner.Case, _ int, nodes []string) {
	if needs, err := b.s.demandOf(cases[0]); err == nil {
		d := b.s.demand(cases[0], needs)
		d.Affine = d.Affine || b.s.affine(g, nil, nil)
		b.s.hosts.Remember(d, nodes)
	}
}
