package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// ensemble is an etcd of several members, each of which can be stopped and started
// again, with a network to it that can be cut.
type ensemble struct {
	t       testing.TB
	dir     string
	change  func(*embed.Config)
	members []*embed.Etcd // nil: stopped
	clients []string
	peers   []string
	network network
}

// freePorts are addresses on the loopback that nobody listens on.
func freePorts(t testing.TB, n int) (addresses []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after all, or the next would get the same
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

func startEnsemble(t testing.TB, size int, change func(*embed.Config)) *ensemble {
	t.Helper()
	ports := freePorts(t, 2*size)
	e := &ensemble{t: t, dir: t.TempDir(), change: change, members: make([]*embed.Etcd, size), clients: ports[:size], peers: ports[size:]}
	t.Cleanup(func() {
		for i := range e.members {
			e.stop(i)
		}
	})
	e.startAll()
	return e
}

func (e *ensemble) startAll() {
	var wg sync.WaitGroup
	for i := range e.members {
		wg.Go(func() { e.start(i) })
	}
	wg.Wait()
	if e.t.Failed() {
		e.t.FailNow()
	}
}

func (e *ensemble) start(i int) {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = fmt.Sprintf("m%d", i), filepath.Join(e.dir, fmt.Sprintf("m%d", i))
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync, cfg.TickMs, cfg.ElectionMs = true, 50, 500
	client, peer := url.URL{Scheme: "http", Host: e.clients[i]}, url.URL{Scheme: "http", Host: e.peers[i]}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	var all []string
	for j, p := range e.peers {
		all = append(all, fmt.Sprintf("m%d=http://%s", j, p))
	}
	cfg.InitialCluster = strings.Join(all, ",")
	if e.change != nil {
		e.change(cfg)
	}
	m, err := embed.StartEtcd(cfg)
	if err != nil {
		e.t.Errorf("starting member %d: %v", i, err)
		return
	}
	e.members[i] = m
	select {
	case <-m.Server.ReadyNotify():
	case <-time.After(60 * time.Second):
		e.t.Errorf("member %d is not ready", i)
	}
}

func (e *ensemble) stop(i int) {
	if m := e.members[i]; m != nil {
		m.Close()
		e.members[i] = nil
	}
}

// leader is the member that leads.
func (e *ensemble) leader() int {
	for i, m := range e.members {
		if m != nil && m.Server.Leader() == m.Server.MemberID() {
			return i
		}
	}
	e.t.Fatal("nobody leads")
	return -1
}

// config is how to reach the members through the network that can be cut.
func (e *ensemble) config() Config {
	c := Config{Dial: e.network.dial}
	for _, address := range e.clients {
		c.Endpoints = append(c.Endpoints, "http://"+address)
	}
	return c
}

// network makes connections that can all be cut at once, without either end being told.
type network struct {
	mu sync.RWMutex // held for writing while it is cut
}

func (n *network) dial(ctx context.Context, address string) (net.Conn, error) {
	if !n.mu.TryRLock() {
		return nil, errors.New("no route to host")
	}
	defer n.mu.RUnlock()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &cable{Conn: conn, network: n}, nil
}

// cut stops all traffic for a while.
func (n *network) cut(d time.Duration) {
	n.mu.Lock()
	time.Sleep(d)
	n.mu.Unlock()
}

type cable struct {
	net.Conn
	network *network
}

func (c *cable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.network.mu.RLock()
	defer c.network.mu.RUnlock()
	return n, err
}

func (c *cable) Write(b []byte) (int, error) {
	c.network.mu.RLock()
	defer c.network.mu.RUnlock()
	return c.Conn.Write(b)
}
