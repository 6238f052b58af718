package cluster

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// maxSocketPath is the longest path of a unix socket, without the closing 0.
const maxSocketPath = 107

// Most sessions write some kilobytes; etcd would set 64 MB aside for them, twice,
// which is memory where the temporary directory is.
func init() { wal.SegmentSizeBytes = 1 << 20 }

// Server is an etcd of one member inside this process.
type Server struct {
	etcd     *embed.Etcd
	endpoint string
	counter  counter
}

// StartServer starts an etcd that keeps everything in dir, its socket included,
// and writes nothing to the terminal.
func StartServer(ctx context.Context, dir string) (*Server, error) {
	socket := filepath.Join(dir, "client")
	if len(socket) > maxSocketPath {
		return nil, fmt.Errorf("starting etcd: %s is longer than the %d bytes that a unix socket's path may have", socket, maxSocketPath)
	}
	client := url.URL{Scheme: "unix", Path: socket}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 10, 100 // one member elects itself: a fast start, and leases of a second
	cfg.UnsafeNoFsync = true             // nothing in it survives the session anyway
	// launches may be megabytes; etcd would keep those of the last 10000 writes on the disk,
	// of the last 5000 in memory for members that lag behind, and all of them in its history
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 200, 1
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "10s"
	s := &Server{endpoint: client.String()}
	cfg.GRPCAdditionalServerOptions = s.counter.options()
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	s.etcd = e
	select {
	case <-e.Server.ReadyNotify():
		return s, nil
	case err = <-e.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.Close()
	return nil, fmt.Errorf("starting etcd: %w", err)
}

// Endpoint is where clients find the server.
func (s *Server) Endpoint() string { return s.endpoint }

// Config is how clients reach the server.
func (s *Server) Config() Config { return Config{Endpoints: []string{s.endpoint}} }

// Dial connects to the server, for whoever passes connections on.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", strings.TrimPrefix(s.endpoint, "unix://"))
}

// Requests are how many of each kind (Put, Range, Txn, Watch, LeaseKeepAlive, …) clients
// have sent so far: what sessions cost an etcd.
func (s *Server) Requests() map[string]int { return s.counter.sum() }

// Close stops the server.
func (s *Server) Close() { s.etcd.Close() }
