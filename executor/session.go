package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/scratch"
	"weir/planner"
	"weir/results"
)

// session is one Run. All but the agents' reports happens in one goroutine.
type session struct {
	plan   *planner.Plan
	o      Options
	doc    *results.Document
	groups []*group
	find   index
	past   *past // of the session that this one goes on with; empty without one
	// folder names, by case key and by group id
	caseDirs, groupDirs map[string]string

	events, journal *os.File
	eventErr        error
	journalErr      error
	verdicts        map[*results.AssertionVerdict]results.Verdict // as last told

	undecided map[string]bool  // cases, as the gate last said
	rounds    map[string]int   // so far, by run
	turns     map[int]int      // of runs that are compared, so far
	tasks     map[string]*task // under way
	begun     bool             // what must come before the first launch was done
	openRuns  []string         // whose setup began and whose teardown did not
	commands  int              // so far
	secrets   []string         // references to all of the plan's
	untidy    []string         // teardown that failed
	warned    map[results.Ignored]bool

	tmp, shm *scratch.Dir
	server   *cluster.Server
	cluster  *cluster.Session
	agents   []*agent.Agent
	members  map[string]agent.Member
	changes  <-chan cluster.Member
	reports  chan agent.Report
	closed   chan struct{} // nobody takes reports any more
	stop     context.CancelFunc

	missing   []string       // what the nodes lack for this plan
	virtual   []results.Node // of simulated launches
	simulator Simulator      // of fabric sim, once it is needed
}

func newSession(p *planner.Plan, o Options) *session {
	s := &session{
		plan: p, o: o, doc: newDocument(p, o), virtual: virtualNodes(p, o), groups: groupsOf(p, o), past: &past{}, secrets: secretsOf(p),
		undecided: map[string]bool{}, rounds: map[string]int{}, turns: map[int]int{}, tasks: map[string]*task{},
		warned: map[results.Ignored]bool{}, verdicts: map[*results.AssertionVerdict]results.Verdict{},
		members: map[string]agent.Member{}, reports: make(chan agent.Report, 64), closed: make(chan struct{}),
	}
	s.find = s.newIndex()
	var keys, groups []string
	for _, c := range p.Cases {
		keys = append(keys, c.Key)
	}
	for _, g := range p.Groups {
		groups = append(groups, g.ID)
	}
	s.caseDirs, s.groupDirs = dirNames(keys), dirNames(groups)
	return s
}

// run carries the session through and tidies up. Whatever it returns, no process
// and no file outside of the session directory is left.
func (s *session) run(ctx context.Context) (err error) {
	if err := s.o.check(); err != nil {
		return err
	}
	if !s.o.Resume { // a resumed session may have one
		if err := s.takeBaseline(); err != nil {
			return err
		}
	}
	if err := s.openDir(); err != nil {
		return err
	}
	s.emit(Event{Type: SessionStarted, Session: s.o.SessionID, Cases: len(s.plan.Cases)})
	defer func() { err = firstError(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		return err
	}
	s.setEnvironment()
	s.compareBaseline()
	if err := s.past.admits(s.doc.Environment); err != nil {
		return err
	}
	for _, n := range s.doc.Environment.Nodes {
		s.emit(Event{Type: NodeReady, Node: n.Name})
	}
	if err := s.record(Record{Session: &SessionRecord{
		Schema: results.Schema, ID: s.o.SessionID, Started: s.doc.Session.Started, Argv: s.o.Argv, Weir: s.o.Version,
		PlanDigest: s.plan.Digest, Environment: s.doc.Environment, Resumed: s.doc.Session.Resumed, Baseline: s.doc.Baseline,
	}}); err != nil {
		return err
	}
	if err := s.admit(); err != nil {
		return err
	}
	defer func() {
		s.end(ctx)
		if killed(s.o.Kill) {
			err = firstError(err, errKilled)
		}
	}()
	if !s.o.Resume { // what is resumed may have nothing left to begin for
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	return s.schedule(ctx)
}

// sharedMemory is where ranks put files that they share as memory.
var sharedMemory = "/dev/shm"

// maxTmp is the longest root below which a unix socket's path still fits.
const maxTmp = 70

// open brings up etcd and the agents, which survey their nodes meanwhile. A
// session that only simulates needs neither.
func (s *session) open(ctx context.Context) error {
	if s.onlySimulated() {
		return nil
	}
	life, stop := context.WithCancel(context.Background())
	s.stop = stop
	roots := []string{"/tmp", "/dev/shm", "/var/tmp"}
	if len(os.TempDir()) <= maxTmp {
		roots = slices.Insert(roots, 0, os.TempDir())
	}
	var err error
	if s.tmp, err = scratch.Make(roots...); err != nil {
		return err
	}
	if s.shm, err = scratch.Make(sharedMemory, s.tmp.Path()); err != nil {
		return err
	}
	names, err := s.nodeNames()
	if err != nil {
		return err
	}
	surveys := make([]results.Node, len(names))
	g, gctx := errgroup.WithContext(ctx)
	fabrics := s.fabrics()
	for i, name := range names {
		a := s.newAgent(name)
		s.agents = append(s.agents, a)
		g.Go(func() error { surveys[i] = a.Survey(gctx, fabrics); return context.Cause(gctx) })
	}
	endpoints := s.o.Etcd
	g.Go(func() (err error) {
		if len(endpoints) == 0 {
			if s.server, err = cluster.StartServer(gctx, s.tmp.Path()); err != nil {
				return err
			}
			endpoints = []string{s.server.Endpoint()}
		}
		s.cluster, err = cluster.Open(gctx, endpoints, s.o.SessionID)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for i, a := range s.agents {
		if err := a.Serve(ctx, endpoints, surveys[i]); err != nil {
			return err
		}
	}
	if s.changes, err = s.cluster.Members(life); err != nil {
		return err
	}
	return s.gather(ctx, len(names))
}

func (s *session) nodeNames() ([]string, error) {
	if len(s.o.Nodes) > 0 {
		return s.o.Nodes, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this node: %w", err)
	}
	return []string{name}, nil
}

func (s *session) newAgent(node string) *agent.Agent {
	return agent.New(agent.Options{
		Node: node, Session: s.o.SessionID, RankCommand: s.o.RankCommand, ProbeCommand: s.o.ProbeCommand,
		LogDir: filepath.Join(s.o.Dir, "logs"), ScratchDir: s.shm.Path(), Deadlines: s.o.Deadlines, Host: s.o.Host,
		Sink: func(r agent.Report) {
			select {
			case s.reports <- r:
			case <-s.closed:
			}
		},
	})
}

// gather waits for so many agents.
func (s *session) gather(ctx context.Context, want int) error {
	for len(s.members) < want {
		select {
		case m, ok := <-s.changes:
			if !ok {
				return errEtcdGone
			}
			if m.Gone {
				delete(s.members, m.Node)
				continue
			}
			var member agent.Member
			if err := json.Unmarshal(m.Inventory, &member); err != nil {
				return fmt.Errorf("inventory of node %s: %w", m.Node, err)
			}
			s.members[m.Node] = member
		case <-s.cluster.Lost():
			return errEtcdGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

var errEtcdGone = errors.New("etcd is gone, or this process was suspended")

// close undoes open. Agents go first: with them go all processes.
func (s *session) close() error {
	close(s.closed)
	var errs []error
	for _, a := range s.agents {
		if killed(s.o.Kill) {
			a.Kill()
		}
		errs = append(errs, a.Close())
	}
	if s.stop != nil {
		s.stop()
	}
	if s.cluster != nil {
		hurry := killed(s.o.Kill)
		errs = append(errs, s.cluster.Wipe(hurry), s.cluster.Close(hurry))
	}
	if s.server != nil {
		s.server.Close()
	}
	for _, d := range []*scratch.Dir{s.shm, s.tmp} {
		if d != nil {
			errs = append(errs, d.Remove())
		}
	}
	return errors.Join(errs...)
}
