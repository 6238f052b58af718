package executor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/fleet"
	"weir/executor/placement"
	"weir/executor/scratch"
	"weir/executor/trust"
	"weir/results"
)

// sharedMemory is where ranks put files that they share as memory.
var sharedMemory = "/dev/shm"

// longestRoot is the longest root below which the path of etcd's socket still fits.
const longestRoot = 80

// open brings up etcd and the agents, which survey their nodes meanwhile. A
// session that only simulates needs neither.
func (s *session) open(ctx context.Context) (err error) {
	if s.needsNoNode() {
		return nil
	}
	if s.signer, err = trust.NewSigner(); err != nil {
		return err
	}
	life, stop := context.WithCancel(context.Background())
	s.stop = stop
	if err := s.checkLimits(); err != nil {
		return err
	}
	if err := s.makeScratch(); err != nil {
		return err
	}
	want := 0
	if s.o.Fleet == nil {
		if want, err = s.openHere(ctx); err != nil {
			return err
		}
	} else if err := s.openEtcd(ctx); err != nil {
		return err
	}
	if s.changes, err = s.cluster.Members(life); err != nil {
		return err
	}
	if s.o.Fleet == nil {
		return s.gather(ctx, want)
	}
	s.fleet = fleet.New(fleet.Config{
		Options: s.o.Fleet, Needs: s.fleetNeeds(), Session: s.o.SessionID, Dir: s.o.Dir, Key: s.signer.Public(),
		Fabrics: s.fabrics(), Shell: s.shell, Secrets: s.secrets,
		Etcd: s.etcd, Dial: s.dialEtcd(), Cluster: s.cluster, Changes: s.changes, Hosts: s.hosts, Owner: s,
	})
	if err := s.fleet.Open(ctx); err != nil {
		return err
	}
	return s.fleet.Assemble(ctx)
}

// makeScratch makes the directory of the session's own etcd, and that of files which ranks
// share as memory.
func (s *session) makeScratch() (err error) {
	wanted, roots := scratch.Want{}, scratch.Roots()
	if len(s.o.Etcd.Endpoints) == 0 {
		wanted = scratch.Want{Free: cluster.ServerBytes, Longest: longestRoot}
		if dir, err := filepath.Abs(s.o.Dir); err == nil {
			roots = append(roots, dir)
		}
	}
	if s.tmp, err = wanted.Make(roots...); err != nil {
		return err
	}
	wanted = scratch.Want{Free: agent.SharedBytes(s.threadsPerNode())} // which only some fabrics take
	s.shm, err = wanted.Prefer(sharedMemory, s.tmp.Path())
	return err
}

// blamed is the failure of the session's own etcd, where there was one: what else went wrong
// follows from it.
func (s *session) blamed(err error) error {
	if s.server == nil || err == nil {
		return err
	}
	return cmp.Or(s.server.Failure(), err)
}

// openEtcd starts an etcd, or takes the one that there is.
func (s *session) openEtcd(ctx context.Context) (err error) {
	if s.etcd = s.o.Etcd; len(s.etcd.Endpoints) == 0 {
		if s.server, err = cluster.StartServer(ctx, s.tmp.Path()); err != nil {
			return err
		}
		s.etcd = s.server.Config()
	}
	if s.cluster, err = cluster.Open(ctx, s.etcd, s.o.SessionID); err != nil {
		return err
	}
	for _, former := range s.ledger.FormerSessions() { // whose coordinators are gone: this one has their journal
		if s.o.Fleet == nil {
			break // they had an etcd of their own
		}
		if err := s.cluster.Bury(ctx, former); err != nil {
			return err
		}
	}
	about := cluster.AboutThis(s.o.Version.Version)
	about.Scenario = s.plan.Scenario.Name
	return s.cluster.Announce(ctx, about.Encode())
}

// dialEtcd leads to the session's own etcd; nil: it has none.
func (s *session) dialEtcd() func(context.Context) (net.Conn, error) {
	if s.server == nil {
		return nil
	}
	return s.server.Dial
}

// openHere starts etcd and, at the same time, agents within this process. It gives their
// number.
func (s *session) openHere(ctx context.Context) (int, error) {
	names, err := s.nodeNames()
	if err != nil {
		return 0, err
	}
	key, err := trust.NewVerifier(s.signer.Public())
	if err != nil {
		return 0, err
	}
	surveys := make([]results.Node, len(names))
	g, gctx := errgroup.WithContext(ctx)
	fabrics := s.fabrics()
	for i, name := range names {
		a := s.newAgent(name, key)
		s.agents = append(s.agents, a)
		g.Go(func() error { surveys[i] = a.Survey(gctx, fabrics); return context.Cause(gctx) })
	}
	g.Go(func() error { return s.openEtcd(gctx) })
	if err := g.Wait(); err != nil {
		return 0, err
	}
	g, gctx = errgroup.WithContext(ctx)
	g.SetLimit(joining)
	for i, a := range s.agents {
		g.Go(func() error { return a.Serve(gctx, s.etcd, surveys[i]) })
	}
	return len(names), g.Wait()
}

// joining is how many agents of this process join the session, or leave it, at a time.
const joining = 16

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

func (s *session) newAgent(node string, key *trust.Verifier) *agent.Agent {
	return agent.New(agent.Options{
		Engine: s.o.inside, Verifier: key, Node: node, Session: s.o.SessionID, RankCommand: s.o.RankCommand,
		ProbeCommand: s.o.ProbeCommand, GuardCommand: s.o.GuardCommand,
		Shell: s.shell, Secrets: s.secrets, LogDir: filepath.Join(s.o.Dir, "logs"), ScratchDir: s.shm.Path(),
		Deadlines: s.o.Deadlines, Host: s.o.Host,
		Sink: s.Report,
	})
}

// Report takes a report, from any goroutine.
func (s *session) Report(r agent.Report) {
	select {
	case s.reports <- r:
	case <-s.closed:
	}
}

// gather waits for so many agents.
func (s *session) gather(ctx context.Context, want int) error {
	for len(s.hosts.Nodes) < want {
		select {
		case m, ok := <-s.changes:
			if !ok {
				return cluster.ErrGone
			}
			if err := s.Changed(m); err != nil {
				return err
			}
		case <-s.cluster.Lost():
			return cluster.ErrGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Changed takes an agent that has come, or gone.
func (s *session) Changed(m cluster.Member) error {
	if m.Gone {
		s.Lost(m.Node, "it left, or its lease in etcd ran out")
		return nil
	}
	var member placement.Node
	if err := json.Unmarshal(m.Inventory, &member); err != nil {
		return fmt.Errorf("inventory of node %s: %w", m.Node, err)
	}
	if s.fleet != nil && !s.fleet.Linked(m.Node) {
		return nil // somebody else wrote it
	}
	s.hearDepartures() // an agent in whose place this one has come was heard to be gone before
	member.Node.Name = m.Node
	s.hosts.Join(m.Node, member)
	s.joined[m.Node] = m
	s.ledger.Introduce(member.Node)
	if s.fleet != nil {
		s.fleet.Joined()
	}
	return nil
}

func (s *session) closeAgents() error {
	var g errgroup.Group
	g.SetLimit(joining)
	errs := make([]error, len(s.agents))
	for i, a := range s.agents {
		g.Go(func() error {
			if killed(s.o.Kill) {
				a.Kill()
			}
			errs[i] = a.Close()
			return nil
		})
	}
	_ = g.Wait() // errs has all of them
	return errors.Join(errs...)
}

// close undoes open. Agents go first: with them go all processes.
func (s *session) close() error {
	close(s.closed)
	var errs []error
	errs = append(errs, s.closeAgents())
	if s.fleet != nil {
		errs = append(errs, s.fleet.Close(killed(s.o.Kill)))
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
