package registry

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

// init reduces the space that etcd allocates: most sessions write some kilobytes, and the defaults are
// twice 64 MB on disk and 10 GiB of address space. Both grow on demand.
func init() {
	wal.SegmentSizeBytes = 256 << 10
	backend.InitialMmapSize = 16 << 20
}

// ServerBytes is the free space that a server needs in its directory; two ranks use 0.5 MB.
const ServerBytes = 4 << 20

// reservedDescriptors is the number of file descriptors that etcd reserves for itself.
const reservedDescriptors = 150

// Descriptors is the number of file descriptors of a process with the server and a number of its clients.
func Descriptors(clients int) int { return reservedDescriptors + 2*clients }

// Server is an etcd of one member inside this process.
type Server struct {
	etcd     *embed.Etcd
	endpoint string
	counter  counter
	fatal    *fatal
}

// StartServer starts an etcd with its data and its socket in dir. It prints nothing.
func StartServer(ctx context.Context, dir string) (*Server, error) {
	socket := filepath.Join(dir, "client")
	if len(socket) > maxSocketPath {
		return nil, fmt.Errorf("starting etcd: the path %s of a unix socket is longer than %d bytes", socket,
			maxSocketPath)
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
	cfg.TickMs, cfg.ElectionMs = 10, 100 // a single member: fast start, and leases of a second
	cfg.UnsafeNoFsync = true             // the data ends with the session
	// values may be megabytes; by default etcd keeps 10000 writes on disk, 5000 in memory, and all history
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 200, 1
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "10s"
	s := &Server{endpoint: client.String(), fatal: failed}
	cfg.GRPCAdditionalServerOptions = s.counter.options()
	if err := s.start(ctx, cfg); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", withRemedy(err))
	}
	return s, nil
}

// withRemedy adds a remedy to the error of a full file system.
func withRemedy(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("%w: free some space there, or set TMPDIR to another directory", err)
	}
	return err
}

func (s *Server) start(ctx context.Context, cfg *embed.Config) error {
	started := make(chan error, 1)
	go func() { // StartEtcd may end the goroutine
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

// Failure is the error that ended the server, nil while it runs.
func (s *Server) Failure() error {
	select {
	case <-s.fatal.happened:
		return fmt.Errorf("etcd: %w", withRemedy(s.fatal.err))
	default:
		return nil
	}
}

// Endpoint is the URL of the server.
func (s *Server) Endpoint() string { return s.endpoint }

// Config is the configuration for clients of the server.
func (s *Server) Config() Config {
	return Config{Endpoints: []string{s.endpoint}, Gone: s.fatal.happened, Failed: s.fatal.happened}
}

// Dial connects to the server.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", strings.TrimPrefix(s.endpoint, "unix://"))
}

// Requests are the numbers of requests so far by method (Put, Range, Txn, Watch, LeaseKeepAlive, …).
func (s *Server) Requests() map[string]int { return s.counter.sum() }

// Close stops the server. It does nothing after a failure, as stopping could then deadlock.
func (s *Server) Close() {
	if s.Failure() == nil {
		s.etcd.Close()
	}
}
