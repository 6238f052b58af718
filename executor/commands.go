package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"weir/executor/agent"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
)

// hook is what a list of commands surrounds.
type hook struct{ stage, scope, of string }

// setUp runs setup commands, each after the one before has succeeded everywhere.
// A *ledger.CommandError says which failed first.
func (s *session) setUp(ctx context.Context, list []planner.Command, a hook) error {
	for _, c := range list {
		failed, err := s.command(ctx, c, a)
		if err = cmp.Or(err, s.ledger.Err); err != nil {
			return err
		}
		if failed != nil {
			return &ledger.CommandError{Command: *failed}
		}
	}
	return nil
}

// tearDown runs teardown commands, whatever has ended ctx and whatever becomes of
// each of them: only their own timeouts and a session that is killed end them.
func (s *session) tearDown(ctx context.Context, list []planner.Command, a hook) {
	ctx = context.WithoutCancel(ctx)
	for _, c := range list {
		failed, err := s.command(ctx, c, a)
		if err != nil {
			s.ledger.TeardownFailures = append(s.ledger.TeardownFailures,
				fmt.Sprintf("%s %q was not carried through: %v", a.stage, c.Name, err))
		} else if failed != nil {
			s.ledger.TeardownFailures = append(s.ledger.TeardownFailures,
				(&ledger.CommandError{Command: *failed}).Error())
		}
	}
}

// targets are the nodes that something is done on.
func (s *session) targets(on string) []string {
	nodes := s.hosts.Names()
	if on == "first node" && len(nodes) > 1 {
		return nodes[:1]
	}
	return nodes
}

// commandSlack is how much longer than a command's own timeout its nodes may take
// to say how it ended.
const commandSlack = 5 * time.Second

// command runs a command on its nodes and gives the first that failed, nil if
// none did. Each node's part is in document and journal then, once.
func (s *session) command(ctx context.Context, c planner.Command, a hook) (*results.Command, error) {
	s.commands++
	nodes := s.targets(c.On)
	done, err := s.commanded(ctx, c, a, nodes)
	for _, node := range nodes {
		// what cannot be set up is told by what it was for; what was not torn down by nothing else
		if _, said := done[node]; err != nil && !said && a.stage == ledger.Teardown {
			done[node] = results.Command{
				Name: c.Name, Node: node, Started: time.Now().UTC(), Status: "failed",
				Reason: "not carried through: " + err.Error(),
			}
		}
	}
	var failed *results.Command
	for _, node := range slices.Sorted(maps.Keys(done)) {
		r := done[node]
		r.Stage, r.Scope, r.Of = a.stage, a.scope, a.of
		if r.Status != results.OK && failed == nil {
			failed = &r
		}
		s.ledger.EnterCommand(r)
	}
	return failed, err
}

// commanded places a command on nodes and gives what each has said of its end.
func (s *session) commanded(ctx context.Context, c planner.Command, a hook, nodes []string) (map[string]results.Command,
	error) {
	done := map[string]results.Command{}
	specs, logs := map[string][]byte{}, map[string][]string{}
	for _, node := range nodes {
		logs[node] = []string{s.commandLog(c, a, node)}
		spec, err := agent.Task{Redact: s.secrets, Command: &agent.CommandTask{
			Name: c.Name, Command: c.Command, Env: c.Env, Secrets: c.Secrets, Timeout: seconds(c.Timeout),
			Log: logs[node][0],
		}}.Encode()
		if err != nil {
			return done, err
		}
		specs[node] = spec
	}
	bounded, cancel := context.WithTimeoutCause(ctx, seconds(c.Timeout)+commandSlack,
		errors.New("its nodes did not say how it ended"))
	defer cancel()
	id := fmt.Sprintf("%scommand-%d", ownTask, s.commands)
	s.expect(id, logs)
	err := s.task(bounded, id, specs, func(r agent.Report) bool {
		if r.Command == nil {
			return false
		}
		done[r.Node] = *r.Command
		return true
	}, func(node, cause string) {
		done[node] = results.Command{
			Name: c.Name, Node: node, Started: time.Now().UTC(), Status: "failed",
			Reason: "the node's agent is gone: " + cause,
		}
	})
	return done, err
}

// commandLog is the file of a command's output. A session that goes on with another
// counts on from that one's commands: the files of both are kept.
func (s *session) commandLog(c planner.Command, a hook, node string) string {
	name := fmt.Sprintf("%d-%s-%s.%s.log", s.ledger.FormerCommands()+s.commands, a.stage, ledger.DirName(c.Name),
		ledger.DirName(node))
	return filepath.Join("commands", name)
}

// begin does, before the first launch of the session, what must come before any.
func (s *session) begin(ctx context.Context) error {
	if s.begun || s.skipAll != "" {
		return nil
	}
	if err := s.findSecrets(ctx); err != nil {
		return err
	}
	s.ledger.ForgetFormer()
	s.collect(ctx, true)
	if err := s.checks(ctx); err != nil || s.skipAll != "" {
		return err
	}
	s.begun = true
	return s.setUp(ctx, s.plan.Setup, hook{ledger.Setup, ledger.OfSession, ""})
}

// end undoes what runs and session have set up.
func (s *session) end(ctx context.Context) {
	for _, r := range s.openRuns {
		s.endRun(ctx, r)
	}
	s.openRuns = nil
	s.endServices(s.services.close(ctx))
	s.collect(ctx, false)
	if s.begun {
		s.tearDown(ctx, s.plan.Teardown, hook{ledger.Teardown, ledger.OfSession, ""})
	}
}

// beginRun runs a run's setup before its first launch, and before that whatever
// comes before any. If that fails, all of the
// run's cases that could still be launched are errors.
func (s *session) beginRun(ctx context.Context, name string) error {
	if slices.Contains(s.openRuns, name) {
		return nil
	}
	if reason, ok := s.ledger.FailedSetup(name); ok {
		s.failRun(name, reason)
		return nil
	}
	if err := s.begin(ctx); err != nil || s.skipAll != "" {
		return err
	}
	s.openRuns = append(s.openRuns, name)
	err := s.setUp(ctx, s.ledger.Run(name).Setup, hook{ledger.Setup, ledger.OfRun, name})
	if failed, ok := errors.AsType[*ledger.CommandError](err); ok {
		s.failRun(name, failed.Error())
		return nil
	}
	return err
}

// endServices takes note of services that were not ended in order: what then ends the
// session ends them too.
func (s *session) endServices(err error) {
	if err != nil && !errors.Is(err, errKilled) {
		s.ledger.TeardownFailures = append(s.ledger.TeardownFailures,
			fmt.Sprintf("services were not ended in order: %v", err))
	}
}

func (s *session) failRun(name, reason string) {
	for _, g := range s.ledger.Groups {
		if g.Run != name {
			continue
		}
		for _, c := range s.ledger.Live(g) {
			s.ledger.DecideFor(results.FailedSetup, c.Key, results.Error, reason)
		}
	}
}

// endRuns tears down the runs of which, as it stands, nothing is due any more. If
// the gate asks for more of one later, it is set up again.
func (s *session) endRuns(ctx context.Context) {
	s.openRuns = slices.DeleteFunc(s.openRuns, func(name string) bool {
		for _, g := range s.ledger.Groups {
			if g.Run == name && !s.ledger.Decided(g) {
				return false
			}
		}
		s.endRun(ctx, name)
		return true
	})
}

func (s *session) endRun(ctx context.Context, name string) {
	s.endServices(s.services.endRun(ctx, name))
	s.tearDown(ctx, s.ledger.Run(name).Teardown, hook{ledger.Teardown, ledger.OfRun, name})
}
