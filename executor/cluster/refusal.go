package cluster

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

// refusalTime bounds how long a server may take to say what it thinks of a certificate.
const refusalTime = 2 * time.Second

// refusal is what a server says to this client's certificate, or to its lack of one; nil
// if it says nothing. In TLS 1.3 it says so only after the client's handshake is over, so
// that whoever writes at once, as gRPC does, often sees a broken pipe and no reason.
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
		return nil // which is no refusal
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
		_, err = conn.Read(make([]byte, 1)) // a server that takes the client begins to speak
	}
	var said *net.OpError
	var doubted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &said) && said.Op == "remote error":
		return c.accused(err)
	case errors.As(err, &doubted):
		return err
	}
	return nil
}

// accused says whose certificate it is that a server finds fault with: of a client without
// one, and of one that it does not know, older servers say no more than "bad certificate".
func (c Config) accused(err error) error {
	switch {
	case !strings.Contains(err.Error(), "certificate"):
		return err
	case len(c.TLS.Certificates) == 0:
		return fmt.Errorf("it wants a certificate, and was shown none: %w", err)
	}
	return fmt.Errorf("it refuses the certificate that it was shown: %w", err)
}
