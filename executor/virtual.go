package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/executor/placement"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// virtual is the backend of launches in virtual time. They have no processes and follow
// each other on one clock.
type virtual struct {
	s         *session
	hosts     []results.Node
	simulator engine.Simulator // once it is needed
}

// newVirtual has as many nodes, with as many GPUs, as the plan asks for, and a processor
// for each rank; none if nothing is simulated.
func newVirtual(s *session) *virtual {
	v := &virtual{s: s}
	count, gpus, cpus := 0, s.plan.Cluster.GPUsPerNode, 1
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned || s.backendOf(c).processes() {
			continue
		}
		count = max(count, s.plan.Cluster.Nodes, c.Place.Nodes, 1)
		if d, err := s.demandOf(c); err == nil { // else admit says so
			cpus = max(cpus, d.Ranks*d.Threads)
		}
	}
	for i := range count {
		v.hosts = append(v.hosts, results.Node{
			Name: fmt.Sprintf("sim-%d", i+1), Kernel: "simulated", OS: "simulated",
			CPU:     results.CPU{Model: "simulated", Count: cpus, Allowed: cpus, Sockets: 1, NUMA: 1},
			GPUs:    slices.Repeat([]results.GPU{{Name: "simulated"}}, gpus),
			NICs:    []results.NIC{},
			Fabrics: engine.SimulatedFabrics(),
		})
	}
	return v
}

// needsNoNode says whether no case of the plan has processes, and no command is to run
// anywhere.
func (s *session) needsNoNode() bool {
	planned := false
	for _, c := range s.plan.Cases {
		if c.Status == planner.Planned {
			if s.backendOf(c).processes() {
				return false
			}
			planned = true
		}
	}
	return planned && !runsCommands(s.plan)
}

func (*virtual) processes() bool { return false }

func (v *virtual) nodes() []results.Node { return v.hosts }

func (v *virtual) lacks(_ *planner.Case, needs workload.Demand, _ map[string]located) []string {
	if _, ok := engine.SimulationOf(needs.Runner); !ok {
		return []string{"runner " + needs.Runner + ": this weir does not have it"}
	}
	return nil
}

// ready waits for nothing: the time between launches is not this one.
func (*virtual) ready(context.Context, *ledger.Group, []*planner.Case) error { return nil }

func (v *virtual) place(l *launched, d placement.Demand, _ []*launched) error {
	if len(v.hosts) < d.Nodes {
		return fmt.Errorf("missing: %s", placement.NodesNeeded(d.Nodes, len(v.hosts), false))
	}
	for r := range d.Ranks {
		l.engine.Nodes = append(l.engine.Nodes, v.hosts[d.Block(r)].Name)
	}
	return nil
}

func (*virtual) pack(*launched) error { return nil }

// run goes through a launch and takes what it gives, as the reports of agents would have
// brought it.
func (v *virtual) run(ctx context.Context, l *launched) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	played, err := v.play(l.engine)
	if err != nil {
		l.outcome = &agent.Outcome{
			Failure: &results.Failure{Rank: -1, Phase: "ready", Kind: results.FailedReady, Cause: err.Error()},
			At:      time.Now(),
		}
		return nil
	}
	at := func(t time.Duration) time.Time { return v.s.ledger.Doc.Session.Started.Add(t) }
	from := played.Connected
	for i, c := range played.Cases {
		l.started(i)
		p := l.pending[i]
		p.rate, p.from, p.to = c.Rate, at(c.From), at(c.To)
		for _, part := range c.Ranks {
			if l.err = l.keep(p, part); l.err != nil {
				return l.err
			}
		}
		from = c.To
		l.tell(event.Event{
			Type: event.CaseFinished, Case: l.cases[i].Key, Rate: p.rate, Seconds: (c.To - c.From).Seconds(),
		})
	}
	for _, p := range l.pending[len(played.Cases):] {
		p.from, p.to = at(from), at(played.Ended)
	}
	if played.Failure != nil {
		l.outcome = &agent.Outcome{Failure: played.Failure, At: time.Now()}
	}
	return nil
}

func (v *virtual) play(l engine.Launch) (*engine.Played, error) {
	v.s.ledger.Doc.Session.Simulated = true
	if v.simulator == nil {
		simulation, _ := engine.SimulationOf(l.Runner) // admit has looked
		v.simulator = simulation.New()
	}
	return v.simulator.Play(l)
}

// resume lets the simulator go through a launch that was taken over, so that the virtual
// clock, drift and luck stand for the next one where they would have stood. What comes of it
// is in the document already.
func (v *virtual) resume(g *ledger.Group, cases []*planner.Case, index int, _ []string) {
	v.s.ledger.Doc.Session.Simulated = true
	if l, err := v.s.prepare(g, cases, index); err == nil {
		_, _ = v.play(l.engine) // what fails again failed then
	}
}
