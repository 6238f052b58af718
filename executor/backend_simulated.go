// This file holds the backend that simulates launches.

package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// simulatedBackend simulates launches, without processes, one after the other on a virtual clock.
type simulatedBackend struct {
	s         *session
	hosts     []results.Node
	simulator engine.Simulator // nil: not needed so far
}

// newSimulatedBackend has the nodes and GPUs that the plan needs, and a processor for each rank; none if no case is
// simulated.
func newSimulatedBackend(s *session) *simulatedBackend {
	v := &simulatedBackend{s: s}
	count, gpus, cpus := 0, s.plan.Cluster.GPUsPerNode, 1
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned || s.backendOf(c).processes() {
			continue
		}
		count = max(count, s.plan.Cluster.Nodes, c.Place.Nodes, 1)
		if d, err := s.demandOf(c); err == nil { // otherwise admitCases reports it
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

// needsNoNode reports whether all cases of the plan are simulated and it has no commands.
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

func (*simulatedBackend) processes() bool { return false }

func (v *simulatedBackend) nodes() []results.Node { return v.hosts }

func (v *simulatedBackend) lacks(_ *planner.Case, needs workload.Demand, _ map[string]trialPlacement) []string {
	if _, ok := engine.SimulationOf(needs.Runner); !ok {
		return []string{"runner " + needs.Runner + ": this weir does not have it"}
	}
	return nil
}

// ready does not wait: pauses are real time.
func (*simulatedBackend) ready(context.Context, *ledger.Group, []*planner.Case) error { return nil }

func (v *simulatedBackend) place(l *launchRun, d placement.Demand, _ []*launchRun) error {
	if len(v.hosts) < d.Nodes {
		return fmt.Errorf("missing: %s", placement.NodesNeeded(d.Nodes, len(v.hosts), false))
	}
	for r := range d.Ranks {
		l.engine.Nodes = append(l.engine.Nodes, v.hosts[d.Block(r)].Name)
	}
	return nil
}

func (*simulatedBackend) pack(*launchRun) error { return nil }

// run simulates a launch and stores its results as those of agents.
func (v *simulatedBackend) run(ctx context.Context, l *launchRun) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	simulated, err := v.simulate(l.engine)
	if err != nil {
		l.outcome = &agent.Outcome{
			Failure: &results.Failure{Rank: -1, Phase: "ready", Kind: results.FailedReady, Cause: err.Error()},
			At:      agent.Moment(time.Now()),
		}
		return nil
	}
	at := func(t time.Duration) time.Time { return v.s.ledger.Doc.Session.Started.Add(t) }
	from := simulated.Connected
	for i, c := range simulated.Cases {
		l.caseStarted(i)
		p := l.pending[i]
		p.rate, p.from, p.to = c.Rate, at(c.From), at(c.To)
		for _, part := range c.Ranks {
			if l.err = l.storePart(p, part); l.err != nil {
				return l.err
			}
		}
		from = c.To
		l.emit(event.Event{
			Type: event.CaseFinished, Case: l.cases[i].Key, Rate: p.rate, Seconds: (c.To - c.From).Seconds(),
		})
	}
	for _, p := range l.pending[len(simulated.Cases):] {
		p.from, p.to = at(from), at(simulated.Ended)
	}
	if simulated.Failure != nil {
		l.outcome = &agent.Outcome{Failure: simulated.Failure, At: agent.Moment(time.Now())}
	}
	return nil
}

func (v *simulatedBackend) simulate(l engine.Launch) (*engine.Played, error) {
	v.s.ledger.Doc.Session.Simulated = true
	if v.simulator == nil {
		simulation, _ := engine.SimulationOf(l.Runner) // checked by lacks
		v.simulator = simulation.New()
	}
	return v.simulator.Play(l)
}

// resume simulates a launch that was taken over, so that the virtual clock, drift and random numbers continue for
// the next one. Its results are in the document already.
func (v *simulatedBackend) resume(g *ledger.Group, cases []*planner.Case, index int, _ []string) {
	v.s.ledger.Doc.Session.Simulated = true
	if l, err := v.s.prepare(g, cases, index); err == nil {
		_, _ = v.simulate(l.engine) // a failure repeats the recorded one
	}
}
