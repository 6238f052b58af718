package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/soheilhy/cmux"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Lent is a proxy on a loopback port to a part of the session's etcd, for programs of a scenario. All its
// keys are below a prefix of the session. It also answers HTTP GET /KEY: 200 if the key exists, else 404.
type Lent struct {
	address string
	mux     cmux.CMux
	client  *clientv3.Client
	serve   *grpc.Server
	lookup  *http.Server
	end     context.CancelFunc // ends the proxy's own requests
	ended   []<-chan struct{}  // closed when a part of the proxy has ended
	wg      sync.WaitGroup
}

// lookupTime is the time limit for GET /KEY.
const lookupTime = 2 * time.Second

// Lend serves the keys below a name of the session.
func Lend(ctx context.Context, c Config, session, name string) (*Lent, error) {
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
	prefix := root + session + "/" + lentDir + name + "/"
	client.KV = namespace.NewKV(client.KV, prefix)
	client.Watcher = namespace.NewWatcher(client.Watcher, prefix)
	client.Lease = namespace.NewLease(client.Lease, prefix)
	l := &Lent{client: client, serve: grpc.NewServer()}
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
	l.address = at.Addr().String()
	l.mux = cmux.New(at)
	l.mux.SetReadTimeout(lookupTime) // for detecting the protocol
	lookups := l.mux.Match(cmux.HTTP1Fast())
	calls := l.mux.Match(cmux.Any())
	var ctx context.Context
	ctx, l.end = context.WithCancel(l.client.Ctx())
	quiet := zap.NewNop()
	kv, kvEnded := grpcproxy.NewKvProxy(l.client)
	watch, watchEnded := grpcproxy.NewWatchProxy(ctx, quiet, l.client)
	lease, leaseEnded := grpcproxy.NewLeaseProxy(ctx, l.client)
	members, membersEnded := grpcproxy.NewClusterProxy(quiet, l.client, "http://"+l.address, "")
	l.ended = []<-chan struct{}{kvEnded, watchEnded, leaseEnded, membersEnded}
	pb.RegisterKVServer(l.serve, kv)
	pb.RegisterWatchServer(l.serve, watch)
	pb.RegisterLeaseServer(l.serve, lease)
	pb.RegisterClusterServer(l.serve, members)
	l.lookup = &http.Server{Handler: http.HandlerFunc(l.look), ReadHeaderTimeout: lookupTime}
	l.wg.Go(func() { _ = l.serve.Serve(calls) }) // until Close
	l.wg.Go(func() { _ = l.lookup.Serve(lookups) })
	l.wg.Go(func() { _ = l.mux.Serve() })
	return nil
}

// Dial connects to the proxy.
func (l *Lent) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", l.address)
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

// Close ends the proxy. Its client is closed last: opening a watch during its Close is a data race in clientv3.
func (l *Lent) Close() {
	if l == nil {
		return
	}
	if l.mux != nil {
		l.mux.Close()
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
