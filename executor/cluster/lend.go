package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Lent is a part of the session's etcd for programs that weir did not write: a proxy on this
// host whose keys are all below a prefix of the session, so that they end with it.
type Lent struct {
	URL    string // for clients of etcd
	Lookup string // path of a Unix socket: GET /KEY answers 200 if there is the key, else 404
	client *clientv3.Client
	serve  *grpc.Server
	lookup *http.Server
	end    context.CancelFunc // ends what the proxy asks of etcd by itself
	ended  []<-chan struct{}  // closed: a part of the proxy asks nothing more
	wg     sync.WaitGroup
}

// lookupTime bounds the answer whether there is a key.
const lookupTime = 2 * time.Second

// Lend serves the keys below a name of the session at a port of this host that only this
// host reaches. Those who lend the same name, on whichever hosts, see the same keys.
func Lend(ctx context.Context, c Config, session, name, socket string) (*Lent, error) {
	if err := errors.Join(checkSession(session), checkName("launch", name)); err != nil {
		return nil, err
	}
	root, err := c.root()
	if err != nil {
		return nil, err
	}
	client, err := c.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("lending etcd: %w", err)
	}
	prefix := root + session + "/lent/" + name + "/"
	client.KV = namespace.NewKV(client.KV, prefix)
	client.Watcher = namespace.NewWatcher(client.Watcher, prefix)
	client.Lease = namespace.NewLease(client.Lease, prefix)
	l := &Lent{Lookup: socket, client: client, serve: grpc.NewServer()}
	if err := l.listen(); err != nil {
		l.Close()
		return nil, fmt.Errorf("lending etcd: %w", err)
	}
	return l, nil
}

func (l *Lent) listen() error {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	socket, err := net.Listen("unix", l.Lookup)
	if err != nil {
		at.Close()
		return err
	}
	l.URL = "http://" + at.Addr().String()
	var ctx context.Context
	ctx, l.end = context.WithCancel(l.client.Ctx())
	quiet := zap.NewNop()
	kv, kvEnded := grpcproxy.NewKvProxy(l.client)
	watch, watchEnded := grpcproxy.NewWatchProxy(ctx, quiet, l.client)
	lease, leaseEnded := grpcproxy.NewLeaseProxy(ctx, l.client)
	members, membersEnded := grpcproxy.NewClusterProxy(quiet, l.client, l.URL, "")
	l.ended = []<-chan struct{}{kvEnded, watchEnded, leaseEnded, membersEnded}
	pb.RegisterKVServer(l.serve, kv)
	pb.RegisterWatchServer(l.serve, watch)
	pb.RegisterLeaseServer(l.serve, lease)
	pb.RegisterClusterServer(l.serve, members)
	l.lookup = &http.Server{Handler: http.HandlerFunc(l.look), ReadHeaderTimeout: lookupTime}
	l.wg.Go(func() { _ = l.serve.Serve(at) }) // until Close
	l.wg.Go(func() { _ = l.lookup.Serve(socket) })
	return nil
}

func (l *Lent) look(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), lookupTime)
	defer cancel()
	found, err := l.client.Get(ctx, strings.TrimPrefix(r.URL.Path, "/"), clientv3.WithCountOnly())
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	case found.Count == 0:
		http.NotFound(w, r)
	}
}

// Close ends the proxy. The keys end with the session. The client is closed last: a watch that
// the proxy opens while the client closes is a data race of etcd's client.
func (l *Lent) Close() {
	if l == nil {
		return
	}
	l.serve.Stop()
	if l.lookup != nil {
		l.lookup.Close()
	}
	if l.end != nil {
		l.end()
	}
	for _, ended := range l.ended {
		<-ended
	}
	l.client.Close()
	l.wg.Wait()
}
