package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// DefaultPrefix is the default prefix of all keys.
const DefaultPrefix = "/weir/v1/"

// Config configures the access to etcd. The defaults are DefaultPrefix, no TLS and no user.
type Config struct {
	Endpoints []string // URLs: http, https or unix; or HOST:PORT
	// Prefix is the prefix of all keys, to separate users of an etcd and to restrict their rights. A
	// missing trailing slash is added.
	Prefix   string
	TLS      *tls.Config // for https
	User     string
	Password string
	// Dial connects to the address of an endpoint; nil: the system's dialer.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Gone is closed when etcd will never answer again: Close then does not wait for it. It may be nil.
	Gone <-chan struct{}
	// Failed is closed when etcd has failed for good: the lease is then lost at once. It may be nil.
	Failed <-chan struct{}
	// Wait is the time limit for the first answer; 0: 5 s.
	Wait time.Duration
	// Waiting is called with a message after 2 s without an answer. It may be nil.
	Waiting func(text string)
}

// Check validates the configuration, without connecting to etcd.
func (c Config) Check() error {
	_, err := c.root()
	switch {
	case err != nil:
		return err
	case len(c.Endpoints) == 0:
		return errors.New("no endpoint of etcd is given")
	case (c.User == "") != (c.Password == ""):
		return errors.New("etcd: a user needs a password, and a password needs a user")
	}
	return nil
}

// root is the prefix with a trailing slash, or DefaultPrefix.
func (c Config) root() (string, error) {
	switch p := c.Prefix; {
	case p == "":
		return DefaultPrefix, nil
	case len(p) > 200 || strings.ContainsRune(p, 0) || strings.Trim(p, "/") == "":
		return "", fmt.Errorf("prefix %q: must have 1 to 200 characters that are not all slashes", p)
	case strings.HasSuffix(p, "/"):
		return p, nil
	default:
		return p + "/", nil
	}
}

const (
	// connectTime is the time limit for a connection attempt, and the default of Config.Wait.
	connectTime = 5 * time.Second
	// notice is the delay before Config.Waiting is called.
	notice = 2 * time.Second
	// reconnectPause is the longest pause between connection attempts; gRPC's grows to two minutes, longer
	// than a lease.
	reconnectPause = time.Second
)

// connBuffer is the read buffer of a connection, in bytes: small, as there may be a thousand connections.
const connBuffer = 8 << 10

// failFast makes requests without a connection fail at once with the reason, instead of a later timeout.
func failFast(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker,
	options ...grpc.CallOption) error {
	return next(ctx, method, request, reply, cc, append(options, grpc.WaitForReady(false))...)
}

func (c Config) connect(ctx context.Context) (*clientv3.Client, error) {
	pauses := backoff.DefaultConfig
	pauses.BaseDelay, pauses.MaxDelay = reconnectPause/10, reconnectPause
	options := []grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: connectTime}),
		grpc.WithChainUnaryInterceptor(failFast),
		grpc.WithReadBufferSize(connBuffer),
	}
	if c.Dial != nil {
		options = append(options, grpc.WithContextDialer(c.Dial))
	}
	var client *clientv3.Client
	err := retry(ctx, func(context.Context) (err error) {
		client, err = clientv3.New(clientv3.Config{
			Endpoints: c.Endpoints, TLS: c.TLS, Username: c.User, Password: c.Password, DialOptions: options,
			MaxUnaryRetries: 1, // retry keeps the reason
			Logger:          zap.NewNop(), DialTimeout: connectTime, DialKeepAliveTime: 10 * time.Second,
			DialKeepAliveTimeout: 3 * time.Second,
		})
		return err
	})
	return client, err
}
