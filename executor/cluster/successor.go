package cluster

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// What a process has left that was killed goes with its lease. Whoever knows that it is
// gone need not wait for that.

func (d *Directory) register(ctx context.Context, key string, about []byte, gone func(about []byte) bool) (bool,
	error) {
	if fresh, err := d.putNew(ctx, key, about); err != nil || fresh {
		return fresh, err
	}
	var other *mvccpb.KeyValue
	err := d.try(ctx, func(ctx context.Context) error {
		got, err := d.client.Get(ctx, key)
		if err == nil && len(got.Kvs) > 0 {
			other = got.Kvs[0]
		}
		return err
	})
	if err != nil || other == nil || !gone(other.Value) { // one that went meanwhile is tried again
		return false, err
	}
	taken := false
	err = d.try(ctx, func(ctx context.Context) error {
		r, err := d.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=",
			other.ModRevision)).Then(d.opPut(key, about)).Commit()
		taken = err == nil && r.Succeeded
		return err
	})
	return taken, err
}

// Dismiss deletes the registration of a member that is known to be gone. One that has
// come in its place keeps its own.
func (s *Session) Dismiss(ctx context.Context, m Member) error {
	key := s.membersKey() + m.Node
	err := s.try(ctx, func(ctx context.Context) error {
		_, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=",
			m.revision)).Then(clientv3.OpDelete(key)).Commit()
		return err
	})
	if err != nil {
		return fmt.Errorf("dismissing node %s: %w", m.Node, err)
	}
	return nil
}

// Bury deletes all that a former session has in etcd, whose coordinator is known to be
// gone: its keys, what it has claimed, and its invitations.
func (s *Session) Bury(ctx context.Context, former string) error {
	err := checkSession(former)
	ops := []clientv3.Op{clientv3.OpDelete(s.root+former+"/", clientv3.WithPrefix())}
	for _, dir := range []string{claimsDir, invitesDir} {
		var names []string
		if err == nil {
			names, err = s.names(ctx, s.root+dir)
		}
		for _, name := range names {
			if _, session, _ := strings.Cut(name, "/"); session == former {
				ops = append(ops, clientv3.OpDelete(s.root+dir+name))
			}
		}
	}
	if err == nil {
		err = s.commit(ctx, ops)
	}
	if err != nil {
		return fmt.Errorf("deleting what session %s has left: %w", former, err)
	}
	return nil
}
