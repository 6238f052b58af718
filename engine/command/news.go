package command

import (
	"context"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
)

// state is the progress of a role. A rank sends it to the others as one byte.
type state byte

const (
	isReady   state = 1
	hasEnded  state = 2
	hasFailed state = 3 // its program ended by itself with an error: sent at once, before its cause is known
)

// news is the progress of all roles.
type news struct {
	*mesh.Mesh
	self int

	mu      sync.Mutex
	states  []state // by rank
	lost    []error
	changed chan struct{} // closed and replaced with each change
}

func newsOf(nodes []string, self int) (*news, error) {
	m, err := mesh.Listen(nodes, self)
	return &news{
		Mesh: m, self: self, states: make([]state, len(nodes)), lost: make([]error, len(nodes)),
		changed: make(chan struct{}),
	}, err
}

// hear handles the state of another role.
func (m *news) hear(other int, message []byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.lost[other] = err
	} else if len(message) == 1 {
		m.states[other] = max(m.states[other], state(message[0]))
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// waitFailed waits until the program of a role has failed, of those that which selects.
func (m *news) waitFailed(ctx context.Context, which func(int) bool) error {
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		if m.failed(which) >= 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// failed returns a role with a program that has failed, of those that which selects; -1: none is known.
func (m *news) failed(which func(int) bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.states {
		if i != m.self && s == hasFailed && which(i) {
			return i
		}
	}
	return -1
}

// tell sends the state of this role to all others.
func (m *news) tell(s state) { m.Broadcast([]byte{byte(s)}) }

// wait waits until another role has reached a state.
func (m *news) wait(ctx context.Context, other int, s state) error {
	return m.waitAll(ctx, func(i int) bool { return i == other }, s)
}

// waitAll waits until some other roles have reached a state.
func (m *news) waitAll(ctx context.Context, which func(int) bool, s state) error {
	for {
		m.mu.Lock()
		changed, missing := m.changed, false
		var err error
		for i := range m.states {
			if i == m.self || !which(i) || m.states[i] >= s && (s != hasEnded || m.states[i] == s) {
				continue // what has failed has not ended as it should
			}
			missing = true
			if m.lost[i] != nil {
				err = &engine.Error{
					Phase: "run", Peer: i, Code: -int(unix.ECONNRESET),
					Text: "lost the rank of another role: " + m.lost[i].Error(),
				}
			}
		}
		m.mu.Unlock()
		if err != nil || !missing {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
