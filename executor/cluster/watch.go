package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// change is one key below a watched prefix, written or deleted.
type change struct {
	name     string // below the prefix
	value    []byte
	deleted  bool
	revision int64 // of the change
}

// Bounds of what is followed: whoever writes to etcd may write anything there.
const (
	mostValue  = 1536 << 10 // bytes of a value, as etcd has it where nobody says otherwise
	mostName   = 512        // bytes of a name below the prefix
	mostNames  = 100_000    // further ones are not told of
	mostAnswer = 16 << 20   // bytes of a piece of a watch's answer, which etcd cuts into pieces of a value's size
)

// followed is what is told of.
type followed struct {
	prefix string
	most   int   // bytes of a value: one that is longer is dropped as it comes
	page   int64 // keys that are read at a time
}

// follower tells of all keys below a prefix: those that are there, and then what
// becomes of them, without a gap between the two. While what was told is not taken, nothing
// more is read.
type follower struct {
	followed
	d        *door
	apply    func(change)
	opened   *opened         // before what is there was read
	known    map[string]told // keys that are there
	revision int64           // up to which all was told
}

// opened is a watch. It is a stream of its own: etcd's client would keep in memory what is not
// taken, and put together again what etcd has cut into pieces.
type opened struct {
	stream pb.Watch_WatchClient
	end    context.CancelFunc
}

// told is what was last told of a key.
type told struct{ created, modified int64 }

// follow tells what is there now. Then run tells of changes until ctx or the door ends;
// an error says that the watch broke before.
func (d *door) follow(ctx context.Context, what followed, apply func(change)) (run func(ctx context.Context) error,
	err error) {
	f := &follower{followed: what, d: d, apply: apply, known: map[string]told{}}
	f.open(ctx)
	if err := f.read(ctx); err != nil {
		if f.opened != nil {
			f.opened.end()
		}
		return nil, err
	}
	return f.run, nil
}

// open opens a watch, if etcd answers. It comes before the reading: a watch from a revision
// that is over waits for etcd to look back, which it does ten times a second.
func (f *follower) open(ctx context.Context) {
	life, end := context.WithCancel(f.d.ctx)
	defer context.AfterFunc(ctx, end)()
	defer time.AfterFunc(attemptTime, end).Stop()
	stream, err := f.from(life, 0)
	if err != nil {
		end()
		return // run tries again
	}
	f.opened = &opened{stream, end}
}

// from opens a watch of what comes from a revision on, 0 for the present one, and waits until
// it is there.
func (f *follower) from(ctx context.Context, revision int64) (pb.Watch_WatchClient, error) {
	stream, err := pb.NewWatchClient(f.d.client.ActiveConnection()).Watch(clientv3.WithRequireLeader(ctx),
		grpc.MaxCallRecvMsgSize(mostAnswer))
	if err != nil {
		return nil, err
	}
	create := &pb.WatchCreateRequest{
		Key: []byte(f.prefix), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(f.prefix)), StartRevision: revision,
		Fragment: true,
	}
	// what is wrong with a stream, receiving tells
	_ = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}})
	for {
		r, err := stream.Recv()
		if err == nil {
			err = cancelled(r)
		}
		if err != nil || r.Created {
			return stream, err
		}
	}
}

// name is that of a key below the prefix; it is not followed if it is too long, or one too many.
func (f *follower) name(key []byte) (name string, followed bool) {
	name = strings.TrimPrefix(string(key), f.prefix)
	_, known := f.known[name]
	return name, len(name) <= mostName && (known || len(f.known) < mostNames)
}

// read tells how what is there differs from what was told.
func (f *follower) read(ctx context.Context) error {
	there := map[string]bool{}
	revision, err := f.d.pages(ctx, f.prefix, f.page, nil, func(page []*mvccpb.KeyValue) {
		for _, kv := range page {
			name, followed := f.name(kv.Key)
			if !followed {
				continue
			}
			there[name] = true
			old, now := f.known[name], told{kv.CreateRevision, kv.ModRevision}
			if old != (told{}) && old.created != now.created {
				f.apply(change{name: name, deleted: true})
			}
			if f.known[name] = now; old != now {
				f.put(name, kv)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.prefix, err)
	}
	for name := range f.known {
		if !there[name] {
			delete(f.known, name)
			f.apply(change{name: name, deleted: true})
		}
	}
	f.revision = revision
	return nil
}

// put tells of a value, unless it is too long.
func (f *follower) put(name string, kv *mvccpb.KeyValue) {
	if len(kv.Value) <= f.most {
		f.apply(change{name: name, value: kv.Value, revision: kv.ModRevision})
	}
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
	w := f.opened
	f.opened = nil
	if w == nil {
		life, end := context.WithCancel(ctx)
		stream, err := f.from(life, f.revision+1)
		if err != nil {
			end()
			return broken(err)
		}
		w = &opened{stream, end}
	}
	defer w.end()
	defer context.AfterFunc(ctx, w.end)()
	return broken(f.tell(w.stream))
}

// tell tells of changes that were not read.
func (f *follower) tell(stream pb.Watch_WatchClient) error {
	read := f.revision
	for {
		r, err := stream.Recv()
		if err == nil {
			err = cancelled(r)
		}
		if err != nil {
			return err
		}
		for _, e := range r.Events {
			if e.Kv.ModRevision <= read {
				continue
			}
			f.revision = e.Kv.ModRevision
			name, followed := f.name(e.Kv.Key)
			switch {
			case !followed:
			case e.Type == mvccpb.DELETE:
				delete(f.known, name)
				f.apply(change{name: name, deleted: true, revision: e.Kv.ModRevision})
			default:
				f.known[name] = told{e.Kv.CreateRevision, e.Kv.ModRevision}
				f.put(name, e.Kv)
			}
		}
	}
}

// cancelled is why etcd has ended a watch, nil if it has not.
func cancelled(r *pb.WatchResponse) error {
	switch {
	case r.CompactRevision != 0:
		return rpctypes.ErrCompacted
	case !r.Canceled:
		return nil
	}
	for _, known := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrNoLeader} {
		if strings.HasSuffix(r.CancelReason, known.Error()) {
			return known
		}
	}
	return fmt.Errorf("etcd has ended the watch: %s", r.CancelReason)
}

// broken is the error of a watch that cannot go on; nil is that of one whose stream broke.
func broken(err error) error {
	if code := status.Code(err); errors.Is(err, io.EOF) || code == codes.Internal || code == codes.Canceled {
		return nil
	}
	return rpctypes.Error(err)
}
