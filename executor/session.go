package executor

import (
	"context"
	"os"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
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

	undecided map[string]bool      // cases, as the gate last said
	rounds    map[string]int       // so far, by run
	tasks     map[string]*task     // under way
	begun     bool                 // what must come before the first launch was done
	ended     map[string]time.Time // when cases' last launches of this session were evaluated
	openRuns  []string             // whose setup began and whose teardown did not
	commands  int                  // so far
	artifacts int                  // asked for so far
	unfit     string               // why the nodes are not fit for any case; "": they are
	secrets   []string             // references to all of the plan's
	shell     map[string]string    // library variables that every node gets
	variables []results.Variable   // of the ranks of the last launch
	untidy    []string             // teardown that failed
	warned    map[results.Ignored]bool

	tmp, shm *scratch.Dir
	server   *cluster.Server
	signer   *trust.Signer // of what is placed on agents
	placed   uint64        // tasks so far
	fleet    *fleet        // nil: the agents are in this process
	etcd     cluster.Config
	cluster  *cluster.Session
	agents   []*agent.Agent
	joined   map[string]cluster.Member // as etcd has members
	pulse    pulse                     // of this process
	hosts    *placement.Cluster
	changes  <-chan cluster.Member
	reports  chan agent.Report
	closed   chan struct{} // nobody takes reports any more
	stop     context.CancelFunc

	missing []string // what the nodes lack for this plan
	virtual *virtual
	demands map[*planner.Case]demanded
}

func newSession(p *planner.Plan, o Options) *session {
	s := &session{
		plan: p, o: o, doc: newDocument(p, o), demands: map[*planner.Case]demanded{}, groups: groupsOf(p, o), past: &past{}, undecided: map[string]bool{}, rounds: map[string]int{}, tasks: map[string]*task{}, ended: map[string]time.Time{},
		warned: map[results.Ignored]bool{}, verdicts: map[*results.AssertionVerdict]results.Verdict{},
		hosts: placement.NewCluster(o.Fleet == nil), joined: map[string]cluster.Member{}, reports: make(chan agent.Report, 64), closed: make(chan struct{}),
	}
	s.virtual = newVirtual(s)
	s.secrets = s.secretsOf()
	s.shell = carried(o.Shell, s.secrets)
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
	defer func() { err = firstError(s.blamed(err), s.close()) }()
	if err := s.open(ctx); err != nil {
		return err
	}
	s.setEnvironment()
	if err := s.compareClocks(ctx); err != nil {
		return err
	}
	if err := s.reacquire(ctx, s.wanted()); err != nil { // agents may be lost before there is a launch
		return err
	}
	s.compareBaseline()
	if err := s.past.admits(s.doc); err != nil {
		return err
	}
	for _, n := range s.doc.Environment.Nodes {
		s.emit(Event{Type: NodeReady, Node: n.Name})
	}
	if err := s.record(Record{Session: &SessionRecord{
		Schema: results.Schema, ID: s.o.SessionID, Started: s.doc.Session.Started, Argv: s.o.Argv, Weir: s.o.Version, Quantiles: s.doc.Quantiles,
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
