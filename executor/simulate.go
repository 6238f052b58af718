package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// simulated says whether a case runs in virtual time.
func simulated(c *planner.Case) bool {
	k, ok := workload.Lookup(c.Workload)
	return ok && k.Simulated != nil && k.Simulated(k.Get(c.Options))
}

// onlySimulated says whether the session needs no node at all: every case is
// simulated, and no command is to run anywhere.
func (s *session) onlySimulated() bool {
	p := s.plan
	planned := false
	for _, c := range p.Cases {
		if c.Status == planner.Planned {
			if !simulated(c) {
				return false
			}
			planned = true
		}
	}
	commands := len(p.Checks) + len(p.Artifacts) + len(p.Setup) + len(p.Teardown)
	for _, r := range p.Runs {
		commands += len(r.Setup) + len(r.Teardown) + len(r.LaunchSetup) + len(r.LaunchTeardown)
	}
	return planned && commands == 0
}

// virtualNodes are those that simulated launches run on, none if there are no
// such launches: as many, with as many GPUs, as the plan asks for, and a processor
// for each rank.
func virtualNodes(p *planner.Plan) []results.Node {
	count, gpus, cpus := 0, p.Cluster.GPUsPerNode, 1
	for _, c := range p.Cases {
		if c.Status != planner.Planned || !simulated(c) {
			continue
		}
		count = max(count, p.Cluster.Nodes, c.Place.Nodes, 1)
		if spec, _, err := specOf(c); err == nil { // else admit says so
			d := spec.Demand()
			cpus = max(cpus, d.Ranks*d.Threads)
		}
	}
	nodes := make([]results.Node, count)
	for i := range nodes {
		nodes[i] = results.Node{
			Name: fmt.Sprintf("sim-%d", i+1), Kernel: "simulated", OS: "simulated",
			CPU:     results.CPU{Model: "simulated", Count: cpus, Allowed: cpus, Sockets: 1, NUMA: 1},
			GPUs:    slices.Repeat([]results.GPU{{Name: "simulated"}}, gpus),
			NICs:    []results.NIC{},
			Fabrics: engine.SimulatedFabrics(),
		}
	}
	return nodes
}

func (s *session) virtualNames() []string {
	var names []string
	for _, n := range s.virtual {
		names = append(names, n.Name)
	}
	return names
}

// hosts are the nodes that the condition of a case is about: the virtual ones if it is
// simulated. Launches can be simulated on every real one as well.
func (s *session) hosts(c *planner.Case) []results.Node {
	if simulated(c) {
		return s.virtual
	}
	nodes := s.nodes()
	for i := range nodes {
		fabrics := engine.SimulatedFabrics()
		maps.Copy(fabrics, nodes[i].Fabrics)
		nodes[i].Fabrics = fabrics
	}
	return nodes
}

// lacksSimulation is why a simulated case cannot run.
func lacksSimulation(runner string) []string {
	if _, ok := engine.SimulationOf(runner); !ok {
		return []string{"runner " + runner + ": this weir does not have it"}
	}
	return nil
}

// play goes through a simulated launch and takes what it gives, as the reports of
// agents would have brought it. The error is the end of the session's context.
func (l *launched) play(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s := l.s
	played, err := s.simulate(l.engine)
	if err != nil {
		l.outcome = &agent.Outcome{Failure: &results.Failure{Rank: -1, Phase: "ready", Kind: results.FailedReady, Cause: err.Error()}, At: time.Now()}
		return nil
	}
	at := func(t time.Duration) time.Time { return s.doc.Session.Started.Add(t) }
	from := played.Connected
	for i, c := range played.Cases {
		l.started(i)
		if err := l.takePlayed(i, c); err != nil {
			l.err = err
			return nil
		}
		l.pending[i].from, l.pending[i].to = at(c.From), at(c.To)
		from = c.To
		l.tell(Event{Type: CaseFinished, Case: l.cases[i].Key, Rate: l.pending[i].rate, Seconds: (c.To - c.From).Seconds()})
	}
	for _, p := range l.pending[len(played.Cases):] {
		p.from, p.to = at(from), at(played.Ended)
	}
	if played.Failure != nil {
		l.outcome = &agent.Outcome{Failure: played.Failure, At: time.Now()}
	}
	return nil
}

// simulate gives a launch to the session's simulator.
func (s *session) simulate(l engine.Launch) (*engine.Played, error) {
	s.doc.Session.Simulated = true
	if s.simulator == nil {
		simulation, _ := engine.SimulationOf(l.Runner) // admit has looked
		s.simulator = simulation.New()
	}
	return s.simulator.Play(l)
}

// replay lets the simulator go through a launch that was taken over, so that the
// virtual clock, drift and luck stand for the next one where they would have stood.
// What comes of it is in the document already.
func (s *session) replay(g *group, cases []*planner.Case, index int) {
	s.doc.Session.Simulated = true
	if l, err := s.prepare(g, cases, index); err == nil {
		_, _ = s.simulate(l.engine) // what fails again failed then
	}
}

// takePlayed keeps what the ranks of a played case measured.
func (l *launched) takePlayed(i int, c engine.PlayedCase) error {
	p := l.pending[i]
	p.rate = c.Rate
	for _, part := range c.Ranks {
		if err := l.keep(p, part); err != nil {
			return err
		}
	}
	return nil
}
