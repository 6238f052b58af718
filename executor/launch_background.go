// This file runs the background load of a launch: launches of other groups, while it runs.

package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/results"
)

// minCoverage is the share of a case's duration during which its background load must have been running.
const minCoverage = 0.9

// load is the background load of a launch.
type load struct {
	s          *session
	foreground *launchRun
	members    []*loadMember
}

// mostLoadCases is how many cases a background launch runs: it repeats its own in the same processes, because
// there is no load while processes restart.
var mostLoadCases = 1000

// loadMember is one group of a load. Its launches follow each other until the foreground's launch has ended.
type loadMember struct {
	g       *ledger.Group
	first   int        // index of its first launch in this load
	current *launchRun // nil: none
	done    []*launchRun
	periods []period // while it was running
}

type period struct{ from, to time.Time }

func (s *session) newLoad(fore *launchRun) *load {
	l := &load{s: s, foreground: fore}
	for _, g := range fore.g.Load {
		l.members = append(l.members, &loadMember{g: g, first: s.ledger.NextIndex(g)})
	}
	return l
}

// prepareMembers prepares a launch for each member without one, and assigns processors. The foreground keeps those
// that it has without load.
func (l *load) prepareMembers() error {
	all := []*launchRun{l.foreground}
	running := []*launchRun{l.foreground}
	for _, m := range l.members {
		if m.current != nil {
			running = append(running, m.current)
		}
	}
	for _, m := range l.members {
		if m.current == nil {
			cases := l.s.ledger.Launchable(m.g)
			if len(cases) == 0 {
				return fmt.Errorf("background load %s cannot run: %s", m.g.ID, l.s.ledger.Case(m.g.Cases[0]).Reason)
			}
			b, err := l.s.prepare(m.g, cases, m.first+len(m.done), running...)
			if err != nil {
				return fmt.Errorf("background load %s: %w", m.g.ID, err)
			}
			b.background = true
			b.engine.Cases = slices.Repeat(b.engine.Cases, max(1, mostLoadCases/len(b.engine.Cases)))
			b.pending[0].from = time.Now()
			if err := l.s.backendOf(b.cases[0]).pack(b); err != nil {
				return fmt.Errorf("background load %s: %w", m.g.ID, err)
			}
			m.current = b
			running = append(running, b)
		}
		all = append(all, m.current)
	}
	shareCPUs(all, l.s.processors)
	return nil
}

// shareCPUs assigns distinct processors to the ranks of concurrent launches. Nodes with the same key share
// processors.
func shareCPUs(all []*launchRun, processors func(node string) string) {
	total := map[string]int{}
	for _, l := range all {
		l.cpus = map[string]agent.CPUs{}
		ranks := map[string]int{}
		for _, node := range l.engine.Nodes {
			ranks[node]++
		}
		for _, node := range slices.Sorted(maps.Keys(ranks)) {
			key := processors(node)
			l.cpus[node] = agent.CPUs{First: total[key]}
			total[key] += ranks[node] * l.engine.Threads
		}
	}
	for _, l := range all {
		for node, c := range l.cpus {
			c.Threads = total[processors(node)]
			l.cpus[node] = c
		}
	}
}

// processors is a key for the processors of a node: agents of one host share it unless the session has claimed
// different processors for them.
func (s *session) processors(node string) string {
	m := s.nodes.Nodes[node]
	return fmt.Sprint(m.Host, m.CPUs)
}

// start starts the load and waits until all members are running.
func (l *load) start(ctx context.Context) error {
	for _, m := range l.members {
		if err := l.startMember(ctx, m); err != nil || l.foreground.failure != nil {
			return err
		}
	}
	return nil
}

// startMember starts a member's launch and waits until it is running or the foreground has ended.
func (l *load) startMember(ctx context.Context, m *loadMember) error {
	if err := l.prepareMembers(); err != nil {
		l.failForeground(nil, &results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault, Cause: err.Error()})
		return nil
	}
	b := m.current
	b.setUp(ctx)
	b.startServices(ctx)
	if b.err == nil && b.failure == nil {
		b.startRanks(ctx)
	}
	if b.err != nil {
		return b.err
	}
	if b.failure == nil {
		err := l.s.Wait(ctx, func() bool { return !b.connectedAt.IsZero() || b.task.ended() || l.foreground.ended() })
		if err != nil {
			return err
		}
	}
	if b.ended() && b.failed() != nil {
		l.failForeground(m, b.failed())
	}
	return nil
}

func (l *load) changed() bool {
	return slices.ContainsFunc(l.members, func(m *loadMember) bool { return m.current != nil && m.current.ended() })
}

// renew starts members again that have ended before the foreground. A failed member fails the foreground.
func (l *load) renew(ctx context.Context) error {
	for _, m := range l.members {
		b := m.current
		if b == nil || !b.ended() {
			continue
		}
		if f := b.failed(); f != nil {
			l.failForeground(m, f)
			continue
		}
		m.endPeriod(cmp.Or(b.lastResult, time.Now()))
		m.done = append(m.done, b)
		m.current = nil
		if err := b.close(ctx, nil); err != nil {
			return err
		}
		if l.foreground.ended() {
			continue
		}
		if err := l.startMember(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (m *loadMember) endPeriod(at time.Time) {
	if b := m.current; b != nil && !b.connectedAt.IsZero() {
		m.periods = append(m.periods, period{b.connectedAt, at})
	}
}

// failForeground fails the foreground's launch because its load failed; nil m: the load could not be prepared.
func (l *load) failForeground(m *loadMember, f *results.Failure) {
	cause := f.Cause
	if m != nil {
		cause = fmt.Sprintf("background load %s, %s, failed: %s", m.g.ID, results.LaunchName(m.current.index), f)
		m.endPeriod(time.Now())
		l.s.ledger.Err = cmp.Or(l.s.ledger.Err, m.current.close(context.Background(), nil))
		m.current = nil
	}
	if l.foreground.failure == nil {
		l.foreground.failure = &results.Failure{
			Rank: -1, Node: f.Node, Phase: f.Phase, Kind: f.Kind, Cause: cause, Log: f.Log,
		}
	}
	if t := l.foreground.task; t != nil && !t.ended() {
		l.s.withdraw(t)
	}
}

// stop ends the load after the foreground has ended. Failures caused by the stop are ignored.
func (l *load) stop(ctx context.Context, err error) error {
	now := time.Now()
	for _, m := range l.members {
		b := m.current
		if b == nil {
			continue
		}
		f, complete := b.failed(), b.complete()
		m.endPeriod(now)
		if b.task != nil && !b.task.ended() && !errors.Is(err, errKilled) {
			err = cmp.Or(err, l.s.withdrawAndWait(b.task, loadStopTimeout,
				fmt.Errorf("background load %s did not end within %v of being stopped", m.g.ID, loadStopTimeout)))
			f = b.failed()
		}
		if f != nil && !b.endedByStop(now) && err == nil {
			l.failForeground(m, f)
			continue
		}
		if complete && (f == nil || b.endedByStop(now)) {
			m.done = append(m.done, b)
		}
		err = cmp.Or(err, b.close(ctx, err))
	}
	return err
}

// loadStopTimeout bounds the end of a stopped background launch; its agents kill it well before.
const loadStopTimeout = 10 * time.Second

// coverage is the share of a period, 0 to 1, during which all members were running.
func (l *load) coverage(from, to time.Time) float64 {
	least := 1.
	for _, m := range l.members {
		var running time.Duration
		for _, p := range m.periods {
			begin := slices.MaxFunc([]time.Time{p.from, from}, time.Time.Compare)
			end := slices.MinFunc([]time.Time{p.to, to}, time.Time.Compare)
			running += max(end.Sub(begin), 0)
		}
		if total := to.Sub(from); total > 0 {
			least = min(least, float64(running)/float64(total))
		}
	}
	return least
}

// checkCoverage fails a case that was measured with too little background load; nil: it had enough.
func (l *load) checkCoverage(e *results.Launch, from time.Time) *results.Failure {
	share := l.coverage(from, from.Add(toDuration(e.Duration)))
	e.Load = &share
	if share >= minCoverage {
		return nil
	}
	return &results.Failure{Rank: -1, Phase: "run", Kind: results.Wrong, Cause: fmt.Sprintf(
		"background load was running only %.0f %% of the time, %.0f %% are needed: raise the iterations of its run, so that its processes restart less often",
		share*100, minCoverage*100)}
}
