package registry

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (d *Directory) register(ctx context.Context, key string, about []byte, gone func(about []byte) bool) (bool,
	error) {
	if fresh, err := d.putNew(ctx, key, about); err != nil || fresh {
		return fresh, err
	}
	var other *mvccpb.KeyValue
	err := d.try(ctx, func(ctx context.Context) error {
		got, err := d.etcd.Get(ctx, key)
		if err == nil && len(got.Kvs) > 0 {
			other = got.Kvs[0]
		}
		return err
	})
	if err != nil || other == nil || !gone(other.Value) { // if it has just left, the caller tries again
		return false, err
	}
	taken := false
	err = d.try(ctx, func(ctx context.Context) error {
		r, err := d.etcd.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=",
			other.ModRevision)).Then(d.opPut(key, about)).Commit()
		taken = err == nil && r.Succeeded
		return err
	})
	return taken, err
}

// DeleteSession deletes the keys, reservations and invitations of a former session, without waiting for
// its lease. Its coordinator must be dead.
func (s *Session) DeleteSession(ctx context.Context, former string) error {
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
		return fmt.Errorf("deleting the keys of former session %s: %w", former, err)
	}
	return nil
}
