package executor

import (
	"cmp"
	"context"
	"slices"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/event"
	"weir/executor/fleet"
	"weir/executor/ledger"
	"weir/executor/placement"
	"weir/executor/scratch"
	"weir/executor/trust"
	"weir/planner"
	"weir/results"
)

// session is one Run. All but the agents' reports happens in one goroutine.
type session struct {
	plan   *planner.Plan
	o      Options
	ledger *ledger.Ledger

	tasks     map[string]*task // under way
	begun     bool             // what must come before the first launch was done
	openRuns  []string         // whose setup began and whose teardown did not
	commands  int              // so far
	artifacts int              // asked for so far
	services  *services
	skipAll   string             // why the nodes are not fit for any case; "": they are
	secrets   []string           // references to all of the plan's
	shell     map[string]string  // library variables that every node gets
	variables []results.Variable // of the ranks of the last launch
	warned    map[results.Ignored]bool

	tmp, shm *scratch.Dir
	server   *cluster.Server
	signer   *trust.Signer // of what is placed on agents
	placed   uint64        // tasks so far
	fleet    *fleet.Fleet  // nil: the agents are in this process
	etcd     cluster.Config
	cluster  *cluster.Session
	agents   []*agent.Agent
	joined   map[string]cluster.Member // as etcd has members
	hosts    *placement.Cluster
	changes  <-chan cluster.Member
	reports  chan agent.Report
	calls    chan func()   // of other goroutines, which Wait makes
	closed   chan struct{} // nobody takes reports any more
	stop     context.CancelFunc

	missing []string // what the nodes lack for this plan
	virtual *virtual
	demands map[*planner.Case]demanded
}

func newSession(p *planner.Plan, o Options) *session {
	s := &session{
		plan: p, o: o, ledger: ledger.New(p, o.Options), demands: map[*planner.Case]demanded{},
		tasks: map[string]*task{}, warned: map[results.Ignored]bool{},
		hosts: placement.NewCluster(o.Fleet == nil), joined: map[string]cluster.Member{},
		reports: make(chan agent.Report, 64), closed: make(chan struct{}),
		calls: make(chan func(), 16),
	}
	s.virtual = newVirtual(s)
	s.services = &services{s: s}
	s.secrets = s.secretsOf()
	s.shell = carried(o.Shell, s.secrets)
	return s
}

// run carries the session through and tidies up. Whatever it returns, no process
// and no file outside of the session directory is left.
func (s *session) run(ctx context.Context) (err error) {
	if err := s.o.check(); err != nil {
		return err
	}
	if err := s.ledger.Open(); err != nil {
		return err
	}
	s.ledger.Events.Emit(event.Event{Type: event.SessionStarted, Session: s.o.SessionID, Cases: len(s.plan.Cases)})
	defer func() { err = cmp.Or(s.blamed(err), s.close()) }()
	if err := s.open(ctx); err != nil {
		return err
	}
	s.ledger.SetEnvironment(append(s.hosts.Inventories(), s.virtual.hosts...), s.carriedVariables())
	if err := s.compareClocks(ctx); err != nil {
		return err
	}
	if err := s.reacquire(ctx, s.wanted()); err != nil { // agents may be lost before there is a launch
		return err
	}
	s.ledger.CompareBaseline(slices.ContainsFunc(s.plan.Cases,
		func(c *planner.Case) bool { return !s.backendOf(c).processes() }))
	if err := s.ledger.Admits(); err != nil {
		return err
	}
	for _, n := range s.ledger.Doc.Environment.Nodes {
		s.ledger.Events.Emit(event.Event{Type: event.NodeReady, Node: n.Name, Reason: cmp.Or(s.crowded(n), s.busy(n))})
	}
	if err := s.ledger.Begin(); err != nil {
		return err
	}
	if err := s.admit(); err != nil {
		return err
	}
	defer func() {
		s.end(ctx)
		if killed(s.o.Kill) {
			err = cmp.Or(err, errKilled)
		}
	}()
	if !s.o.Resume { // what is resumed may have nothing left to begin for
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	return s.schedule(ctx)
}
