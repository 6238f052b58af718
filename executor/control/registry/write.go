package registry

import (
	"bytes"
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func (d *client) opPut(key string, value []byte) clientv3.Op {
	return clientv3.OpPut(key, string(value), clientv3.WithLease(d.lease))
}

func (d *client) put(ctx context.Context, key string, value []byte) error {
	return d.commit(ctx, []clientv3.Op{d.opPut(key, value)})
}

// putBeside writes a key if another one exists.
func (d *client) putBeside(ctx context.Context, key string, value []byte, other string) error {
	return d.try(ctx, func(ctx context.Context) error {
		_, err := d.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(other), ">", 0)).
			Then(d.opPut(key, value)).Commit()
		return err
	})
}

// putNew writes a key that does not exist yet, and reports whether it did. A key with this lease and value
// was written by an earlier attempt.
func (d *client) putNew(ctx context.Context, key string, value []byte) (fresh bool, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		r, err := d.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(d.opPut(key, value)).Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return err
		}
		fresh = r.Succeeded
		if !fresh {
			for _, kv := range r.Responses[0].GetResponseRange().Kvs {
				fresh = kv.Lease == int64(d.lease) && bytes.Equal(kv.Value, value)
			}
		}
		return nil
	})
	return fresh, err
}

// Limits of one transaction, below those of etcd.
const (
	maxOps   = 100
	maxBytes = 1 << 20
)

// commit sends operations in order, in as few requests as possible.
func (d *client) commit(ctx context.Context, ops []clientv3.Op) error {
	for len(ops) > 0 {
		n, size := 0, 0
		for n < len(ops) && n < maxOps && (n == 0 || size+len(ops[n].ValueBytes()) <= maxBytes) {
			size += len(ops[n].ValueBytes())
			n++
		}
		err := d.try(ctx, func(ctx context.Context) error {
			if n == 1 {
				_, err := d.etcd.Do(ctx, ops[0])
				return err
			}
			_, err := d.etcd.Txn(ctx).Then(ops[:n]...).Commit()
			return err
		})
		if err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}
