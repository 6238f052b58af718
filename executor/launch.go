// This file runs a launch from setup to teardown and gathers its results. launch_prepare.go comes first,
// launch_evaluate.go after it.

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

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// launchRun is one launch of a group's cases.
type launchRun struct {
	s          *session
	g          *ledger.Group
	id         string
	index      int // within the group
	background bool
	cases      []*planner.Case
	specs      []workload.Spec // of cases
	options    []option.Values // of cases
	kind       *workload.Kind

	engine          engine.Launch
	packed          []byte                       // engine, as its nodes get it
	fabricReason    string                       // why this fabric, where weir chooses it
	cpus            map[string]agent.CPUs        // by node
	bindings        []results.Binding            // by rank; nil: no rank has dedicated resources
	serviceBindings map[string]results.Binding   // by service name
	reserved        map[string][]results.Binding // for services, by node
	moved           []results.Move               // from the nodes of earlier launches
	load            *load                        // background load
	textValues      map[string]string            // of other runs, by name in texts of roles and services
	optionValues    map[string]string            // of other runs, by name in options and variables
	services        []workload.Service           // that the launch needs
	observed        map[string]workload.Observation
	starting        time.Duration // of services, until all were ready
	etcd            bool          // its ranks borrow a part of the session's etcd

	setUpBegun  bool
	task        *task // nil: not started, or finished
	pending     []*pendingCase
	slowest     *agent.Progress // since the last progress event
	progressAt  time.Time       // of the last progress event
	connectedAt time.Time       // when its ranks were connected; zero: they are not
	lastResult  time.Time
	firstLog    string // of rank 0, below the session's logs
	reported    string // the last line of it that was reported
	failure     *results.Failure
	outcome     *agent.Outcome
	err         error // of the session, not of the launch

	ignored         []results.Ignored
	lowerTransports map[int][]fabric.LowerTransport // by rank
	variables       []results.Variable              // library variables of its ranks
	counters        []results.Counter               // of its nodes
	loads           []results.NodeLoad              // of its nodes
}

// pendingCase gathers the results of the ranks in one case.
type pendingCase struct {
	parts      []*workload.Part // by rank
	files      []string         // of samples, by rank; "": the rank has none
	rate       float64          // bytes/s
	received   int              // parts
	from, to   time.Time
	unfinished []*workload.Part // of stopped ranks, in order of arrival
}

func (p *pendingCase) complete() bool { return p.received == len(p.parts) }

// launch runs cases once in new processes, or takes over the launch from a resumed session, and records it in
// the document. A failed launch is no error.
func (s *session) launch(ctx context.Context, g *ledger.Group, cases []*planner.Case) error {
	index := s.ledger.NextIndex(g)
	if nodes, ok := s.ledger.TakeOver(g, index); ok {
		s.backendOf(cases[0]).resume(g, cases, index, nodes)
		s.ledger.GiveUpAfterFailures(g)
		return s.ledger.Err
	}
	for _, other := range append([]*ledger.Group{g}, g.Load...) {
		if err := s.beginRun(ctx, other.Run); err != nil {
			return err
		}
		if len(s.ledger.Launchable(other)) == 0 { // its setup failed
			s.ledger.DecideAll(s.ledger.Launchable(g), results.Skipped, s.ledger.LoadReason(other))
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

// run runs a prepared launch and records it.
func (l *launchRun) run(ctx context.Context) error {
	s := l.s
	for _, m := range l.moved {
		l.emit(event.Event{Type: event.NodeChanged, Node: m.To, Reason: m.String()})
	}
	l.emit(event.Event{
		Type: event.LaunchStarted, Launches: l.index + s.ledger.LaunchesAhead(l.g, l.cases[0].Key), Cases: len(l.cases),
	})
	begin := time.Now()
	l.pending[0].from = begin
	l.load = s.newLoad(l)
	abort := l.measure(ctx)
	if l.err != nil {
		return l.err
	}
	if err := l.conclude(abort != nil); err != nil {
		return err
	}
	status := results.OK
	switch {
	case l.failure != nil:
		status = results.Error
	case abort != nil && !l.complete():
		status = results.Aborted
	}
	l.emit(event.Event{
		Type: event.LaunchFinished, Status: status, Failure: l.failure, Seconds: time.Since(begin).Seconds(),
	})
	return cmp.Or(abort, s.ledger.Err)
}

// measure runs the launch's commands, services, background load and ranks. The error is why the session must end.
func (l *launchRun) measure(ctx context.Context) error {
	l.setUp(ctx)
	l.startServices(ctx)
	err := l.err
	if err == nil && l.failure == nil {
		err = l.s.backendOf(l.cases[0]).run(ctx, l)
	}
	l.task = nil
	if err == nil && l.failed() == nil {
		l.failure, err = l.s.services.observe(ctx, l.services, true)
		l.observed = l.s.services.observationsOf(l.services)
	}
	if stopped := l.s.services.endLaunch(ctx, l.failure != nil); err == nil {
		err = stopped
	}
	return l.close(ctx, err)
}

func (l *launchRun) setUp(ctx context.Context) {
	l.setUpBegun = true
	err := l.s.setUp(ctx, l.s.ledger.Run(l.g.Run).LaunchSetup, l.commandScope(ledger.Setup))
	if f, ok := errors.AsType[*ledger.CommandError](err); ok {
		l.failure = &results.Failure{
			Rank: -1, Node: f.Node, Phase: ledger.Setup, Kind: results.FailedSetup, Cause: f.Error(), Log: f.Log,
		}
		return
	}
	l.err = err
}

func (l *launchRun) commandScope(stage string) commandScope {
	return commandScope{stage, ledger.OfLaunch, fmt.Sprintf("%s/%d", l.g.ID, l.index)}
}

// ended reports whether the launch has ended or could not start.
func (l *launchRun) ended() bool {
	if l.task == nil {
		return l.failure != nil || l.err != nil
	}
	return l.task.ended()
}

// close finishes the launch's task and runs the commands after it.
func (l *launchRun) close(ctx context.Context, err error) error {
	if l.task != nil {
		err = l.s.finishTask(l.task, err)
		l.task = nil
	}
	if l.setUpBegun {
		l.setUpBegun = false
		l.s.tearDown(ctx, l.s.ledger.Run(l.g.Run).LaunchTeardown, l.commandScope(ledger.Teardown))
	}
	return err
}

// failed is the failure of the launch so far; nil: none.
func (l *launchRun) failed() *results.Failure {
	if l.failure != nil || l.outcome == nil {
		return l.failure
	}
	return l.outcome.Failure
}

// endedByStop reports whether the launch ended because it was stopped at this time.
func (l *launchRun) endedByStop(at time.Time) bool {
	return l.outcome != nil && (l.outcome.Cancelled() || !time.Time(l.outcome.At).Before(at))
}

func (l *launchRun) complete() bool {
	return !slices.ContainsFunc(l.pending, func(p *pendingCase) bool { return !p.complete() })
}

// handleReport handles a report; true: it is the last one of its node.
func (l *launchRun) handleReport(r agent.Report) bool {
	switch {
	case r.Running != nil:
		began := time.Time(*r.Running)
		l.connectedAt = slices.MaxFunc([]time.Time{l.connectedAt, began}, time.Time.Compare)
		if l.pending[0].received == 0 && began.After(l.pending[0].from) {
			l.pending[0].from = began
			l.caseStarted(0)
		}
	case r.Progress != nil:
		l.reportProgress(r.Progress, time.Now())
	case r.Result != nil:
		l.err = cmp.Or(l.err, l.addResult(r.Node, r.Result))
	case r.Outcome != nil:
		l.ignored = results.MergeIgnored(append(l.ignored, r.Outcome.Ignored...))
		l.variables = append(l.variables, l.ownVariables(r.Node, r.Outcome.Variables)...)
		l.counters = append(l.counters, r.Outcome.Counters...)
		for rank, found := range r.Outcome.LowerTransports {
			if rank < 0 || rank >= len(l.engine.Nodes) || l.engine.Nodes[rank] != r.Node {
				continue
			}
			if l.lowerTransports == nil {
				l.lowerTransports = map[int][]fabric.LowerTransport{}
			}
			l.lowerTransports[rank] = found
		}
		results.SortCounters(l.counters) // independent of the order of reports
		if r.Outcome.Load != nil {
			l.loads = append(l.loads, *r.Outcome.Load)
		}
		if r.Outcome.TakesPrecedence(l.outcome) {
			l.outcome = r.Outcome
		}
		return true
	}
	return false
}

func (l *launchRun) nodeLost(node, cause string) {
	lost := agent.Lost(results.Failure{
		Rank: slices.Index(l.engine.Nodes, node), Node: node, Phase: "run", Cause: "the node's agent is gone: " + cause,
	})
	if lost.TakesPrecedence(l.outcome) {
		l.outcome = lost
	}
}

func (l *launchRun) emit(e event.Event) {
	index := l.index
	e.Group, e.Launch, e.Background = l.g.ID, &index, l.background
	l.s.ledger.Events.Emit(e)
}

func (l *launchRun) caseStarted(i int) {
	l.emit(event.Event{Type: event.CaseStarted, Case: l.cases[i].Key})
}

// addResult stores the result of a rank in a case; background launches run cases again, which is ignored.
func (l *launchRun) addResult(node string, r *agent.Result) error {
	l.lastResult = time.Now()
	part := r.Part
	i := slices.IndexFunc(l.cases, func(c *planner.Case) bool { return c.Key == part.Key })
	if i < 0 || part.Rank < 0 || part.Rank >= len(l.engine.Nodes) || l.engine.Nodes[part.Rank] != node ||
		l.pending[i].parts[part.Rank] != nil {
		return nil // repeated, or invalid
	}
	p := l.pending[i]
	if part.Unfinished {
		p.addUnfinished(part)
		return nil
	}
	p.rate += r.Rate
	if err := l.storePart(p, part); err != nil {
		return err
	}
	if !p.complete() {
		return nil
	}
	p.to = time.Now()
	l.emit(event.Event{
		Type: event.CaseFinished, Case: l.cases[i].Key, Rate: p.rate, Seconds: p.to.Sub(p.from).Seconds(),
	})
	if i+1 < len(l.cases) {
		l.pending[i+1].from = p.to
		l.caseStarted(i + 1)
	}
	return nil
}

// storePart stores the result of a rank in a case, and its samples in a file, to be read when the launch has ended.
func (l *launchRun) storePart(p *pendingCase, part *workload.Part) error {
	if samples := part.Samples; samples != nil {
		name := l.sampleFile(part.Key, part.Rank)
		if err := l.s.storeFile(name, samples); err != nil {
			return err
		}
		p.files[part.Rank], part.Samples = name, nil
	}
	p.parts[part.Rank] = part
	p.received++
	return nil
}

// sampleFile is the file of a rank's samples in a case, below the session's directory.
func (l *launchRun) sampleFile(key string, rank int) string {
	return filepath.Join("samples", l.s.ledger.CaseDir(key), strconv.Itoa(l.index), strconv.Itoa(rank)+".bin")
}

// progressInterval is the least time between two progress events of a launch, which may have a thousand nodes.
const progressInterval = 150 * time.Millisecond

// reportProgress emits the progress of the slowest node that reported since the last event.
func (l *launchRun) reportProgress(p *agent.Progress, now time.Time) {
	if p.Case >= len(l.cases) || l.pending[p.Case].complete() {
		return
	}
	if l.slowest == nil || l.pending[l.slowest.Case].complete() || isBehind(p, l.slowest) {
		l.slowest = p
	}
	if now.Sub(l.progressAt) < progressInterval {
		return
	}
	p, l.slowest, l.progressAt = l.slowest, nil, now
	l.emit(event.Event{
		Type: event.CaseProgress, Case: l.cases[p.Case].Key,
		Phase: p.Phase, Done: p.Done, Total: p.Total, Rate: p.Rate,
	})
}

// isBehind reports whether node a has made less progress than b. Nodes with passive ranks only count no
// iterations: they are behind none that counts.
func isBehind(a, b *agent.Progress) bool {
	if a.Case != b.Case {
		return a.Case < b.Case
	}
	if counts := a.Total > 0; counts != (b.Total > 0) {
		return counts
	}
	return a.Done < b.Done
}
