package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/executor/agent"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
)

// checks runs every check on every node. If one fails, nothing is launched: the session
// ends, or all cases are skipped, or it is only told, as the check says.
func (s *session) checks(ctx context.Context) error {
	var failed, unfit []string
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
			s.ledger.Doc.Checks = append(s.ledger.Doc.Checks, r) // those of a former session are forgotten
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
				unfit = append(unfit, why)
			}
		}
	}
	if len(failed) > 0 {
		return &checkError{strings.Join(failed, "; ")}
	}
	if s.skipAll = strings.Join(unfit, "; "); s.skipAll != "" {
		for _, g := range s.ledger.Groups {
			s.ledger.DecideAll(s.ledger.Live(g), results.Skipped, s.skipAll)
		}
	}
	return nil
}

// checkError ends a session because a node is not what the scenario asks for.
type checkError struct{ text string }

func (e *checkError) Error() string { return e.text }

func (s *session) checkEverywhere(ctx context.Context, id string, c planner.Check) ([]results.Check, error) {
	nodes := s.hosts.Names()
	spec, err := agent.Task{Redact: s.secrets, Check: &agent.CheckTask{Name: c.Name, Command: c.Command}}.Encode()
	if err != nil {
		return nil, err
	}
	var done []results.Check
	err = s.task(ctx, id, specFor(nodes, spec), func(r agent.Report) bool {
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

func specFor(nodes []string, spec []byte) map[string][]byte {
	m := make(map[string][]byte, len(nodes))
	for _, n := range nodes {
		m[n] = spec
	}
	return m
}
