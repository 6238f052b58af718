package executor

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/planner"
	"weir/results"
)

// launched is one launch of a group's cases.
type launched struct {
	s       *session
	g       *group
	id      string
	index   int
	cases   []*planner.Case
	engine  engine.Launch
	pending []*pendingCase // as cases
	failure *results.Failure
	outcome *agent.Outcome
	err     error // of keeping what was measured
}

// pendingCase gathers what the ranks measured in one case.
type pendingCase struct {
	ranks    []*engine.CaseResult
	files    []string // samples by rank; "" where a rank has none
	rate     float64
	arrived  int
	from, to time.Time
}

func (p *pendingCase) complete() bool { return p.arrived == len(p.ranks) }

// launch runs cases once in fresh processes and puts what came of it into the
// document. A launch that fails is no error of the session's.
func (s *session) launch(ctx context.Context, g *group, cases []*planner.Case) error {
	l, err := s.prepare(g, cases)
	if err != nil {
		s.giveUp(g, err.Error())
		return s.journalErr
	}
	index := l.index
	s.emit(Event{Type: LaunchStarted, Group: g.ID, Launch: &index, Launches: g.looks[g.look], Cases: len(cases)})
	begin := time.Now()
	l.pending[0].from = begin
	g.launches++
	ended := l.carryOut(ctx)
	if l.err != nil {
		return l.err
	}
	if err := l.finish(ended != nil); err != nil {
		return err
	}
	status := results.OK
	if l.failure != nil {
		status = results.Error
	}
	s.emit(Event{Type: LaunchFinished, Group: g.ID, Launch: &index, Status: status, Failure: l.failure, Seconds: time.Since(begin).Seconds()})
	return firstError(ended, s.journalErr)
}

// carryOut has the launch run by the agents, or played. The error is the end of
// the session's context.
func (l *launched) carryOut(ctx context.Context) error {
	if simulated(l.cases[0]) {
		return l.play(ctx)
	}
	specs, err := l.specs()
	if err != nil {
		l.err = err
		return nil
	}
	return l.s.task(ctx, l.id, specs, l.take, l.gone)
}

// prepare decides who runs the launch and with what.
func (s *session) prepare(g *group, cases []*planner.Case) (*launched, error) {
	l := &launched{s: s, g: g, index: g.launches, cases: cases, id: fmt.Sprintf("%s-%d", s.groupDirs[g.ID], g.launches)}
	place := cases[0].Place
	distinct := s.plan.Cluster.DistinctHosts || place.DistinctHosts
	names := s.usable(distinct)
	if simulated(cases[0]) {
		names = s.virtualNames()
	}
	if need := max(place.Nodes, 1); len(names) < need {
		return nil, fmt.Errorf("missing: %s", nodesNeeded(need, len(names), distinct)) // some have gone
	}
	l.engine = engine.Launch{ID: l.id, Index: l.index, Seed: s.seed(g.ID, l.index)}
	for i, c := range cases {
		o, err := transfer(c)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Key, err)
		}
		if i == 0 {
			l.engine.Ranks = int(o.Ranks)
			l.engine.Nodes = placeRanks(names, max(place.Nodes, 1), int(o.Ranks))
			l.engine.Fabric = engine.Resolve(o.Fabric, l.engine.Nodes)
		}
		l.engine.Cases = append(l.engine.Cases, engine.Case{Key: c.Key, Options: o, Timeout: int64(c.Timeout * float64(time.Second))})
		l.pending = append(l.pending, &pendingCase{ranks: make([]*engine.CaseResult, o.Ranks), files: make([]string, o.Ranks)})
	}
	return l, nil
}

// seed gives every launch its own contents of blocks, the same in every session
// of the same plan.
func (s *session) seed(group string, index int) uint64 {
	sum := sha256.Sum256([]byte(s.plan.Digest + "\x00" + group + "\x00" + strconv.Itoa(index)))
	return binary.BigEndian.Uint64(sum[:])
}

// specs are the launch's tasks, by node.
func (l *launched) specs() (map[string][]byte, error) {
	ranks := map[string][]int{}
	for r, node := range l.engine.Nodes {
		ranks[node] = append(ranks[node], r)
	}
	specs := make(map[string][]byte, len(ranks))
	for node, list := range ranks {
		spec, err := agent.Task{Launch: &agent.LaunchTask{
			Launch: l.engine, Ranks: list, Env: l.cases[0].Env, LogDir: l.s.groupDirs[l.g.ID],
		}}.Encode()
		if err != nil {
			return nil, err
		}
		specs[node] = spec
	}
	return specs, nil
}

// take takes a report; true: the node is done with the launch.
func (l *launched) take(r agent.Report) bool {
	switch {
	case r.Running != nil:
		if l.pending[0].arrived == 0 && r.Running.After(l.pending[0].from) {
			l.pending[0].from = *r.Running
			l.begun(0)
		}
	case r.Progress != nil:
		l.progress(r.Progress)
	case r.Result != nil:
		l.err = firstError(l.err, l.result(r.Result))
	case r.Outcome != nil:
		if r.Outcome.Weightier(l.outcome) {
			l.outcome = r.Outcome
		}
		return true
	}
	return false
}

func (l *launched) gone(node string) {
	const cause = "the node's agent is gone: its lease in etcd ran out"
	l.outcome = agent.Lost(results.Failure{Rank: slices.Index(l.engine.Nodes, node), Node: node, Phase: "run", Cause: cause})
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	_ = l.s.cluster.Abort(ctx, l.id, "node "+node+" is gone") // without etcd, deadlines end it
}

func (l *launched) begun(i int) {
	index := l.index
	l.s.emit(Event{Type: CaseStarted, Group: l.g.ID, Launch: &index, Case: l.cases[i].Key})
}

func (l *launched) progress(p *agent.Progress) {
	if p.Case >= len(l.cases) || l.pending[p.Case].complete() {
		return
	}
	index := l.index
	l.s.emit(Event{
		Type: CaseProgress, Group: l.g.ID, Launch: &index, Case: l.cases[p.Case].Key,
		Phase: p.Phase, Done: p.Done, Total: p.Total, Rate: p.Rate,
	})
}

// result keeps what a rank measured in a case. Its samples go to their file as
// they are; they are read again when no rank is measuring any more.
func (l *launched) result(r *agent.Result) error {
	i := slices.IndexFunc(l.cases, func(c *planner.Case) bool { return c.Key == r.Case.Key })
	if i < 0 || r.Case.Rank < 0 || r.Case.Rank >= l.engine.Ranks || l.pending[i].ranks[r.Case.Rank] != nil {
		return nil // an agent never sends such a thing; a rank's tricks end there
	}
	p := l.pending[i]
	p.ranks[r.Case.Rank] = r.Case
	p.rate += r.Rate
	p.arrived++
	if len(r.Samples) > 0 {
		name := filepath.Join("samples", l.s.caseDirs[r.Case.Key], strconv.Itoa(l.index), strconv.Itoa(r.Case.Rank)+".bin")
		if err := l.s.keep(name, r.Samples); err != nil {
			return err
		}
		p.files[r.Case.Rank] = name
	}
	if !p.complete() {
		return nil
	}
	p.to = time.Now()
	index := l.index
	l.s.emit(Event{
		Type: CaseFinished, Group: l.g.ID, Launch: &index, Case: l.cases[i].Key, Rate: p.rate, Seconds: p.to.Sub(p.from).Seconds(),
	})
	if i+1 < len(l.cases) {
		l.pending[i+1].from = p.to
		l.begun(i + 1)
	}
	return nil
}
