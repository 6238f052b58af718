package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// launched is one launch of a group's cases.
type launched struct {
	s          *session
	g          *ledger.Group
	id         string
	index      int
	cases      []*planner.Case
	asked      []workload.Spec   // of cases
	options    []workload.Values // of cases
	kind       *workload.Kind
	engine     engine.Launch
	packed     []byte                          // engine, on its way to the nodes
	why        string                          // this fabric, where the scenario leaves it to weir
	cpus       map[string]agent.CPUs           // by node, where other launches run beside it
	seats      []results.Seat                  // by rank, where ranks have anything to themselves
	provided   map[string]results.Seat         // of its services, by name
	held       map[string][]results.Seat       // what services have while it runs, by node
	moved      []results.Move                  // from nodes of the launches before
	load       *load                           // that runs in its background
	values     map[string]string               // of other runs, by their names in texts of roles and services
	known      map[string]string               // of other runs, by their names in options and variables
	services   []workload.Service              // that must run meanwhile
	observed   map[string]workload.Observation // of its services, by name
	etcd       bool                            // a part of the session's is lent to it
	background bool                            // it is part of such a load
	slowest    *agent.Progress                 // of what was not told yet
	progressed time.Time                       // when progress was last told
	pending    []*pendingCase                  // as cases
	begun      bool                            // its setup began
	task       *task                           // nil: nothing was placed
	running    time.Time                       // when its ranks were connected
	latest     time.Time                       // when the last result came
	failure    *results.Failure
	outcome    *agent.Outcome
	err        error // of the session, not of the launch
	ignored    []results.Ignored
	beneath    map[int][]fabric.Beneath // by rank
	variables  []results.Variable       // library variables of its ranks
	counters   []results.Counter        // that moved on its nodes
	loads      []results.NodeLoad       // of its nodes
}

// pendingCase gathers what the ranks measured in one case.
type pendingCase struct {
	parts    []*workload.Part // by rank
	files    []string         // samples by rank; "" where a rank has none
	rate     float64
	arrived  int
	from, to time.Time
	left     []*workload.Part // what ranks had that were told to stop, in the order in which it came
}

func (p *pendingCase) complete() bool { return p.arrived == len(p.parts) }

// launch runs cases once in fresh processes, or takes over what a former session
// measured of that launch, and puts what came of it into the document. A launch
// that fails is no error of the session's.
func (s *session) launch(ctx context.Context, g *ledger.Group, cases []*planner.Case) error {
	index := s.ledger.NextIndex(g)
	if nodes, made := s.ledger.TakeOver(g, index); made {
		s.backendOf(cases[0]).resume(g, cases, index, nodes)
		s.ledger.GiveUpAfterFailures(g)
		return s.ledger.Err
	}
	for _, other := range append([]*ledger.Group{g}, g.Load...) {
		if err := s.beginRun(ctx, other.Run); err != nil {
			return err
		}
		if len(s.ledger.Live(other)) == 0 { // its setup failed
			s.ledger.DecideAll(s.ledger.Live(g), results.Skipped, s.ledger.Unloaded(other))
			return s.ledger.Err
		}
	}
	on := s.backendOf(cases[0])
	if err := on.ready(ctx, g, cases); err != nil {
		return err
	}
	l, err := s.prepare(g, cases, index)
	if err == nil {
		err = on.pack(l)
	}
	if err != nil {
		s.ledger.GiveUp(g, err.Error())
		return s.ledger.Err
	}
	return l.run(ctx)
}

// run carries a launch through with all that belongs to it.
func (l *launched) run(ctx context.Context) error {
	s := l.s
	for _, m := range l.moved {
		l.tell(event.Event{Type: event.NodeChanged, Node: m.To, Reason: m.String()})
	}
	l.tell(event.Event{
		Type: event.LaunchStarted, Launches: l.index + s.ledger.Ahead(l.g, l.cases[0].Key), Cases: len(l.cases),
	})
	begin := time.Now()
	l.pending[0].from = begin
	l.load = s.newLoad(l)
	ended := l.measure(ctx)
	if l.err != nil {
		return l.err
	}
	if err := l.conclude(ended != nil); err != nil {
		return err
	}
	status := results.OK
	switch {
	case l.failure != nil:
		status = results.Error
	case ended != nil && !l.complete(): // nobody's failure, and not finished either
		status = results.Aborted
	}
	l.tell(event.Event{
		Type: event.LaunchFinished, Status: status, Failure: l.failure, Seconds: time.Since(begin).Seconds(),
	})
	return cmp.Or(ended, s.ledger.Err)
}

// measure runs the launch's ranks, with its load around them and its commands
// around that. The error says why the session must end.
func (l *launched) measure(ctx context.Context) error {
	l.setUp(ctx)
	l.serve(ctx)
	err := l.err
	if err == nil && l.failure == nil {
		err = l.s.backendOf(l.cases[0]).run(ctx, l)
	}
	l.task = nil
	if err == nil && l.failed() == nil {
		l.failure, err = l.s.services.observe(ctx, l.services, true)
		l.observed = l.s.services.observations(l.services)
	}
	if stopped := l.s.services.endLaunch(ctx, l.failure != nil); err == nil {
		err = stopped
	}
	return l.close(ctx, err)
}

// setUp runs the commands before the launch.
func (l *launched) setUp(ctx context.Context) {
	l.begun = true
	err := l.s.setUp(ctx, l.s.ledger.Run(l.g.Run).LaunchSetup, l.hook(ledger.Setup))
	if f, ok := errors.AsType[*ledger.CommandError](err); ok {
		l.failure = &results.Failure{
			Rank: -1, Node: f.Node, Phase: ledger.Setup, Kind: results.FailedSetup, Cause: f.Error(), Log: f.Log,
		}
		return
	}
	l.err = err
}

func (l *launched) hook(stage string) hook {
	return hook{stage, ledger.OfLaunch, fmt.Sprintf("%s/%d", l.g.ID, l.index)}
}

// over says whether the launch has ended, or can have no end because it never
// began.
func (l *launched) over() bool {
	if l.task == nil {
		return l.failure != nil || l.err != nil
	}
	return l.task.over()
}

// close finishes what the launch has placed and runs the commands after it.
func (l *launched) close(ctx context.Context, err error) error {
	if l.task != nil {
		err = l.s.finish(l.task, err)
		l.task = nil
	}
	if l.begun {
		l.begun = false
		l.s.tearDown(ctx, l.s.ledger.Run(l.g.Run).LaunchTeardown, l.hook(ledger.Teardown))
	}
	return err
}

// failed is why the launch failed, nil if it did not or has not yet.
func (l *launched) failed() *results.Failure {
	if l.failure != nil || l.outcome == nil {
		return l.failure
	}
	return l.outcome.Failure
}

// stopped says whether what ended the launch came from its being stopped at a time.
func (l *launched) stopped(at time.Time) bool {
	return l.outcome != nil && (l.outcome.Told() || !l.outcome.At.Before(at))
}

// complete says whether all ranks have run all cases.
func (l *launched) complete() bool {
	return !slices.ContainsFunc(l.pending, func(p *pendingCase) bool { return !p.complete() })
}

// to is when the last result came, or now if none has.
func (l *launched) to() time.Time {
	if l.latest.IsZero() {
		return time.Now()
	}
	return l.latest
}

// take takes a report; true: the node is done with the launch.
func (l *launched) take(r agent.Report) bool {
	switch {
	case r.Running != nil:
		l.running = slices.MaxFunc([]time.Time{l.running, *r.Running}, time.Time.Compare)
		if l.pending[0].arrived == 0 && r.Running.After(l.pending[0].from) {
			l.pending[0].from = *r.Running
			l.started(0)
		}
	case r.Progress != nil:
		l.progress(r.Progress, time.Now())
	case r.Result != nil:
		l.err = cmp.Or(l.err, l.result(r.Node, r.Result))
	case r.Outcome != nil:
		l.ignored = results.MergeIgnored(append(l.ignored, r.Outcome.Ignored...))
		l.variables = append(l.variables, l.variablesOf(r.Node, r.Outcome.Variables)...)
		l.counters = append(l.counters, r.Outcome.Counters...)
		for rank, found := range r.Outcome.Beneath {
			if l.beneath == nil {
				l.beneath = map[int][]fabric.Beneath{}
			}
			l.beneath[rank] = found
		}
		results.SortCounters(l.counters) // whichever node was first
		if r.Outcome.Load != nil {
			l.loads = append(l.loads, *r.Outcome.Load)
		}
		if r.Outcome.Weightier(l.outcome) {
			l.outcome = r.Outcome
		}
		return true
	}
	return false
}

func (l *launched) gone(node, cause string) {
	lost := agent.Lost(results.Failure{
		Rank: slices.Index(l.engine.Nodes, node), Node: node, Phase: "run", Cause: "the node's agent is gone: " + cause,
	})
	if lost.Weightier(l.outcome) {
		l.outcome = lost
	}
	ctx, cancel := context.WithTimeout(context.Background(), wordTime)
	defer cancel()
	_ = l.s.cluster.Abort(ctx, l.id, "node "+node+" is gone") // without etcd, deadlines end it
}

// tell emits an event of the launch.
func (l *launched) tell(e event.Event) {
	index := l.index
	e.Group, e.Launch, e.Background = l.g.ID, &index, l.background
	l.s.ledger.Events.Emit(e)
}

func (l *launched) started(i int) { l.tell(event.Event{Type: event.CaseStarted, Case: l.cases[i].Key}) }

// result keeps what a rank of a node measured in a case, the first time that it ran it.
func (l *launched) result(node string, r *agent.Result) error {
	l.latest = time.Now()
	part := r.Part
	i := slices.IndexFunc(l.cases, func(c *planner.Case) bool { return c.Key == part.Key })
	if i < 0 || part.Rank < 0 || part.Rank >= len(l.engine.Nodes) || l.engine.Nodes[part.Rank] != node ||
		l.pending[i].parts[part.Rank] != nil {
		return nil // a background launch runs its cases again; a rank's tricks end there too
	}
	p := l.pending[i]
	if part.Unfinished {
		p.leave(part)
		return nil
	}
	p.rate += r.Rate
	if err := l.keep(p, part); err != nil {
		return err
	}
	if !p.complete() {
		return nil
	}
	p.to = time.Now()
	l.tell(event.Event{
		Type: event.CaseFinished, Case: l.cases[i].Key, Rate: p.rate, Seconds: p.to.Sub(p.from).Seconds(),
	})
	if i+1 < len(l.cases) {
		l.pending[i+1].from = p.to
		l.started(i + 1)
	}
	return nil
}

// keep puts what a rank measured in a case beside what others did, its samples into their
// file: they are read again when no rank is measuring any more.
func (l *launched) keep(p *pendingCase, part *workload.Part) error {
	if samples := part.Samples; samples != nil {
		name := l.sampleFile(part.Key, part.Rank)
		if err := l.s.keep(name, samples); err != nil {
			return err
		}
		p.files[part.Rank], part.Samples = name, nil
	}
	p.parts[part.Rank] = part
	p.arrived++
	return nil
}

// sampleFile is where a rank's samples of a case go, below the session's directory.
func (l *launched) sampleFile(key string, rank int) string {
	return filepath.Join("samples", l.s.ledger.CaseDir(key), strconv.Itoa(l.index), strconv.Itoa(rank)+".bin")
}
