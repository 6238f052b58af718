// This file asks nodes before the first launch: it runs checks, finds missing secrets and compares clocks.

package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// checks runs every check on every node. By its severity a failed check ends the session, skips all cases or
// only warns.
func (s *session) checks(ctx context.Context) error {
	var failed, skipping []string
	for i, c := range s.plan.Checks {
		id := fmt.Sprintf("%scheck-%d", ownTask, i)
		done, err := s.checkEverywhere(ctx, id, c)
		if err != nil {
			return err
		}
		for _, r := range done {
			r.Severity = c.Severity
			if r.Status != results.OK {
				r.Remedy = c.Remedy
			}
			s.ledger.Doc.Checks = append(s.ledger.Doc.Checks, r)
			s.ledger.Events.Emit(event.Event{
				Type: event.CheckDone, Check: r.Name, Node: r.Node, Status: r.Status, Reason: r.Why(),
			})
			if err := s.ledger.Record(ledger.Record{Check: &r}); err != nil {
				return err
			}
			if r.Status == results.OK || r.Warns() {
				continue
			}
			why := r.Failed()
			if r.Counts() {
				failed = append(failed, why)
			} else {
				skipping = append(skipping, why)
			}
		}
	}
	if len(failed) > 0 {
		return &checkError{strings.Join(failed, "; ")}
	}
	if s.skipAll = strings.Join(skipping, "; "); s.skipAll != "" {
		for _, g := range s.ledger.Groups {
			s.ledger.DecideAll(s.ledger.Launchable(g), results.Skipped, s.skipAll)
		}
	}
	return nil
}

// checkError ends a session because a node does not meet the scenario's requirements.
type checkError struct{ text string }

func (e *checkError) Error() string { return e.text }

func (s *session) checkEverywhere(ctx context.Context, id string, c planner.Check) ([]results.Check, error) {
	nodes := s.hosts.Names()
	check := agent.Task{Redact: s.secrets, Check: &agent.CheckTask{Name: c.Name, Command: c.Command}}
	var done []results.Check
	err := s.runTask(ctx, id, sameTask(nodes, check), func(r agent.Report) bool {
		if r.Check == nil {
			return false
		}
		done = append(done, *r.Check)
		return true
	}, func(node, cause string) {
		done = append(done, results.Check{
			Name: c.Name, Node: node, Status: "failed", Reason: "the node's agent is gone: " + cause,
		})
	})
	slices.SortFunc(done, func(a, b results.Check) int { return strings.Compare(a.Node, b.Node) })
	return done, err
}

func sameTask(nodes []string, t agent.Task) map[string]agent.Task {
	m := make(map[string]agent.Task, len(nodes))
	for _, n := range nodes {
		m[n] = t
	}
	return m
}

func (s *session) secretReferences() []string {
	p := s.plan
	set := map[string]bool{}
	add := func(m map[string]string) {
		for _, reference := range m {
			set[reference] = true
		}
	}
	lists := [][]planner.Command{p.Setup, p.Teardown}
	for _, r := range p.Runs {
		lists = append(lists, r.Setup, r.Teardown, r.LaunchSetup, r.LaunchTeardown)
	}
	for _, c := range slices.Concat(lists...) {
		add(c.Secrets)
	}
	for _, c := range p.Cases {
		if c.Status == planner.Planned && s.backendOf(c).processes() {
			add(c.Secrets)
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// checkSecrets checks, before the first launch, that every node has every secret and permits every variable of
// the ranks. The values of secrets stay on the nodes.
func (s *session) checkSecrets(ctx context.Context) error {
	ask := s.secretsTask()
	if len(s.secrets) == 0 && s.fleet == nil {
		return nil // agents in this process permit any variable
	}
	if len(ask.Names)+len(ask.Variables)+len(ask.Env)+len(ask.Revealed)+len(s.shell) == 0 {
		return nil
	}
	var problems []string
	err := s.askNodes(ctx, "secrets", agent.Task{Secrets: &ask}, func(r agent.Report) bool {
		if r.Secrets == nil {
			return false
		}
		for _, p := range r.Secrets.Problems {
			problems = append(problems, fmt.Sprintf("%s (on node %s)", p, r.Node))
		}
		return true
	}, func(node, cause string) {
		problems = append(problems, fmt.Sprintf("the agent of node %s is gone: %s", node, cause))
	})
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return &checkError{strings.Join(problems, "; ")}
	}
	return nil
}

// clockRounds is how often each node is asked for its time; the fastest answer has the smallest error.
const clockRounds = 5

// compareClocks estimates the offsets of other hosts' clocks, for readers of logs and events. A node answers between
// the question and the arrival of the answer, so half of that time bounds the error (Cristian, Distributed
// Computing 3 (1989) 146–158). Measurements do not use these offsets: ranks compare clocks on the data path.
func (s *session) compareClocks(ctx context.Context) error {
	if s.fleet == nil {
		return nil
	}
	best := map[string]results.ClockOffset{}
	for round := range clockRounds {
		asked := time.Now()
		err := s.askNodes(ctx, fmt.Sprintf("clock-%d", round), agent.Task{Clock: true}, func(r agent.Report) bool {
			if r.Clock == nil {
				return false
			}
			took := time.Since(asked)
			o := results.ClockOffset{Value: r.Clock.Sub(asked.Add(took / 2)).Seconds(), Bound: took.Seconds() / 2}
			if known, ok := best[r.Node]; !ok || o.Bound < known.Bound {
				best[r.Node] = o
			}
			return true
		}, func(string, string) {})
		if err != nil {
			return err
		}
	}
	for i, n := range s.ledger.Doc.Environment.Nodes {
		s.ledger.Doc.Environment.Nodes[i].ClockOffset = best[n.Name]
	}
	return nil
}
