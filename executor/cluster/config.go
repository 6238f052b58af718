package cluster

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

// DefaultPrefix is what all keys begin with where nobody says otherwise.
const DefaultPrefix = "/weir/v1/"

// Config says where etcd is and who asks. What it does not say is as in DefaultPrefix,
// without encryption and without a user.
type Config struct {
	Endpoints []string // URLs: http, https or unix; or HOST:PORT
	// Prefix is what all keys begin with, so that those who share an etcd can be kept apart
	// by it, and a user's rights be restricted to it. It ends in a slash, or is given one.
	Prefix   string
	TLS      *tls.Config // for https
	User     string
	Password string
	// Dial makes the connections, if they are not to be the system's; the address is that
	// of an endpoint.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Gone is closed when Dial will never lead anywhere again; nil: nobody knows. Then
	// nobody waits for etcd when leaving it.
	Gone <-chan struct{}
	// Failed is closed when etcd is known to have failed for good: all of it is lost at once.
	Failed <-chan struct{}
	// Wait is how long the first answer may take; 0: 5 s, since an address that is wrong
	// should show soon. Waiting is told, in words, when it takes 2 s; nil: nobody is.
	Wait    time.Duration
	Waiting func(text string)
}

// Check says what is wrong with it that shows without asking etcd.
func (c Config) Check() error {
	_, err := c.root()
	switch {
	case err != nil:
		return err
	case len(c.Endpoints) == 0:
		return errors.New("no endpoint of etcd is given")
	case (c.User == "") != (c.Password == ""):
		return errors.New("a user of etcd needs a password, and a password a user")
	}
	return nil
}

// root is the prefix as keys have it.
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
	// connectTime bounds an attempt to connect, and the first answer where nobody says otherwise.
	connectTime = 5 * time.Second
	// notice is after how long somebody is told that it is waited for.
	notice = 2 * time.Second
	// reconnectPause is the longest between attempts to reach a member that is away; gRPC's
	// own grows to two minutes, in which a lease runs out.
	reconnectPause = time.Second
)

// connBuffer is what a connection reads at a time, in bytes: little is said on one, and of
// an etcd within this process there may be one for each of a thousand agents.
const connBuffer = 8 << 10

// failFast makes requests fail while there is no connection, with the reason. The client
// would wait for one, and say at the end of the time that the time is over.
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
			MaxUnaryRetries: 1, // retry does it, and does not lose why
			Logger:          zap.NewNop(), DialTimeout: connectTime, DialKeepAliveTime: 10 * time.Second,
			DialKeepAliveTimeout: 3 * time.Second,
		})
		return err
	})
	return client, err
}
