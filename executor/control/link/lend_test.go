package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// echo is an etcd that sends the node and launch of a connection, and then echoes its input.
func echo(_ context.Context, node, name string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		defer here.Close()
		_, _ = io.WriteString(here, node+"/"+name+":")
		_, _ = io.Copy(here, here)
	}()
	return there, nil
}

func TestStreamsToEtcd(t *testing.T) {
	s := serve(t, func(o *ServerOptions) { o.Lend = echo }, limit)
	l := dial(t, s.options(t, "n1"))
	for i := range maxStreams + 8 { // one after the other they are not too many
		conn, err := l.Lend(t.Context(), "launch")
		if err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		said, got := content(100, uint64(i)), make([]byte, 10+100)
		if _, err := conn.Write(said); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "n1/launch:"+string(said) {
			t.Fatalf("%x comes back as %x, %v", said, got, err)
		}
		conn.Close()
	}
	conn, err := l.Lend(t.Context(), "launch")
	if err != nil {
		t.Fatal(err)
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, conn); err == nil || n > int64(len("n1/launch:")) {
		t.Errorf("a stream outlives its link and says %d bytes", n)
	}
	if _, err := l.Lend(t.Context(), "launch"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
}

// endless is an etcd that sends more than its clients read.
type endless struct {
	noAddress
	said   atomic.Int64
	once   sync.Once
	closed chan struct{}
}

func (e *endless) Read(b []byte) (int, error)  { e.said.Add(int64(len(b))); return len(b), nil }
func (e *endless) Write(b []byte) (int, error) { <-e.closed; return 0, net.ErrClosed }
func (e *endless) Close() error                { e.once.Do(func() { close(e.closed) }); return nil }

// A stream to etcd that is not read holds up nothing else on its connection, and what waits for
// it is bounded.
func TestAStreamToEtcdThatIsNotRead(t *testing.T) {
	etcd := &endless{closed: make(chan struct{})}
	s := serve(t, func(o *ServerOptions) {
		o.Lend = func(context.Context, string, string) (net.Conn, error) { return etcd, nil }
	},
		limit)
	l := dial(t, s.options(t, "n1"))
	conn, err := l.Lend(t.Context(), "launch")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for etcd.said.Load() < window { // what the stream may have on its way
		time.Sleep(time.Millisecond)
	}
	for i := range 10 {
		m := Message{Head: []byte(fmt.Sprint("k", i)), Body: content(window, uint64(i))}
		if err := l.Send(m); err != nil {
			t.Fatal(err)
		}
		s.wait(t, "took n1 "+digest(m))
	}
	if said := etcd.said.Load(); said > window+1<<20 {
		t.Errorf("%d bytes are read for a stream that takes %d", said, window)
	}
}

func TestEtcdThatIsNotThere(t *testing.T) {
	// one after the other: a link that another test has open would be a leak of this one
	t.Run("none", func(t *testing.T) {
		s := serve(t, nil, limit)
		_, err := dial(t, s.options(t, "n1")).Lend(t.Context(), "launch")
		if err == nil || !strings.Contains(err.Error(), "has no etcd to lend") {
			t.Errorf("%v", err)
		}
	})
	t.Run("for no launch", func(t *testing.T) {
		s := serve(t, func(o *ServerOptions) { o.Lend = echo }, limit)
		l := dial(t, s.options(t, "n1"))
		for _, name := range []string{"", "a/b", "a\nb", strings.Repeat("a", maxName+1)} {
			_, err := l.Lend(t.Context(), name)
			if err == nil || !strings.Contains(err.Error(), "is not a valid name") {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
	t.Run("away", func(t *testing.T) {
		s := serve(t, func(o *ServerOptions) {
			o.Lend = func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("etcd at x: connection refused" + strings.Repeat("!", 2*maxAnswer))
			}
		}, limit)
		_, err := dial(t, s.options(t, "n1")).Lend(t.Context(), "launch")
		if err == nil || !strings.Contains(err.Error(), "etcd at x: connection refused!") {
			t.Errorf("%v", err)
		}
	})
}

// A client of etcd works through the link with a real server, and goes on after the
// connection broke.
func TestAnEtcdThroughTheLink(t *testing.T) {
	socket := startEtcd(t)
	s := serve(t, func(o *ServerOptions) {
		o.Lend = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}, limit)
	o := s.options(t, "n1")
	conns := make(chan net.Conn, 10)
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		conns <- conn
		return conn, err
	}
	l := dial(t, o)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://etcd.invalid:1"}, Context: t.Context(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return l.Lend(ctx, "launch")
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	watch := client.Watch(ctx, "k", clientv3.WithPrefix(), clientv3.WithRev(1))
	for i := range 10 {
		if i == 5 {
			(<-conns).Close()
		}
		want := strings.Repeat(fmt.Sprint(i), 200<<10)
		for { // if its connection breaks, a write may have happened or not: etcd's client leaves that to us
			if _, err = client.Put(ctx, fmt.Sprint("k", i), want); err == nil || ctx.Err() != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Get(ctx, fmt.Sprint("k", i))
		if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != want {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	seen := map[string]bool{}
	for len(seen) < 10 {
		r, ok := <-watch
		if !ok || r.Err() != nil {
			t.Fatalf("the watch ends: %v", r.Err())
		}
		for _, e := range r.Events {
			seen[string(e.Kv.Key)] = true
		}
	}
	if events := s.seen(); len(events) != 1 {
		t.Errorf("%q", events)
	}
}

// startEtcd starts an etcd of one member until the end of the test, and gives the path of its
// unix socket. The package of weir's own server imports this one.
func startEtcd(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "etcd")
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.TickMs, c.ElectionMs, c.UnsafeNoFsync = 10, 100, true // a fast start
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(limit):
		t.Fatal("etcd does not start")
	}
	warm, err := clientv3.New(clientv3.Config{Endpoints: []string{client.String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer warm.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := warm.Get(ctx, "k"); err != nil { // now all goroutines of etcd run: none looks like a leak
		t.Fatal(err)
	}
	return client.Path
}
