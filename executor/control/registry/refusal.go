package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// refusalTime is the time limit for the test handshake.
const refusalTime = 2 * time.Second

// refusal makes a test handshake with each endpoint and returns the TLS alert about this client's
// certificate, if any. In TLS 1.3 the alert comes after the client's handshake: gRPC, which writes at
// once, often gets a broken pipe instead.
func (c Config) refusal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refusalTime)
	defer cancel()
	for _, endpoint := range c.Endpoints {
		u, err := url.Parse(endpoint)
		if err != nil || u.Scheme != "https" || c.TLS == nil {
			continue
		}
		if err := c.greet(ctx, u); err != nil {
			return fmt.Errorf("%s: %w", u.Host, err)
		}
	}
	return nil
}

func (c Config) greet(ctx context.Context, u *url.URL) error {
	dial := c.Dial
	if dial == nil {
		dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	raw, err := dial(ctx, u.Host)
	if err != nil {
		return nil // no refusal
	}
	defer raw.Close()
	config := c.TLS.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	conn := tls.Client(raw, config)
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	err = conn.HandshakeContext(ctx)
	if err == nil {
		_, err = conn.Read(make([]byte, 1)) // a server that accepts the client sends HTTP/2 settings
	}
	var alert *net.OpError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &alert) && alert.Op == "remote error":
		return c.refused(err)
	case errors.As(err, &unverified):
		return err
	}
	return nil
}

// refused explains an alert: older servers send only "bad certificate" to clients without one.
func (c Config) refused(err error) error {
	switch {
	case !strings.Contains(err.Error(), "certificate"):
		return err
	case len(c.TLS.Certificates) == 0:
		return fmt.Errorf("it requires a client certificate, and none was given: %w", err)
	}
	return fmt.Errorf("it refuses the client certificate: %w", err)
}
