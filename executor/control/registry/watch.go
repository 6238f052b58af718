package registry

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

// Limits of watched keys, as the writers are untrusted.
const (
	mostName   = 512      // bytes of a name below the prefix
	mostNames  = 100_000  // further names are ignored
	mostAnswer = 16 << 20 // bytes of a fragment of a watch response
)

// follower reports the invitations below a prefix: first the existing ones, then all changes, without a gap. It
// does not read ahead of apply.
type follower struct {
	prefix   string
	d        *client
	apply    func(Invitation)
	opened   *opened              // opened before the existing keys are read
	known    map[string]revisions // of existing keys
	revision int64                // up to which all changes were reported
}

// opened is a watch on a stream of its own: clientv3 would buffer responses and reassemble fragments.
type opened struct {
	stream pb.Watch_WatchClient
	end    context.CancelFunc
}

// revisions are the last reported revisions of a key.
type revisions struct{ created, modified int64 }

// begin reports the existing keys.
func (f *follower) begin(ctx context.Context) error {
	f.open(ctx)
	err := f.read(ctx)
	if err != nil && f.opened != nil {
		f.opened.end()
	}
	return err
}

// open opens a watch, if etcd answers. It precedes the reading, because etcd synchronises watches from a
// past revision only ten times a second.
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

// from opens a watch from a revision on (0: the present one), and waits for its creation.
func (f *follower) from(ctx context.Context, revision int64) (pb.Watch_WatchClient, error) {
	stream, err := pb.NewWatchClient(f.d.etcd.ActiveConnection()).Watch(clientv3.WithRequireLeader(ctx),
		grpc.MaxCallRecvMsgSize(mostAnswer))
	if err != nil {
		return nil, err
	}
	create := &pb.WatchCreateRequest{
		Key: []byte(f.prefix), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(f.prefix)), StartRevision: revision,
		Fragment: true,
	}
	// Recv returns the error of a failed Send
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

// name is the name of a key below the prefix; followed is false if it is too long, or if there are too many.
func (f *follower) name(key []byte) (name string, followed bool) {
	name = strings.TrimPrefix(string(key), f.prefix)
	_, known := f.known[name]
	return name, len(name) <= mostName && (known || len(f.known) < mostNames)
}

// read reports the differences between the existing keys and the known ones.
func (f *follower) read(ctx context.Context) error {
	there := map[string]bool{}
	revision, err := f.d.pages(ctx, f.prefix, pageValues, nil, func(page []*mvccpb.KeyValue) {
		for _, kv := range page {
			name, followed := f.name(kv.Key)
			if !followed {
				continue
			}
			there[name] = true
			old, now := f.known[name], revisions{kv.CreateRevision, kv.ModRevision}
			if old != (revisions{}) && old.created != now.created {
				f.apply(Invitation{Session: name, Gone: true})
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
			f.apply(Invitation{Session: name, Gone: true})
		}
	}
	f.revision = revision
	return nil
}

// put reports a value, unless it is too long.
func (f *follower) put(name string, kv *mvccpb.KeyValue) {
	if len(kv.Value) <= MostInvitation {
		f.apply(Invitation{Session: name, Body: kv.Value})
	}
}

// run reports changes until ctx or the client ends, or returns the error of the watch.
func (f *follower) run(ctx context.Context) error {
	ctx, end := f.d.while(ctx)
	defer end()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		before := f.revision
		err := f.watch(ctx)
		if errors.Is(err, rpctypes.ErrCompacted) { // the changes meanwhile are lost
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

// watch reports changes until the stream ends. The error is nil if another member should be tried.
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
	return broken(f.receive(w.stream))
}

// receive reports the changes of a stream, except those that read has reported.
func (f *follower) receive(stream pb.Watch_WatchClient) error {
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
				f.apply(Invitation{Session: name, Gone: true})
			default:
				f.known[name] = revisions{e.Kv.CreateRevision, e.Kv.ModRevision}
				f.put(name, e.Kv)
			}
		}
	}
}

// cancelled is the error of a watch that etcd has ended, else nil.
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

// broken is the permanent error of a watch; it is nil for a broken stream, which can be reopened.
func broken(err error) error {
	if code := status.Code(err); errors.Is(err, io.EOF) || code == codes.Internal || code == codes.Canceled {
		return nil
	}
	return rpctypes.Error(err)
}
