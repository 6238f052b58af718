package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/event"
	"weir/executor/fleet"
	"weir/executor/trust"
)

const (
	// cancelTime is how long a withdrawn task may take to end in order; agents kill
	// its processes well before.
	cancelTime = 1600 * time.Millisecond
	// wordTime bounds each word to the agents that nothing depends on: without it,
	// their own deadlines or the end of the session do the same later.
	wordTime = time.Second
	// ownTask begins the names of tasks that are no launch: groups' names never do.
	ownTask = "."
)

// task is something that nodes do. Several may be under way; the session's
// goroutine hands each its reports.
type task struct {
	id      string
	nodes   []string
	pending map[string]bool          // nodes that have not said their last
	take    func(agent.Report) bool  // says whether a report is a node's last
	gone    func(node, cause string) // hears of a node whose agent died
	host    *cluster.Host            // of a launch's ranks; nil without any
}

// shared is what the nodes of a task have in common, and where they are told that it is.
type shared struct {
	where cluster.Text
	text  []byte
}

func (t *task) over() bool { return len(t.pending) == 0 }

var errKilled = errors.New("killed: told to stop a second time")

// task places a task on nodes and takes their reports until all have ended. When
// ctx ends before, the task is withdrawn and the error is the cause.
func (s *session) task(ctx context.Context, id string, specs map[string][]byte, take func(agent.Report) bool,
	gone func(node, cause string)) error {
	t, err := s.start(ctx, id, specs, nil, take, gone)
	if err != nil {
		return err
	}
	return s.finish(t, s.Wait(ctx, t.over))
}

// answerTime bounds how long nodes may take to answer a question, which is no work.
const answerTime = 20 * time.Second

// ask places a question on all nodes and takes their answers. A node that does not
// understand it, or does not answer in time, is an error.
func (s *session) ask(ctx context.Context, id string, question agent.Task, answer func(agent.Report) bool,
	gone func(node, cause string)) error {
	spec, err := question.Encode()
	if err != nil {
		return err
	}
	refused := ""
	bounded, cancel := context.WithTimeoutCause(ctx, answerTime,
		fmt.Errorf("agents did not answer within %v", answerTime))
	defer cancel()
	err = s.task(bounded, ownTask+id, specFor(s.hosts.Names(), spec), func(r agent.Report) bool {
		if r.Outcome != nil && r.Outcome.Failure != nil {
			refused = fmt.Sprintf("the agent of node %s: %s", r.Node, r.Outcome.Failure.Cause)
			return true
		}
		return answer(r)
	}, gone)
	if err == nil && refused != "" {
		err = errors.New(refused)
	}
	return err
}

// start places a task on nodes, and before that what they share, if anything. Whoever
// starts one must finish it. A session that is killed starts nothing, not even
// teardown: it would only be killed at once.
func (s *session) start(ctx context.Context, id string, specs map[string][]byte, shared *shared,
	take func(agent.Report) bool, gone func(node, cause string)) (*task, error) {
	if killed(s.o.Kill) {
		return nil, errKilled
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	t := &task{id: id, nodes: slices.Sorted(maps.Keys(specs)), pending: map[string]bool{}, take: take, gone: gone}
	s.tasks[id] = t
	for _, node := range t.nodes {
		t.pending[node] = true
	}
	if err := s.place(ctx, t, specs, shared); err != nil {
		return nil, s.finish(t, cmp.Or(context.Cause(ctx), err))
	}
	return t, nil
}

func (s *session) place(ctx context.Context, t *task, specs map[string][]byte, shared *shared) error {
	if shared != nil {
		if err := s.cluster.Share(ctx, t.id, shared.where, shared.text); err != nil {
			return err
		}
	}
	sealed := make(map[string][]byte, len(specs))
	for _, node := range t.nodes {
		s.placed++
		about := trust.Subject{Session: s.o.SessionID, Node: node, Name: t.id}
		sealed[node] = agent.Seal(s.signer, about, s.placed, specs[node])
	}
	return s.cluster.Place(ctx, t.id, sealed)
}

// Wait hands out reports until over says so, or ctx ends, or nothing can come
// any more.
func (s *session) Wait(ctx context.Context, over func() bool) error {
	for !over() {
		select {
		case r := <-s.reports:
			// a node has a say about what it was asked, until it has said its last
			if t := s.tasks[r.Task]; t != nil && t.pending[r.Node] && t.take(r) {
				delete(t.pending, r.Node)
			}
			if r.Outcome != nil && r.Outcome.Left() { // before its link and its lease say so
				s.Lost(r.Node, r.Outcome.Failure.Cause)
			}
		case f := <-s.calls:
			f()
		case m, ok := <-s.changes:
			if !ok {
				return cluster.ErrGone
			}
			if err := s.Changed(m); err != nil {
				return err
			}
		case d := <-s.departed():
			s.fleet.Gone(d)
		case <-s.cluster.Lost():
			return cluster.ErrGone
		case <-s.o.Kill:
			return errKilled
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// call has the session's goroutine do something while it waits. It may be too late for that.
func (s *session) call(f func()) {
	select {
	case s.calls <- f:
	case <-s.closed:
	}
}

// Lost tells the tasks of a node that its agent is gone.
func (s *session) Lost(node, cause string) {
	if _, here := s.hosts.Nodes[node]; !here {
		return // it was known already: link and lease tell of it one after the other
	}
	if s.fleet != nil {
		cause += s.fleet.Pause(time.Now())
	}
	s.hosts.Leave(node, cause)
	s.dismiss(node)
	s.ledger.Events.Emit(event.Event{Type: event.NodeLost, Node: node, Reason: cause})
	for _, t := range s.tasks {
		if t.pending[node] {
			delete(t.pending, node)
			t.gone(node, cause)
		}
	}
}

// departed tells of the links that end; a session without a fleet has none.
func (s *session) departed() <-chan fleet.Departure {
	if s.fleet == nil {
		return nil
	}
	return s.fleet.Departed()
}

// reacquire waits until there are enough nodes again for a launch. It is no error if there
// are not: preparing the launch says what is missing.
func (s *session) reacquire(ctx context.Context, need int) error {
	if s.fleet == nil {
		return nil
	}
	return s.fleet.Reacquire(ctx, need)
}

// hearDepartures takes note of all links that are known to have ended.
func (s *session) hearDepartures() {
	for {
		select {
		case d := <-s.departed():
			s.fleet.Gone(d)
		default:
			return
		}
	}
}

// dismiss makes room in etcd for an agent that comes in the place of one that is gone.
func (s *session) dismiss(node string) {
	if s.fleet == nil {
		return
	}
	m := s.joined[node]
	s.fleet.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wordTime)
		defer cancel()
		_ = s.cluster.Dismiss(ctx, m) // or its lease does
	})
}

// finish ends what is left of a task and deletes its keys. An error of waiting
// stays the error.
func (s *session) finish(t *task, err error) error {
	defer func() {
		delete(s.tasks, t.id)
		if s.fleet != nil {
			s.fleet.Ended(t.id)
		}
	}()
	if err != nil && !t.over() && s.reachable(err) {
		s.withdraw(t)
		patience, cancel := context.WithTimeout(context.Background(), cancelTime)
		_ = s.Wait(patience, t.over) // closing the agents ends what is left
		cancel()
	}
	t.host.Close() // before its keys go
	if s.reachable(err) {
		tidy, cancel := context.WithTimeout(context.Background(), wordTime)
		defer cancel()
		_ = s.cluster.Forget(tidy, t.id, t.nodes) // what it leaves, the end of the session wipes
	}
	return err
}

// reachable says whether, after an error of waiting, agents still hear.
func (s *session) reachable(err error) bool {
	return !errors.Is(err, cluster.ErrGone) && !errors.Is(err, errKilled)
}

// withdraw tells a task's agents to end it.
func (s *session) withdraw(t *task) {
	ctx, cancel := context.WithTimeout(context.Background(), wordTime/2)
	defer cancel()
	_ = s.cluster.Withdraw(ctx, t.id, t.nodes) // without etcd, closing the agents does it
}

// expect says which logs nodes will send of a task, by node.
func (s *session) expect(task string, logs map[string][]string) {
	if s.fleet != nil {
		s.fleet.Expect(task, logs)
	}
}

// sleep waits, and goes on taking reports meanwhile.
func (s *session) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	slept := errors.New("slept")
	timer, cancel := context.WithTimeoutCause(ctx, d, slept)
	defer cancel()
	if err := s.Wait(timer, func() bool { return false }); !errors.Is(err, slept) {
		return err
	}
	return nil
}

// cancelReason words the end of a context for a person.
func cancelReason(cause error) string {
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return "the session's time is over"
	case errors.Is(cause, context.Canceled):
		return "the session was cancelled"
	}
	return fmt.Sprint(cause)
}

// killed says whether nothing may be waited for any more.
func killed(kill <-chan struct{}) bool {
	select {
	case <-kill:
		return true
	default:
		return false
	}
}
