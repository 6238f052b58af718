// This file sends tasks to agents and dispatches their reports; all waits of the session are here.

package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/event"
)

const (
	// cancelTimeout bounds the orderly end of a withdrawn task; agents kill its processes well before.
	cancelTimeout = 1600 * time.Millisecond
	// answerTimeout bounds the answers to a question, which takes nodes no work.
	answerTimeout = 20 * time.Second
	// ownTask is the prefix of the ids of tasks other than launches: names of groups never begin with it.
	ownTask = "."
)

// task is work on nodes. The session's goroutine passes each task its reports.
type task struct {
	id         string
	nodes      []string
	pending    map[string]bool         // nodes that have not ended the task
	onReport   func(agent.Report) bool // true: the last report of its node
	onNodeLost func(node, cause string)
	rendezvous *rendezvous // of a launch's ranks on several nodes; nil: none
}

func (t *task) ended() bool { return len(t.pending) == 0 }

var errKilled = errors.New("killed: interrupted a second time")

// runTask starts a task on nodes and waits until all have ended it. If ctx ends first, it withdraws the
// task and returns the cause.
func (s *session) runTask(ctx context.Context, id string, work map[string]agent.Task,
	onReport func(agent.Report) bool, onNodeLost func(node, cause string)) error {
	t, err := s.startTask(ctx, id, work, nil, onReport, onNodeLost)
	if err != nil {
		return err
	}
	return s.finishTask(t, s.Wait(ctx, t.ended))
}

// askNodes asks all nodes a question. It is an error if a node refuses the question or does not answer
// within answerTimeout.
func (s *session) askNodes(ctx context.Context, id string, question agent.Task, answer func(agent.Report) bool,
	onNodeLost func(node, cause string)) error {
	refused := ""
	bounded, cancel := context.WithTimeoutCause(ctx, answerTimeout,
		fmt.Errorf("agents did not answer within %v", answerTimeout))
	defer cancel()
	err := s.runTask(bounded, ownTask+id, sameTask(s.nodes.Names(), question), func(r agent.Report) bool {
		if r.Outcome != nil && r.Outcome.Failure != nil {
			refused = fmt.Sprintf("the agent of node %s: %s", r.Node, r.Outcome.Failure.Cause)
			return true
		}
		return answer(r)
	}, onNodeLost)
	if err == nil && refused != "" {
		err = errors.New(refused)
	}
	return err
}

// startTask sends a task to its nodes; finishTask must follow. ranks are the nodes of a launch's ranks, by
// rank, nil for other tasks. A killed session starts nothing, not even teardown.
func (s *session) startTask(ctx context.Context, id string, work map[string]agent.Task, ranks []string,
	onReport func(agent.Report) bool, onNodeLost func(node, cause string)) (*task, error) {
	if killed(s.o.Kill) {
		return nil, errKilled
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	t := &task{
		id: id, nodes: slices.Sorted(maps.Keys(work)), pending: map[string]bool{}, onReport: onReport,
		onNodeLost: onNodeLost, rendezvous: newRendezvous(id, ranks, s.order),
	}
	s.tasks[id] = t
	for _, node := range t.nodes {
		t.pending[node] = true
	}
	if err := s.sendTask(ctx, t, work); err != nil {
		return nil, s.finishTask(t, cmp.Or(context.Cause(ctx), err))
	}
	for _, node := range t.nodes { // lost before: the session is not notified again
		if _, known := s.nodes.Nodes[node]; !known {
			t.lose(node, s.nodes.Lost[node])
		}
	}
	return t, nil
}

// lose ends the task on a lost node, and on the other nodes of a launch.
func (t *task) lose(node, cause string) {
	if t.pending[node] {
		delete(t.pending, node)
		t.onNodeLost(node, cause)
		t.rendezvous.abort(node, "node "+node+" is gone")
	}
}

func (s *session) sendTask(ctx context.Context, t *task, work map[string]agent.Task) error {
	for i, node := range t.nodes {
		do := work[node]
		if i == 0 && do.Launch != nil && do.Launch.Etcd {
			if err := s.lend(ctx, t.id, t.nodes); err != nil {
				return err
			}
		}
		if err := s.order(node, agent.Order{Task: t.id, Do: &do}); err != nil {
			return fmt.Errorf("placing %s on node %s: %w", t.id, node, err)
		}
	}
	return nil
}

// sendOrder sends an order to the agent of a node without waiting; an agent that is gone gets none. The error
// is that the order cannot be encoded.
func (s *session) sendOrder(node string, o agent.Order) error {
	if s.fleet != nil {
		return s.fleet.Order(node, o)
	}
	if a := s.localAgents[node]; a != nil {
		a.Take(o)
	}
	return nil
}

// Wait dispatches reports and other news until done returns true, ctx ends, the session is killed or its
// etcd is lost.
func (s *session) Wait(ctx context.Context, done func() bool) error {
	var etcdLost <-chan struct{}
	if s.etcdSession != nil && !s.etcdGone {
		etcdLost = s.etcdSession.Lost()
	}
	var changes <-chan fleet.Change
	if s.fleet != nil {
		changes = s.fleet.Changes()
	}
	for !done() {
		select {
		case r := <-s.reports:
			s.dispatchReport(r)
			if r.Outcome != nil && r.Outcome.AgentEnded() { // before its link says so
				s.Lost(r.Node, r.Outcome.Failure.Cause)
			}
		case f := <-s.posted:
			f()
		case c := <-changes:
			s.fleet.Changed(c)
		case <-etcdLost:
			s.etcdGone = true
			return registry.ErrGone
		case <-s.o.Kill:
			return errKilled
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// waitFor is Wait that returns timeout after limit.
func (s *session) waitFor(ctx context.Context, limit time.Duration, timeout error, done func() bool) error {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, timeout)
	defer cancel()
	return s.Wait(bounded, done)
}

// dispatchReport passes a report to its task, unless its node has ended the task or was never part of it.
func (s *session) dispatchReport(r agent.Report) {
	t := s.tasks[r.Task]
	if t == nil || !t.pending[r.Node] || t.rendezvous.handleReport(r) {
		return
	}
	t.rendezvous.completeFailure(r.Outcome)
	if t.onReport(r) {
		delete(t.pending, r.Node)
	}
}

// post queues f for the session's goroutine, which runs it in Wait; a closed session drops it.
func (s *session) post(f func()) {
	select {
	case s.posted <- f:
	case <-s.closed:
	}
}

// Lost removes a node and tells its tasks that its agent is gone.
func (s *session) Lost(node, cause string) {
	if _, known := s.nodes.Nodes[node]; !known {
		return // an agent that leaves says so before its link ends
	}
	if s.fleet != nil {
		cause += s.fleet.Pause(time.Now())
	}
	s.nodes.Leave(node, cause)
	s.ledger.Events.Emit(event.Event{Type: event.NodeLost, Node: node, Reason: cause})
	for _, t := range s.tasks {
		t.lose(node, cause)
	}
}

// reacquire waits for nodes in place of lost ones. Too few nodes are no error here: preparing the launch
// reports what is missing.
func (s *session) reacquire(ctx context.Context, need int) error {
	if s.fleet == nil {
		return nil
	}
	return s.fleet.Reacquire(ctx, need)
}

// finishTask forgets a task, after withdrawing it where it has not ended. It returns err.
func (s *session) finishTask(t *task, err error) error {
	if err != nil && !t.ended() && !errors.Is(err, errKilled) {
		_ = s.withdrawAndWait(t, cancelTimeout, context.DeadlineExceeded) // closing the agents ends the rest
	}
	delete(s.tasks, t.id)
	s.lending.takeBack(t.id)
	if s.fleet != nil {
		s.fleet.Ended(t.id)
	}
	return err
}

func (s *session) withdraw(t *task) {
	for _, node := range t.nodes {
		_ = s.order(node, agent.Order{Task: t.id, Withdraw: true}) // otherwise closing the agents ends it
	}
}

// withdrawAndWait withdraws a task and returns timeout if it does not end within limit.
func (s *session) withdrawAndWait(t *task, limit time.Duration, timeout error) error {
	s.withdraw(t)
	return s.waitFor(context.Background(), limit, timeout, t.ended)
}

// expectLogs announces the logs that the nodes of a task will send, by node.
func (s *session) expectLogs(task string, logs map[string][]string) {
	if s.fleet != nil {
		s.fleet.Expect(task, logs)
	}
}

var errSlept = errors.New("slept")

// sleep waits for d while reports are dispatched.
func (s *session) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	if err := s.waitFor(ctx, d, errSlept, func() bool { return false }); !errors.Is(err, errSlept) {
		return err
	}
	return nil
}

// cancelReason describes the end of a context to users.
func cancelReason(cause error) string {
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return "the session's time is over"
	case errors.Is(cause, context.Canceled):
		return "the session was cancelled"
	}
	return fmt.Sprint(cause)
}

// killed reports whether a kill channel is closed.
func killed(kill <-chan struct{}) bool {
	select {
	case <-kill:
		return true
	default:
		return false
	}
}
