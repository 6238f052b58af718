// Package cluster is the one door to etcd: the session's embedded server, and a
// handle through which coordinator and agents find each other, place work, trade
// addresses and meet at barriers. etcd is for control only: nothing is
// measured through it and no samples pass through it. Everything is watched,
// nothing is polled, and every key hangs on a lease, so a dead process cleans up
// after itself. An etcd that is away for a while is waited for.
package cluster

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Session is one process's handle on a session's keys.
type Session struct {
	door
	id     string
	prefix string
}

// Open connects to etcd and takes a lease.
func Open(ctx context.Context, c Config, session string) (*Session, error) {
	return open(ctx, c, session, defaultPatience)
}

func open(ctx context.Context, c Config, session string, p patience) (*Session, error) {
	if err := checkSession(session); err != nil {
		return nil, err
	}
	s := &Session{id: session}
	if err := s.open(ctx, c, p); err != nil {
		return nil, err
	}
	s.prefix = s.root + session + "/"
	return s, nil
}

// Wipe deletes all keys of the session, whoever wrote them. In a hurry it does not
// wait long for etcd.
func (s *Session) Wipe(hurry bool) error {
	ctx, cancel := s.leaving(hurry)
	defer cancel()
	err := retry(ctx, func(ctx context.Context) error {
		_, err := s.client.Delete(ctx, s.prefix, clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting the session's keys: %w", err)
	}
	return nil
}

// Keys is the number of keys that some session has in etcd, this one's or
// another's: none, once it is over.
func (s *Session) Keys(ctx context.Context, session string) (int, error) {
	n, err := s.count(ctx, s.root+session+"/")
	if err != nil {
		return 0, fmt.Errorf("counting keys: %w", err)
	}
	return n, nil
}
