// This file holds the session and its main loop; session_open.go comes next, then launch.go.

package executor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/host/scratch"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// session is the state of one Run. Its goroutine does everything except receiving reports.
type session struct {
	plan   *planner.Plan
	o      Options
	ledger *ledger.Ledger

	tasks     map[string]*task // under way, by id
	begun     bool             // beginSession has succeeded
	openRuns  []string         // runs that are set up and not torn down yet
	commands  int              // started so far
	artifacts int              // requested so far
	services  *services
	// clusterChecked are the results of checks of the cluster.
	clusterChecked []results.Check
	skipAll        string             // why the nodes are fit for no case; "": they are fit
	secrets        []string           // references to all secrets of the plan
	shell          map[string]string  // library variables of the shell that every node gets
	variables      []results.Variable // of the ranks of the last launch
	warned         map[results.Ignored]bool

	tmp, shm    *scratch.Dir
	server      *registry.Server  // etcd in this process; nil: none
	etcd        registry.Config   // no endpoints: the session has no etcd
	etcdSession *registry.Session // in etcd; nil: the session has no etcd
	lending     lending
	fleet       *fleet.Fleet                           // agents on other hosts; nil: agents are in this process
	localAgents map[string]*agent.Agent                // in this process, by node
	order       func(node string, o agent.Order) error // sendOrder
	nodes       *placement.Cluster
	reports     chan agent.Report
	posted      chan func()   // calls from other goroutines, which Wait runs
	closed      chan struct{} // closed when reports are no longer received
	etcdGone    bool          // Wait has returned the loss of etcd

	discardedInARow int           // launches
	waitedForQuiet  time.Duration // in all

	missingResources []string // that the nodes lack for this plan
	simulated        *simulatedBackend
	demands          map[*planner.Case]cachedDemand
}

func newSession(p *planner.Plan, o Options) *session {
	s := &session{
		plan: p, o: o, ledger: ledger.New(p, o.Options), demands: map[*planner.Case]cachedDemand{},
		tasks: map[string]*task{}, warned: map[results.Ignored]bool{},
		nodes: placement.NewCluster(o.Fleet == nil), localAgents: map[string]*agent.Agent{},
		reports: make(chan agent.Report, 64), closed: make(chan struct{}),
		posted: make(chan func(), 16),
	}
	s.order = s.sendOrder
	s.simulated = newSimulatedBackend(s)
	s.services = &services{s: s}
	s.secrets = s.secretReferences()
	s.shell = withoutSecrets(o.Shell, s.secrets)
	return s
}

// run runs the session and closes it: no process and no file outside of the session directory is left.
func (s *session) run(ctx context.Context) (err error) {
	if err := s.o.check(); err != nil {
		return err
	}
	if err := s.ledger.Open(); err != nil {
		return err
	}
	s.ledger.Events.Emit(event.Event{Type: event.SessionStarted, Session: s.o.SessionID, Cases: len(s.plan.Cases)})
	defer func() { err = cmp.Or(s.etcdFailure(err), s.close()) }()
	if !s.o.Resume {
		if err := s.checkCluster(ctx); err != nil || s.skipAll != "" {
			return err
		}
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	shell := s.shell
	if s.needsNoNode() {
		shell = nil // simulations do not use it
	}
	s.ledger.SetEnvironment(append(s.nodes.Inventories(), s.simulated.hosts...), shell)
	if err := s.compareClocks(ctx); err != nil {
		return err
	}
	if err := s.reacquire(ctx, s.nodesNeeded()); err != nil { // agents may be lost before the first launch
		return err
	}
	s.ledger.CompareBaseline(slices.ContainsFunc(s.plan.Cases,
		func(c *planner.Case) bool { return !s.backendOf(c).processes() }))
	if err := s.ledger.CheckComparable(); err != nil {
		return err
	}
	for _, n := range s.ledger.Doc.Environment.Nodes {
		warning := cmp.Or(s.oversubscribed(n), s.busyWarning(n))
		s.ledger.Events.Emit(event.Event{Type: event.NodeReady, Node: n.Name, Reason: warning})
	}
	if err := s.ledger.Begin(); err != nil {
		return err
	}
	if err := s.admitCases(); err != nil {
		return err
	}
	defer func() {
		s.endSession(ctx)
		if killed(s.o.Kill) {
			err = cmp.Or(err, errKilled)
		}
	}()
	if !s.o.Resume { // a resumed session may have no launch left
		if err := s.beginSession(ctx); err != nil {
			return err
		}
	}
	return s.schedule(ctx)
}

// schedule runs launches until every case is decided. Groups take turns (A B C A B C …), so that drift of
// the machine affects all of them. Which launch is next depends on the document alone, however its
// launches came about.
func (s *session) schedule(ctx context.Context) error {
	for {
		round := s.ledger.NextRound()
		if len(round) == 0 {
			return nil
		}
		for _, g := range round {
			cases := s.ledger.NextCases(g)
			if len(cases) == 0 {
				continue
			}
			if err := s.awaitQuiet(ctx); err != nil {
				return err
			}
			if err := s.launch(ctx, g, s.ledger.Arrange(g, cases)); err != nil {
				return err
			}
			if err := s.ledger.FailFast(); err != nil {
				return err
			}
		}
		s.ledger.JudgeAtLooks(round)
		if err := s.ledger.FailFast(); err != nil {
			return err
		}
		s.endRuns(ctx)
	}
}
