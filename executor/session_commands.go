// This file runs setup and teardown commands, and begins and ends sessions and runs with them.

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

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// commandScope is the stage of a list of commands and the session, run or launch that they belong to, as in
// results.Command.
type commandScope struct{ stage, scope, of string }

// setUp runs setup commands one after the other until one fails, which is a *ledger.CommandError.
func (s *session) setUp(ctx context.Context, list []planner.Command, a commandScope) error {
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

// tearDown runs all teardown commands, even after failures and the end of ctx. Their timeouts and a killed session
// end them.
func (s *session) tearDown(ctx context.Context, list []planner.Command, a commandScope) {
	ctx = context.WithoutCancel(ctx)
	for _, c := range list {
		failed, err := s.command(ctx, c, a)
		if err != nil {
			s.ledger.TeardownFailures = append(s.ledger.TeardownFailures,
				fmt.Sprintf("%s %q was not completed: %v", a.stage, c.Name, err))
		} else if failed != nil {
			s.ledger.TeardownFailures = append(s.ledger.TeardownFailures,
				(&ledger.CommandError{Command: *failed}).Error())
		}
	}
}

// targets are the nodes that a command or artifact names.
func (s *session) targets(on string) []string {
	nodes := s.nodes.Names()
	if on == "first node" && len(nodes) > 1 {
		return nodes[:1]
	}
	return nodes
}

// commandSlack is the time after a command's timeout within which its nodes must report its end.
const commandSlack = 5 * time.Second

// command runs a command on its nodes and records it. It returns the first that failed; nil: none did.
func (s *session) command(ctx context.Context, c planner.Command, a commandScope) (*results.Command, error) {
	s.commands++
	nodes := s.targets(c.On)
	done, err := s.commandOnNodes(ctx, c, a, nodes)
	for _, node := range nodes {
		// an incomplete setup is also visible in the cases that it prepares, an incomplete teardown only here
		if _, reported := done[node]; err != nil && !reported && a.stage == ledger.Teardown {
			done[node] = s.failedCommand(c, node, "not completed: "+err.Error())
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

func (s *session) failedCommand(c planner.Command, node, reason string) results.Command {
	return results.Command{Name: c.Name, Node: node, Started: s.ledger.At(time.Now()), Status: "failed", Reason: reason}
}

func (s *session) commandOnNodes(ctx context.Context, c planner.Command, a commandScope,
	nodes []string) (map[string]results.Command, error) {
	done := map[string]results.Command{}
	work, logs := map[string]agent.Task{}, map[string][]string{}
	for _, node := range nodes {
		logs[node] = []string{s.commandLog(c, a, node)}
		work[node] = agent.Task{Redact: s.secrets, Command: &agent.CommandTask{
			Name: c.Name, Command: c.Command, Env: c.Env, Secrets: c.Secrets, Timeout: toDuration(c.Timeout),
			Log: logs[node][0],
		}}
	}
	bounded, cancel := context.WithTimeoutCause(ctx, toDuration(c.Timeout)+commandSlack,
		errors.New("its nodes did not report its end"))
	defer cancel()
	id := fmt.Sprintf("%scommand-%d", ownTask, s.commands)
	s.expectLogs(id, logs)
	asked := s.ledger.At(time.Now())
	err := s.runTask(bounded, id, work, func(r agent.Report) bool {
		if r.Command == nil {
			return false
		}
		r.Command.Started = asked // clocks of hosts differ
		done[r.Node] = *r.Command
		return true
	}, func(node, cause string) {
		done[node] = s.failedCommand(c, node, "the node's agent is gone: "+cause)
	})
	return done, err
}

// commandLog is the file of a command's output. A resumed session continues the numbering, to keep earlier files.
func (s *session) commandLog(c planner.Command, a commandScope, node string) string {
	name := fmt.Sprintf("%d-%s-%s.%s.log", s.ledger.PastCommands()+s.commands, a.stage, ledger.DirName(c.Name),
		ledger.DirName(node))
	return filepath.Join("commands", name)
}

// beginSession runs checks and the session's setup, once, before the first launch.
func (s *session) beginSession(ctx context.Context) error {
	if s.begun || s.skipAll != "" {
		return nil
	}
	if err := s.checkSecrets(ctx); err != nil {
		return err
	}
	s.ledger.ForgetPast()
	s.collectArtifacts(ctx, true)
	if err := s.checks(ctx); err != nil || s.skipAll != "" {
		return err
	}
	s.begun = true
	return s.setUp(ctx, s.plan.Setup, commandScope{ledger.Setup, ledger.OfSession, ""})
}

// endSession tears down runs, services and the session.
func (s *session) endSession(ctx context.Context) {
	for _, r := range s.openRuns {
		s.endRun(ctx, r)
	}
	s.openRuns = nil
	s.endServices(s.services.close(ctx))
	s.collectArtifacts(ctx, false)
	if s.begun {
		s.tearDown(ctx, s.plan.Teardown, commandScope{ledger.Teardown, ledger.OfSession, ""})
	}
}

// beginRun begins the session and runs a run's setup, before its first launch. If the setup fails, all cases of the
// run without a decision are errors.
func (s *session) beginRun(ctx context.Context, name string) error {
	if slices.Contains(s.openRuns, name) {
		return nil
	}
	if reason, ok := s.ledger.FailedSetup(name); ok {
		s.failRun(name, reason)
		return nil
	}
	if err := s.beginSession(ctx); err != nil || s.skipAll != "" {
		return err
	}
	s.openRuns = append(s.openRuns, name)
	err := s.setUp(ctx, s.ledger.Run(name).Setup, commandScope{ledger.Setup, ledger.OfRun, name})
	if failed, ok := errors.AsType[*ledger.CommandError](err); ok {
		s.failRun(name, failed.Error())
		return nil
	}
	return err
}

// endServices records that services were not stopped in order; closing the agents ends them.
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
		for _, c := range s.ledger.Launchable(g) {
			s.ledger.DecideFor(results.FailedSetup, c.Key, results.Error, reason)
		}
	}
}

// endRuns tears down the runs without further launches. A run that the gate continues later is set up again.
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
	s.tearDown(ctx, s.ledger.Run(name).Teardown, commandScope{ledger.Teardown, ledger.OfRun, name})
}
