package executor

import (
	"context"
	"errors"
	"maps"

	"weir/executor/agent"
)

// serve has the services of the launch ready before its ranks start.
func (l *launched) serve(ctx context.Context) {
	if len(l.services) == 0 || l.err != nil || l.failure != nil {
		return
	}
	l.engine.Alone = l.s.alone()
	var names map[string]string
	names, l.failure, l.err = l.s.services.provide(ctx, l, l.services)
	l.engine.Names = map[string]string{}
	maps.Copy(l.engine.Names, l.values)
	maps.Copy(l.engine.Names, names)
	if l.err == nil && l.failure == nil {
		l.failure, l.err = l.s.services.observe(ctx, l.services, false)
	}
	if l.err == nil && l.failure == nil {
		l.packed, l.err = agent.Pack(l.engine)
	}
}

// bereft fails a launch of which a service has ended, and calls its ranks off.
func (l *launched) bereft() {
	f := l.s.services.failed(l.services)
	if f == nil || l.failure != nil {
		return
	}
	own := *f
	own.Log = nil // its cause has the last lines
	l.failure = &own
	if l.task != nil && !l.task.over() {
		l.s.withdraw(l.task)
	}
}

// awaitRelated waits a moment, after a launch has failed, for a service that was its cause.
func (l *launched) awaitRelated(ctx context.Context) error {
	if len(l.services) == 0 || l.failure != nil || l.failed() == nil {
		return nil
	}
	patience, cancel := context.WithTimeoutCause(ctx, relatedTime, errNoneEnded)
	defer cancel()
	err := l.s.Wait(patience, func() bool { return l.s.services.failed(l.services) != nil })
	if l.bereft(); errors.Is(err, errNoneEnded) {
		err = nil
	}
	return err
}

// alone says whether all nodes of the session are one host.
func (s *session) alone() bool {
	hosts := map[string]bool{}
	for _, n := range s.hosts.Nodes {
		hosts[n.Host] = true
	}
	return len(hosts) == 1
}
