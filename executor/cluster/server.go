package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path of a unix socket, without the closing 0.
const maxSocketPath = 107

// Most sessions write some kilobytes. etcd would set 64 MB aside for them, twice, on the
// disk, and 10 GiB of address space. Both grow where a session writes more.
func init() {
	wal.SegmentSizeBytes = 256 << 10
	backend.InitialMmapSize = 16 << 20
}

// ServerBytes is the free space that a server needs in its directory. A session of two ranks
// takes 0.5 MB of them.
const ServerBytes = 4 << 20

// reservedDescriptors are those that etcd keeps from its clients.
const reservedDescriptors = 150

// Descriptors is how many file descriptors a process needs that has the server and so
// many of its clients, which hold both ends of their connections.
func Descriptors(clients int) int { return reservedDescriptors + 2*clients }

// Server is an etcd of one member inside this process.
type Server struct {
	etcd     *embed.Etcd
	endpoint string
	counter  counter
	fatal    *fatal
}

// StartServer starts an etcd that keeps everything in dir, its socket included,
// and writes nothing to the terminal.
func StartServer(ctx context.Context, dir string) (*Server, error) {
	socket := filepath.Join(dir, "client")
	if len(socket) > maxSocketPath {
		return nil, fmt.Errorf("starting etcd: %s is longer than the %d bytes that a unix socket's path may have",
			socket, maxSocketPath)
	}
	client := url.URL{Scheme: "unix", Path: socket}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	failed := newFatal()
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop().WithOptions(zap.WithFatalHook(failed),
		zap.WithPanicHook(failed)))
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 10, 100 // one member elects itself: a fast start, and leases of a second
	cfg.UnsafeNoFsync = true             // nothing in it survives the session anyway
	// launches may be megabytes; etcd would keep those of the last 10000 writes on the disk,
	// of the last 5000 in memory for members that lag behind, and all of them in its history
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 200, 1
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "10s"
	s := &Server{endpoint: client.String(), fatal: failed}
	cfg.GRPCAdditionalServerOptions = s.counter.options()
	if err := s.start(ctx, cfg); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", withRemedy(err))
	}
	return s, nil
}

// withRemedy says what to do about an error of etcd, where that is known.
func withRemedy(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("%w: free some space there, or name another directory by TMPDIR", err)
	}
	return err
}

func (s *Server) start(ctx context.Context, cfg *embed.Config) error {
	started := make(chan error, 1)
	go func() { // which ends where etcd ends it
		defer s.fatal.recovered()
		e, err := embed.StartEtcd(cfg)
		s.etcd = e
		started <- err
	}()
	select {
	case <-s.fatal.happened:
		return s.fatal.err
	case err := <-started:
		if err != nil {
			return err
		}
	}
	var err error
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err = <-s.etcd.Err():
	case <-s.fatal.happened:
		err = s.fatal.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.Close()
	return err
}

// Failure is why the server has come to an end by itself, nil while it has not.
func (s *Server) Failure() error {
	select {
	case <-s.fatal.happened:
		return fmt.Errorf("etcd: %w", withRemedy(s.fatal.err))
	default:
		return nil
	}
}

// Endpoint is where clients find the server.
func (s *Server) Endpoint() string { return s.endpoint }

// Config is how clients reach the server.
func (s *Server) Config() Config {
	return Config{Endpoints: []string{s.endpoint}, Gone: s.fatal.happened, Failed: s.fatal.happened}
}

// Dial connects to the server, for whoever passes connections on.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", strings.TrimPrefix(s.endpoint, "unix://"))
}

// Requests are how many of each kind (Put, Range, Txn, Watch, LeaseKeepAlive, …) clients
// have sent so far: what sessions cost an etcd.
func (s *Server) Requests() map[string]int { return s.counter.sum() }

// Close stops the server. One that has failed may hold what its end waits for, and is left
// to the end of the process.
func (s *Server) Close() {
	if s.Failure() == nil {
		s.etcd.Close()
	}
}
