package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/test/port"
)

// TestMain makes the test binary a member of an etcd, too: one that can be killed and
// stopped as users' can.
func TestMain(m *testing.M) {
	if text := os.Getenv(memberEnv); text != "" {
		serveMember(text)
	}
	goleak.VerifyTestMain(m)
}

// memberEnv has the member that a process of this binary is to be.
const memberEnv = "WEIR_TEST_ETCD_MEMBER"

// member is what a member is told.
type member struct {
	Name, Dir, Client, Peer, Cluster string
	Certificate, Key, CA             string // files; none: without encryption
	TokenSeconds                     uint   // lifetime of an auth token; 0: etcd's default
}

func serveMember(text string) {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir, cfg.InitialCluster = m.Name, m.Dir, m.Cluster
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync, cfg.TickMs, cfg.ElectionMs = true, 50, 500
	client, peer := url.URL{Scheme: "http", Host: m.Client}, url.URL{Scheme: "http", Host: m.Peer}
	if m.CA != "" {
		client.Scheme = "https"
		cfg.ClientTLSInfo.CertFile, cfg.ClientTLSInfo.KeyFile = m.Certificate, m.Key
		cfg.ClientTLSInfo.TrustedCAFile, cfg.ClientTLSInfo.ClientCertAuth = m.CA, true
	}
	if m.TokenSeconds > 0 {
		cfg.AuthTokenTTL, cfg.BcryptCost = m.TokenSeconds, 4
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		panic(err)
	}
	panic(<-e.Err())
}

// ensemble is an etcd of several processes, with a network to it that can be cut.
type ensemble struct {
	t       testing.TB
	members []member
	running []*exec.Cmd // nil: not
	network network
}

// startEnsemble starts an etcd of members with the options of like.
func startEnsemble(t testing.TB, size int, like member) *ensemble {
	t.Helper()
	ports := port.Free(t, "127.0.0.1", 2*size)
	e := &ensemble{t: t, running: make([]*exec.Cmd, size)}
	dir := t.TempDir()
	var all []string
	for i := range size {
		m := like
		m.Name, m.Client, m.Peer = fmt.Sprintf("m%d", i), "127.0.0.1:"+ports[i], "127.0.0.1:"+ports[size+i]
		m.Dir = filepath.Join(dir, m.Name)
		e.members, all = append(e.members, m), append(all, m.Name+"=http://"+m.Peer)
	}
	t.Cleanup(func() {
		for i := range e.running {
			e.kill(i)
		}
	})
	for i := range e.members {
		e.members[i].Cluster = strings.Join(all, ",")
		e.start(i)
	}
	return e
}

func (e *ensemble) start(i int) {
	e.t.Helper()
	text, err := json.Marshal(e.members[i])
	if err != nil {
		e.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberEnv+"="+string(text))
	cmd.Stderr = e.t.Output()
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.running[i] = cmd
}

// kill ends a member as a failing host does.
func (e *ensemble) kill(i int) {
	if cmd := e.running[i]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		e.running[i] = nil
	}
}

// leader is the member that leads.
func (e *ensemble) leader(client *clientv3.Client) int {
	e.t.Helper()
	for i, m := range e.members {
		s, err := client.Status(e.t.Context(), "http://"+m.Client)
		if err == nil && s.Leader == s.Header.MemberId {
			return i
		}
	}
	e.t.Fatal("nobody leads")
	return -1
}

// config is how to reach the members through the network that can be cut. They may not
// have a leader yet.
func (e *ensemble) config() Config {
	c := Config{Dial: e.network.dial}
	for _, m := range e.members {
		c.Endpoints = append(c.Endpoints, "http://"+m.Client)
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
