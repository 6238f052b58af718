package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"weir/executor/agent"
)

const (
	// cancelTime is how long a cancelled task may take to end in order; agents
	// kill their processes well before.
	cancelTime = 1600 * time.Millisecond
	// tidyTime bounds each step of tidying up in etcd.
	tidyTime = time.Second
)

// task places a task on nodes and takes their reports until all have ended: take
// says whether a report is a node's last, gone hears of a node whose agent died.
// When ctx ends, the session is cancelled and the error is the cause.
func (s *session) task(ctx context.Context, id string, specs map[string][]byte, take func(agent.Report) bool, gone func(node string)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	pending := map[string]bool{}
	nodes := slices.Sorted(maps.Keys(specs))
	for _, node := range nodes {
		if err := s.cluster.Place(ctx, node, id, specs[node]); err != nil {
			return firstError(context.Cause(ctx), err)
		}
		pending[node] = true
	}
	stopped := ctx.Done()
	var giveUp <-chan time.Time
	var ended error
	for len(pending) > 0 {
		select {
		case r := <-s.reports:
			if r.Task == id && take(r) {
				delete(pending, r.Node)
			}
		case m, ok := <-s.changes:
			if !ok {
				return errEtcdGone
			}
			if !m.Gone {
				continue
			}
			delete(s.members, m.Node)
			if pending[m.Node] {
				delete(pending, m.Node)
				gone(m.Node)
			}
		case <-s.cluster.Lost():
			return errEtcdGone
		case <-stopped:
			stopped = nil
			ended = context.Cause(ctx)
			giveUp = time.After(cancelTime)
			s.cancel(ended)
		case <-giveUp:
			return ended // closing the agents ends what is left
		}
	}
	if ended != nil {
		return ended
	}
	tidy, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	return s.cluster.Forget(tidy, id, nodes)
}

// cancel tells all agents to end what they do.
func (s *session) cancel(cause error) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime/2)
	defer cancel()
	_ = s.cluster.Cancel(ctx, cancelReason(cause)) // without etcd, closing the agents does it
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
