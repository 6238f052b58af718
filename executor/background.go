package executor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"weir/executor/agent"
	"weir/executor/ledger"
	"weir/results"
)

// leastLoad is the share of a case's time in a launch during which its background
// load must have been running: below it, the case was not measured under load.
const leastLoad = 0.9

// load is what runs in the background of a launch.
type load struct {
	s       *session
	fore    *launched
	members []*loadMember
}

// mostLoadCases is up to how many cases a background launch runs, its own over and
// over in the same processes: the gap until new processes move something is no load.
var mostLoadCases = 1000

// loadMember is one group's part in a load. Its launches follow each other until
// that of the foreground has ended.
type loadMember struct {
	g       *ledger.Group
	first   int       // index of its first launch here
	current *launched // nil: none
	done    []*launched
	periods []period // in which it was running
}

type period struct{ from, to time.Time }

func (s *session) newLoad(fore *launched) *load {
	l := &load{s: s, fore: fore}
	for _, g := range fore.g.Load {
		l.members = append(l.members, &loadMember{g: g, first: s.ledger.NextIndex(g)})
	}
	return l
}

// prepare makes the next launch of each member that has none, and shares the
// processors out: the foreground has those that it has alone.
func (l *load) prepare() error {
	all := []*launched{l.fore}
	running := []*launched{l.fore}
	for _, m := range l.members {
		if m.current != nil {
			running = append(running, m.current)
		}
	}
	for _, m := range l.members {
		if m.current == nil {
			cases := l.s.ledger.Live(m.g)
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

// shareCPUs gives the ranks of launches that run at a time distinct processors, where
// nodes of the same processors are one.
func shareCPUs(all []*launched, processors func(node string) string) {
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

// processors names what a node's ranks run on: agents of one host have the same, unless
// the session has claimed different ones for them.
func (s *session) processors(node string) string {
	m := s.hosts.Nodes[node]
	return fmt.Sprint(m.Host, m.CPUs)
}

// start brings the load up and waits until all of it is running.
func (l *load) start(ctx context.Context) error {
	for _, m := range l.members {
		if err := l.launch(ctx, m); err != nil || l.fore.failure != nil {
			return err
		}
	}
	return nil
}

// launch starts a member's launch and waits until it is running, or until there
// is nothing any more that it could be the background of.
func (l *load) launch(ctx context.Context, m *loadMember) error {
	if err := l.prepare(); err != nil {
		l.fail(nil, &results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault, Cause: err.Error()})
		return nil
	}
	b := m.current
	b.setUp(ctx)
	b.serve(ctx)
	if b.err == nil && b.failure == nil {
		b.place(ctx)
	}
	if b.err != nil {
		return b.err
	}
	if b.failure == nil {
		err := l.s.Wait(ctx, func() bool { return !b.running.IsZero() || b.task.over() || l.fore.over() })
		if err != nil {
			return err
		}
	}
	if b.over() && b.failed() != nil {
		l.fail(m, b.failed())
	}
	return nil
}

// changed says whether a member's launch has ended.
func (l *load) changed() bool {
	for _, m := range l.members {
		if m.current != nil && m.current.over() {
			return true
		}
	}
	return false
}

// renew launches members again that have ended before the foreground. One that
// failed fails the foreground.
func (l *load) renew(ctx context.Context) error {
	for _, m := range l.members {
		b := m.current
		if b == nil || !b.over() {
			continue
		}
		if f := b.failed(); f != nil {
			l.fail(m, f)
			continue
		}
		m.end(b.to())
		m.done = append(m.done, b)
		m.current = nil
		if err := b.close(ctx, nil); err != nil {
			return err
		}
		if l.fore.over() {
			continue
		}
		if err := l.launch(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (m *loadMember) end(at time.Time) {
	if b := m.current; b != nil && !b.running.IsZero() {
		m.periods = append(m.periods, period{b.running, at})
	}
}

// fail ends the foreground's launch because its load failed.
func (l *load) fail(m *loadMember, f *results.Failure) {
	cause := f.Cause
	if m != nil {
		cause = fmt.Sprintf("background load %s, %s, failed: %s", m.g.ID, results.LaunchName(m.current.index), f)
		m.end(time.Now())
		l.s.ledger.Err = cmp.Or(l.s.ledger.Err, m.current.close(context.Background(), nil))
		m.current = nil
	}
	if l.fore.failure == nil {
		l.fore.failure = &results.Failure{
			Rank: -1, Node: f.Node, Phase: f.Phase, Kind: f.Kind, Cause: cause, Log: f.Log,
		}
	}
	if t := l.fore.task; t != nil && !t.over() {
		l.s.withdraw(t)
	}
}

// stop ends the load after the foreground has ended; being stopped is no failure.
func (l *load) stop(ctx context.Context, err error) error {
	now := time.Now()
	for _, m := range l.members {
		b := m.current
		if b == nil {
			continue
		}
		f, complete := b.failed(), b.complete()
		m.end(now)
		if b.task != nil && !b.task.over() && l.s.reachable(err) {
			l.s.withdraw(b.task)
			patience, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTime,
				fmt.Errorf("background load %s did not end within %v of being told to", m.g.ID, stopTime))
			err = cmp.Or(err, l.s.Wait(patience, b.task.over))
			cancel()
			f = b.failed()
		}
		if f != nil && !b.stopped(now) && err == nil {
			l.fail(m, f)
			continue
		}
		if complete && (f == nil || b.stopped(now)) {
			m.done = append(m.done, b)
		}
		err = cmp.Or(err, b.close(ctx, err))
	}
	return err
}

// stopTime is how long a background launch may take to end when it is told to:
// its agents kill it well before.
const stopTime = 10 * time.Second

// share is which part of a time the load was running: all its members were.
func (l *load) share(from, to time.Time) float64 {
	least := 1.
	for _, m := range l.members {
		var running time.Duration
		for _, p := range m.periods {
			begin := slices.MaxFunc([]time.Time{p.from, from}, time.Time.Compare)
			end := slices.MinFunc([]time.Time{p.to, to}, time.Time.Compare)
			running += max(end.Sub(begin), 0)
		}
		if whole := to.Sub(from); whole > 0 {
			least = min(least, float64(running)/float64(whole))
		}
	}
	return least
}

// missed is the failure of a case that had too little of its load, nil if it had
// enough.
func (l *load) missed(e *results.Launch, from time.Time) *results.Failure {
	share := l.share(from, from.Add(seconds(e.Duration)))
	e.Load = &share
	if share >= leastLoad {
		return nil
	}
	return &results.Failure{Rank: -1, Phase: "run", Kind: results.Wrong, Cause: fmt.Sprintf(
		"background load was running for %.0f %% of the time only, and %.0f %% are needed: raise the iterations of its run, so that its processes are started again less often",
		share*100, leastLoad*100)}
}
