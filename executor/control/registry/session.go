// Package registry is the directory of agents and sessions in etcd: sessions find registered agents and
// reserve resources of nodes, agents receive invitations. Orders and reports do not go through it. It also
// starts an embedded etcd, and lends a part of it to programs of a scenario. Every key is attached to a
// lease, so that it disappears with its process. A temporary loss of etcd is tolerated.
package registry

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrGone ends a session: etcd and the session's reservations are lost for good.
var ErrGone = errors.New("etcd is gone, or this process was suspended")

// Session gives access to the keys of a session.
type Session struct {
	*client
	id     string
	prefix string
}

// Open connects to etcd and takes a lease.
func Open(ctx context.Context, c Config, session string) (*Session, error) {
	return open(ctx, c, session, defaultTimeouts)
}

func open(ctx context.Context, c Config, session string, p timeouts) (*Session, error) {
	if err := checkSession(session); err != nil {
		return nil, err
	}
	s := &Session{client: &client{}, id: session}
	if err := s.open(ctx, c, p); err != nil {
		return nil, err
	}
	s.prefix = s.root + session + "/"
	return s, nil
}

// Directory is the Directory of the same client. Closing the session closes it.
func (s *Session) Directory() *Directory { return &Directory{s.client} }

// Wipe deletes all keys of the session, of all writers. In a hurry it waits at most a second for etcd.
func (s *Session) Wipe(hurry bool) error {
	ctx, cancel := s.leaving(hurry)
	defer cancel()
	err := retry(ctx, func(ctx context.Context) error {
		_, err := s.etcd.Delete(ctx, s.prefix, clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting the session's keys: %w", leavingError(err))
	}
	return nil
}

// Keys is the number of keys of any session: 0 after its end.
func (s *Session) Keys(ctx context.Context, session string) (int, error) {
	n, err := s.count(ctx, s.root+session+"/")
	if err != nil {
		return 0, fmt.Errorf("counting keys: %w", err)
	}
	return n, nil
}
