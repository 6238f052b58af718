package command

import (
	"context"
	"net"

	"golang.org/x/sys/unix"

	"weir/engine"
)

// state is how far a role has come. A rank tells it to the others as one byte.
type state byte

const (
	isReady  state = 1
	hasEnded state = 2
)

// hear takes the news of another role.
func (m *mesh) hear(other int, conn net.Conn) {
	news := make([]byte, 1)
	for {
		_, err := conn.Read(news)
		m.mu.Lock()
		if err != nil {
			m.lost[other] = err
		} else {
			m.states[other] = max(m.states[other], state(news[0]))
		}
		close(m.changed)
		m.changed = make(chan struct{})
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// tell tells all others how far this role has come. Who is gone needs no news.
func (m *mesh) tell(s state) {
	for _, conn := range m.conns {
		if conn != nil {
			_, _ = conn.Write([]byte{byte(s)})
		}
	}
}

// wait waits until another role has come so far.
func (m *mesh) wait(ctx context.Context, other int, s state) error {
	return m.waitAll(ctx, func(i int) bool { return i == other }, s)
}

// waitAll waits until some of the other roles have come so far.
func (m *mesh) waitAll(ctx context.Context, which func(int) bool, s state) error {
	for {
		m.mu.Lock()
		changed, missing := m.changed, false
		var err error
		for i := range m.states {
			if i == m.self || !which(i) || m.states[i] >= s {
				continue
			}
			missing = true
			if m.lost[i] != nil {
				err = &engine.Error{
					Phase: "run", Peer: i, Code: -int(unix.ECONNRESET),
					Text: "the rank of another role has gone: " + m.lost[i].Error(),
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

// hostOf is the address of the host that a rank is on: 127.0.0.1 if there is only one.
func (m *mesh) hostOf(rank int) string {
	if m.onOneNode() {
		return "127.0.0.1"
	}
	for i, conn := range m.conns {
		switch {
		case conn == nil:
		case m.nodes[rank] != m.nodes[m.self] && i == rank:
			return host(conn.RemoteAddr())
		case m.nodes[rank] == m.nodes[m.self] && m.nodes[i] != m.nodes[m.self]:
			return host(conn.LocalAddr()) // by which others see this host
		}
	}
	return "127.0.0.1"
}

func host(a net.Addr) string {
	return a.(*net.TCPAddr).AddrPort().Addr().Unmap().String()
}

// close hangs up.
func (m *mesh) close() error {
	for _, conn := range m.conns {
		if conn != nil {
			conn.Close()
		}
	}
	return nil
}
