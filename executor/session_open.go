// This file opens and closes what a session uses: agents, etcd and scratch directories.

package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/host/rlimit"
	"github.com/weir-bench/weir/executor/host/scratch"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// sharedMemory is the directory for files that ranks map as shared memory.
var sharedMemory = "/dev/shm"

const (
	// maxRootLength is the longest scratch root: the path of etcd's socket must fit below it.
	maxRootLength = 80
	// closeConcurrency is how many agents of this process are closed at a time.
	closeConcurrency = 16
	// ownThreads and etcdThreads are the threads of this process besides ranks, and those of an embedded etcd.
	ownThreads, etcdThreads = 4, 6
)

// open starts the agents, which survey their nodes, and etcd if the session needs it. A simulated
// session needs neither.
func (s *session) open(ctx context.Context) (err error) {
	if s.needsNoNode() {
		return nil
	}
	if err := s.checkLimits(); err != nil {
		return err
	}
	if err := s.makeScratch(); err != nil {
		return err
	}
	if s.o.Fleet == nil {
		return s.openLocal(ctx)
	}
	if err := s.openEtcd(ctx); err != nil {
		return err
	}
	s.fleet = fleet.New(fleet.Config{
		Options: s.o.Fleet, Needs: s.fleetNeeds(), Session: s.o.SessionID, Dir: s.o.Dir, Fabrics: s.fabrics(),
		Shell: s.shell, Secrets: s.secrets, Cluster: s.etcdSession, Lend: s.lending.dial, Hosts: s.nodes,
		Owner: s,
	})
	if err := s.fleet.Open(ctx); err != nil {
		return err
	}
	return s.fleet.Assemble(ctx)
}

// checkLimits reports which limits of this process are too low for the plan.
func (s *session) checkLimits() error {
	var n rlimit.Needs
	agents := max(len(s.o.Nodes), 1)
	if s.o.Fleet == nil && s.o.inProcess == nil {
		ranks := s.mostPerNode(func(workload.Demand) int { return 1 })
		n = agent.Needs(agents*ranks, agents*s.threadsPerNode())
		n.Threads += ownThreads
	}
	if s.embedsEtcd() && s.o.inProcess == nil {
		n.Threads += etcdThreads
		n.Descriptors = max(n.Descriptors, registry.Descriptors(1+agents))
	}
	return rlimit.Check(n)
}

func (s *session) makeScratch() (err error) {
	wanted, roots := scratch.Want{}, scratch.Roots()
	if s.embedsEtcd() {
		wanted = scratch.Want{Free: registry.ServerBytes, Longest: maxRootLength}
		if dir, err := filepath.Abs(s.o.Dir); err == nil {
			roots = append(roots, dir)
		}
	}
	if s.tmp, err = wanted.Make(roots...); err != nil {
		return err
	}
	wanted = scratch.Want{Free: agent.SharedBytes(s.threadsPerNode())} // only some fabrics use it
	s.shm, err = wanted.Prefer(sharedMemory, s.tmp.Path())
	return err
}

// embedsEtcd reports whether the session needs an etcd in this process: programs of the plan borrow a part of one.
func (s *session) embedsEtcd() bool {
	return len(s.o.Etcd.Endpoints) == 0 && slices.ContainsFunc(s.plan.Cases, func(c *planner.Case) bool {
		d, err := s.demandOf(c)
		borrows := func(v workload.Service) bool { return v.Etcd }
		return err == nil && (d.Etcd || slices.ContainsFunc(d.Services, borrows))
	})
}

// etcdFailure is the failure of the embedded etcd, if it failed, as the cause of err; otherwise err.
func (s *session) etcdFailure(err error) error {
	if s.server == nil || err == nil {
		return err
	}
	return cmp.Or(s.server.Failure(), err)
}

// openEtcd connects to the configured etcd, or starts one in this process if programs need it.
func (s *session) openEtcd(ctx context.Context) (err error) {
	switch s.etcd = s.o.Etcd; {
	case s.embedsEtcd():
		if s.server, err = registry.StartServer(ctx, s.tmp.Path()); err != nil {
			return err
		}
		s.etcd = s.server.Config()
	case len(s.etcd.Endpoints) == 0:
		return nil
	}
	if s.etcdSession, err = registry.Open(ctx, s.etcd, s.o.SessionID); err != nil {
		return err
	}
	for _, past := range s.ledger.PastSessions() { // their coordinators are gone: this one holds the journal lock
		if s.server != nil {
			break // they had their own etcd
		}
		if err := s.etcdSession.DeleteSession(ctx, past); err != nil {
			return err
		}
	}
	about := registry.AboutThis(s.o.Version.Version)
	about.Scenario = s.plan.Scenario.Name
	return s.etcdSession.Announce(ctx, about.Encode())
}

// openLocal makes the agents of this process and opens etcd at the same time.
func (s *session) openLocal(ctx context.Context) error {
	names, err := s.nodeNames()
	if err != nil {
		return err
	}
	surveys := make([]results.Node, len(names))
	g, gctx := errgroup.WithContext(ctx)
	fabrics := s.fabrics()
	for i, name := range names {
		a := s.newAgent(name)
		s.localAgents[name] = a
		g.Go(func() error { surveys[i] = a.Survey(gctx, fabrics); return context.Cause(gctx) })
	}
	g.Go(func() error { return s.openEtcd(gctx) })
	if err := g.Wait(); err != nil {
		return err
	}
	for i, name := range names {
		s.Joined(name, s.localAgents[name].Join(surveys[i]))
	}
	return nil
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
		Engine: s.o.inProcess, Node: node, Session: s.o.SessionID, RankCommand: s.o.RankCommand,
		ProbeCommand: s.o.ProbeCommand, GuardCommand: s.o.GuardCommand,
		Shell: s.shell, Secrets: s.secrets, LogDir: filepath.Join(s.o.Dir, "logs"), ScratchDir: s.shm.Path(),
		Deadlines: s.o.Deadlines, Host: s.o.Host,
		Sink: s.Report,
		Lend: func(ctx context.Context, task string) (net.Conn, error) { return s.lending.dial(ctx, node, task) },
	})
}

// Report queues a report of an agent. Any goroutine may call it.
func (s *session) Report(r agent.Report) {
	select {
	case s.reports <- r:
	case <-s.closed:
	}
}

// Joined adds the node of an agent that is ready.
func (s *session) Joined(node string, member placement.Node) {
	s.nodes.Join(node, member)
	s.ledger.AddNode(s.nodes.Nodes[node].Node)
}

func (s *session) closeAgents() error {
	var g errgroup.Group
	g.SetLimit(closeConcurrency)
	errs := make([]error, len(s.localAgents))
	for i, node := range slices.Sorted(maps.Keys(s.localAgents)) {
		g.Go(func() error {
			a := s.localAgents[node]
			if killed(s.o.Kill) {
				a.Kill()
			}
			errs[i] = a.Close()
			return nil
		})
	}
	_ = g.Wait()
	return errors.Join(errs...)
}

// close undoes open. It closes agents first, which end their processes.
func (s *session) close() error {
	close(s.closed)
	errs := []error{s.closeAgents()}
	if s.fleet != nil {
		errs = append(errs, s.fleet.Close(killed(s.o.Kill)))
	}
	if s.etcdSession != nil {
		hurry := killed(s.o.Kill)
		left := s.etcdSession.Wipe(hurry)
		gone := errors.Is(left, registry.ErrNoAnswer)
		closed := s.etcdSession.Close(hurry || gone)
		if gone && errors.Is(closed, registry.ErrNoAnswer) {
			closed = nil // left says so
		}
		errs = append(errs, left, closed)
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
