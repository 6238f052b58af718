package cluster

import (
	"bytes"
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func (d *door) opPut(key string, value []byte) clientv3.Op {
	return clientv3.OpPut(key, string(value), clientv3.WithLease(d.lease))
}

func (d *door) put(ctx context.Context, key string, value []byte) error {
	return d.commit(ctx, []clientv3.Op{d.opPut(key, value)})
}

// putNew writes a key that nobody has written yet and says whether it did. What is
// there with this lease and this value it wrote itself, and did not hear of it.
func (d *door) putNew(ctx context.Context, key string, value []byte) (fresh bool, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		r, err := d.client.Txn(ctx).
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

// Limits of etcd on one transaction, with room to spare.
const (
	maxOps   = 100
	maxBytes = 1 << 20
)

// commit sends operations in as few requests as etcd's limits allow, in their order.
func (d *door) commit(ctx context.Context, ops []clientv3.Op) error {
	for len(ops) > 0 {
		n, size := 0, 0
		for n < len(ops) && n < maxOps && (n == 0 || size+len(ops[n].ValueBytes()) <= maxBytes) {
			size += len(ops[n].ValueBytes())
			n++
		}
		err := d.try(ctx, func(ctx context.Context) error {
			if n == 1 {
				_, err := d.client.Do(ctx, ops[0])
				return err
			}
			_, err := d.client.Txn(ctx).Then(ops[:n]...).Commit()
			return err
		})
		if err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}
