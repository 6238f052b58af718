package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// change is one key below a watched prefix, written or deleted.
type change struct {
	name     string // below the prefix
	value    []byte
	deleted  bool
	revision int64 // of the change
}

// follower tells of all keys below a prefix: those that are there, and then what
// becomes of them, without a gap between the two.
type follower struct {
	d        *door
	prefix   string
	apply    func(change)
	opened   *opened         // before what is there was read
	known    map[string]told // keys that are there
	revision int64           // up to which all was told
	attempts int
}

// opened is a watch from the present on.
type opened struct {
	changes clientv3.WatchChan
	end     context.CancelFunc
}

// told is what was last told of a key.
type told struct{ created, modified int64 }

// follow tells what is there now. Then run tells of changes until ctx or the door ends;
// an error says that the watch broke before.
func (d *door) follow(ctx context.Context, prefix string, apply func(change)) (run func(ctx context.Context) error,
	err error) {
	f := &follower{d: d, prefix: prefix, apply: apply, known: map[string]told{}}
	f.open(ctx)
	if err := f.read(ctx); err != nil {
		f.opened.end()
		return nil, err
	}
	return f.run, nil
}

// open opens a watch, if etcd answers. It comes before the reading: a watch from a revision
// that is over waits for etcd to look back, which it does ten times a second.
func (f *follower) open(ctx context.Context) {
	life, end := context.WithCancel(clientv3.WithRequireLeader(f.d.ctx))
	defer context.AfterFunc(ctx, end)()
	defer time.AfterFunc(attemptTime, end).Stop()
	f.opened = &opened{f.d.client.Watch(life, f.prefix, clientv3.WithPrefix()), end}
}

func (f *follower) name(key []byte) string { return strings.TrimPrefix(string(key), f.prefix) }

// read tells how what is there differs from what was told.
func (f *follower) read(ctx context.Context) error {
	all, revision, err := f.d.list(ctx, f.prefix, pageKeys)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.prefix, err)
	}
	there := map[string]told{}
	for _, kv := range all {
		there[f.name(kv.Key)] = told{kv.CreateRevision, kv.ModRevision}
	}
	for name, old := range f.known {
		if there[name].created != old.created {
			f.apply(change{name: name, deleted: true})
		}
	}
	for _, kv := range all {
		if name := f.name(kv.Key); f.known[name] != there[name] {
			f.apply(change{name: name, value: kv.Value, revision: kv.ModRevision})
		}
	}
	f.known, f.revision = there, revision
	return nil
}

func (f *follower) run(ctx context.Context) error {
	ctx, end := f.d.while(ctx)
	defer end()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		before := f.revision
		err := f.watch(ctx)
		if errors.Is(err, rpctypes.ErrCompacted) { // etcd has forgotten what came meanwhile
			err = f.read(ctx)
		}
		switch cause := context.Cause(f.d.ctx); {
		case cause != nil && !errors.Is(cause, errClosed):
			return fmt.Errorf("watching %s: %w", f.prefix, cause)
		case ctx.Err() != nil:
			return nil
		case err != nil && !transient(err):
			return fmt.Errorf("watching %s: %w", f.prefix, err)
		}
		if f.revision > before {
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// watch tells of changes for as long as etcd does. A member without a leader says so,
// and another is asked.
func (f *follower) watch(ctx context.Context) error {
	f.attempts++
	if w := f.opened; w != nil {
		f.opened = nil
		defer w.end()
		defer context.AfterFunc(ctx, w.end)()
		return f.tell(w.changes)
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	if f.attempts > 1 {
		// a stream of its own: the one that all watches share keeps the token with which it
		// was opened, and that may have run out
		ctx = metadata.AppendToOutgoingContext(ctx, "weir-attempt", strconv.Itoa(f.attempts))
	}
	return f.tell(f.d.client.Watch(ctx, f.prefix, clientv3.WithPrefix(), clientv3.WithRev(f.revision+1)))
}

// tell tells of changes that were not read.
func (f *follower) tell(changes clientv3.WatchChan) error {
	read := f.revision
	for r := range changes {
		for _, e := range r.Events {
			if e.Kv.ModRevision <= read {
				continue
			}
			name, deleted := f.name(e.Kv.Key), e.Type == clientv3.EventTypeDelete
			if deleted {
				delete(f.known, name)
			} else {
				f.known[name] = told{e.Kv.CreateRevision, e.Kv.ModRevision}
			}
			f.revision = e.Kv.ModRevision
			f.apply(change{name: name, value: e.Kv.Value, deleted: deleted, revision: e.Kv.ModRevision})
		}
		if err := r.Err(); err != nil {
			return cancelled(err)
		}
	}
	return nil
}

// cancelled is the error of a watch that etcd has ended, which comes as a text where it is
// about the token.
func cancelled(err error) error {
	for _, known := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision} {
		if strings.HasSuffix(err.Error(), known.Error()) {
			return known
		}
	}
	return err
}
