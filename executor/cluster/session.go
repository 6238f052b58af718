// Package cluster is the one door to etcd: the session's embedded server, and a
// handle through which coordinator and agents find each other, place work, trade
// addresses and meet at barriers. etcd is for control only: nothing is
// measured through it and no samples pass through it. Everything is watched,
// nothing is polled, and every key hangs on a lease, so a dead process cleans up
// after itself.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// leaseTTL is how long, in seconds, a process may be silent before the others
// take it for dead. A machine whose processors are all busy measuring must get
// through three keepalives in it.
const leaseTTL = 10

// Session is one process's handle on a session's keys.
type Session struct {
	client *clientv3.Client
	prefix string
	lease  clientv3.LeaseID
	ctx    context.Context // of watches and keepalives: ends with Close
	stop   context.CancelFunc
	wg     sync.WaitGroup
	lost   chan struct{}
}

// Open connects to etcd and takes a lease.
func Open(ctx context.Context, endpoints []string, id string) (*Session, error) {
	return open(ctx, endpoints, id, leaseTTL)
}

func open(ctx context.Context, endpoints []string, id string, ttl int64) (*Session, error) {
	if err := checkName("session", id); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, Context: life, Logger: zap.NewNop(), DialTimeout: 5 * time.Second,
		DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("connecting to etcd at %v: %w", endpoints, err)
	}
	s := &Session{client: client, prefix: sessionPrefix(id), ctx: life, stop: stop, lost: make(chan struct{})}
	if err := s.takeLease(ctx, ttl); err != nil {
		stop()
		client.Close()
		return nil, fmt.Errorf("connecting to etcd at %v: %w", endpoints, err)
	}
	return s, nil
}

func (s *Session) takeLease(ctx context.Context, ttl int64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	grant, err := s.client.Grant(ctx, ttl)
	if err != nil {
		return fmt.Errorf("taking a lease: %w", err)
	}
	s.lease = grant.ID
	alive, err := s.client.KeepAlive(s.ctx, s.lease)
	if err != nil {
		return fmt.Errorf("keeping the lease: %w", err)
	}
	s.wg.Go(func() {
		for range alive {
		}
		if s.ctx.Err() == nil {
			close(s.lost)
		}
	})
	return nil
}

// Lost is closed when the lease has run out although the session is open: this
// process was suspended, or etcd is gone. Nothing written is there any more.
func (s *Session) Lost() <-chan struct{} { return s.lost }

// How long giving keys back may take. That it worked is part of what a session
// promises, so a busy machine must not make it an error; but nobody waits for an
// etcd that is gone, or after a second interrupt.
const (
	patience  = 10 * time.Second
	impatient = time.Second
)

func (s *Session) leaving(hurry bool) (context.Context, context.CancelFunc) {
	limit := patience
	select {
	case <-s.lost:
		limit = impatient
	default:
		if hurry {
			limit = impatient
		}
	}
	return context.WithTimeout(context.Background(), limit)
}

// Close gives the lease back, and with it everything that this handle wrote. In a
// hurry it does not wait long for etcd.
func (s *Session) Close(hurry bool) error {
	ctx, cancel := s.leaving(hurry)
	defer cancel()
	_, err := s.client.Revoke(ctx, s.lease)
	s.stop()
	s.wg.Wait()
	if cerr := s.client.Close(); cerr != nil && !errors.Is(cerr, context.Canceled) {
		err = errors.Join(err, cerr)
	}
	if err != nil {
		return fmt.Errorf("leaving etcd: %w", err)
	}
	return nil
}

// Wipe deletes all keys of the session, whoever wrote them. In a hurry it does not
// wait long for etcd.
func (s *Session) Wipe(hurry bool) error {
	ctx, cancel := s.leaving(hurry)
	defer cancel()
	if _, err := s.client.Delete(ctx, s.prefix, clientv3.WithPrefix()); err != nil {
		return fmt.Errorf("deleting the session's keys: %w", err)
	}
	return nil
}

// Forget deletes what a launch left: its placements, what its nodes shared, and its
// meeting place.
func (s *Session) Forget(ctx context.Context, launch string, nodes []string) error {
	ops := []clientv3.Op{
		clientv3.OpDelete(s.launchKey(launch), clientv3.WithPrefix()),
		clientv3.OpDelete(s.sharedKey(launch), clientv3.WithPrefix()),
	}
	for _, node := range nodes {
		ops = append(ops, clientv3.OpDelete(s.placementsKey()+node+"/"+launch))
	}
	if err := s.commit(ctx, ops); err != nil {
		return fmt.Errorf("deleting the keys of launch %s: %w", launch, err)
	}
	return nil
}

// Withdraw calls a task off on nodes: their agents end it, and then say how it ended.
func (s *Session) Withdraw(ctx context.Context, task string, nodes []string) error {
	var ops []clientv3.Op
	for _, node := range nodes {
		ops = append(ops, clientv3.OpDelete(s.placementsKey()+node+"/"+task))
	}
	if err := s.commit(ctx, ops); err != nil {
		return fmt.Errorf("withdrawing %s: %w", task, err)
	}
	return nil
}

func (s *Session) put(ctx context.Context, key, value string) error {
	_, err := s.client.Put(ctx, key, value, clientv3.WithLease(s.lease))
	return err
}

// putNew writes a key that nobody has written yet and says whether it did.
func (s *Session) putNew(ctx context.Context, key, value string) (bool, error) {
	r, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, value, clientv3.WithLease(s.lease))).Commit()
	if err != nil {
		return false, err
	}
	return r.Succeeded, nil
}

// Limits of etcd on one transaction, with room to spare.
const (
	maxOps   = 100
	maxBytes = 1 << 20
)

// commit sends operations in as few transactions as etcd's limits allow.
func (s *Session) commit(ctx context.Context, ops []clientv3.Op) error {
	for len(ops) > 0 {
		n, size := 0, 0
		for n < len(ops) && n < maxOps && (n == 0 || size+len(ops[n].ValueBytes()) <= maxBytes) {
			size += len(ops[n].ValueBytes())
			n++
		}
		if _, err := s.client.Txn(ctx).Then(ops[:n]...).Commit(); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}
