// This file lends parts of the session's etcd to tasks.

package executor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/weir-bench/weir/executor/control/registry"
)

// lending lends parts of the session's etcd to tasks, for example to programs that need an etcd.
type lending struct {
	mu    sync.Mutex
	loans map[string]loan // by task
}

type loan struct {
	*registry.Lent
	nodes []string // of the task
}

func (s *session) lend(ctx context.Context, task string, nodes []string) error {
	lent, err := registry.Lend(ctx, s.etcd, s.o.SessionID, task)
	if err != nil {
		return err
	}
	l := &s.lending
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loans == nil {
		l.loans = map[string]loan{}
	}
	l.loans[task] = loan{lent, nodes}
	return nil
}

// takeBack ends what was lent to a task, if anything.
func (l *lending) takeBack(task string) {
	l.mu.Lock()
	lent := l.loans[task]
	delete(l.loans, task)
	l.mu.Unlock()
	lent.Close()
}

// dial connects a node to the etcd that is lent to one of its tasks. Any goroutine may call it.
func (l *lending) dial(ctx context.Context, node, task string) (net.Conn, error) {
	l.mu.Lock()
	lent, ok := l.loans[task]
	l.mu.Unlock()
	if !ok || !slices.Contains(lent.nodes, node) {
		return nil, fmt.Errorf("no etcd is lent to task %.80q on node %s", task, node)
	}
	return lent.Dial(ctx)
}
