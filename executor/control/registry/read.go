package registry

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Numbers of keys per request, so that an answer with values of the largest size has some megabytes.
const (
	pageKeys   = 16
	pageValues = 4    // of untrusted writers
	pageNames  = 1000 // without values
)

// get is the value of a key, nil if there is none.
func (d *client) get(ctx context.Context, key string) (value []byte, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		got, err := d.etcd.Get(ctx, key)
		if err == nil && len(got.Kvs) > 0 {
			value = got.Kvs[0].Value
		}
		return err
	})
	return value, err
}

func (d *client) count(ctx context.Context, prefix string) (n int, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		got, err := d.etcd.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil {
			n = int(got.Count)
		}
		return err
	})
	return n, err
}

// names are the keys below a prefix, without it.
func (d *client) names(ctx context.Context, prefix string) (names []string, err error) {
	all, _, err := d.list(ctx, prefix, pageNames, clientv3.WithKeysOnly())
	for _, kv := range all {
		names = append(names, strings.TrimPrefix(string(kv.Key), prefix))
	}
	return names, err
}

// list reads all keys below a prefix at one revision, page keys per request.
func (d *client) list(ctx context.Context, prefix string, page int64,
	options ...clientv3.OpOption) (all []*mvccpb.KeyValue, revision int64, err error) {
	revision, err = d.pages(ctx, prefix, page, func() { all = nil },
		func(some []*mvccpb.KeyValue) { all = append(all, some...) }, options...)
	if err != nil {
		return nil, 0, err
	}
	return all, revision, nil
}

// pages reads all keys below a prefix at one revision and passes each page to take. If etcd has compacted
// the revision meanwhile, it calls anew and starts again.
func (d *client) pages(ctx context.Context, prefix string, page int64, anew func(), take func([]*mvccpb.KeyValue),
	options ...clientv3.OpOption) (revision int64, err error) {
	end := clientv3.GetPrefixRangeEnd(prefix)
	for from := prefix; ; {
		var got *clientv3.GetResponse
		err := d.try(ctx, func(ctx context.Context) (err error) {
			got, err = d.etcd.Get(ctx, from, append(options, clientv3.WithRange(end), clientv3.WithLimit(page),
				clientv3.WithRev(revision))...)
			return err
		})
		if errors.Is(err, rpctypes.ErrCompacted) {
			if anew != nil {
				anew()
			}
			revision, from = 0, prefix
			continue
		}
		if err != nil {
			return 0, err
		}
		if revision == 0 {
			revision = got.Header.Revision
		}
		take(got.Kvs)
		if !got.More {
			return revision, nil
		}
		from = string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
	}
}
