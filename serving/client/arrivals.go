package client

import (
	"context"
	"net"
	"time"

	"weir/serving/arrival"
)

// dialer makes connections that keep stamps.
func dialer(limit time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: limit}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return arrival.Wrap(conn), nil
	}
}

// arrivals tells on the client's clock when what a connection brought last came to this host.
type arrivals struct {
	c    *Client
	conn *arrival.Conn // nil: the moment of the read
	last int64
}

// arrivals are those of a connection, none of them before a time.
func (c *Client) arrivals(conn net.Conn, after int64) *arrivals {
	stamped, _ := arrival.Of(conn)
	return &arrivals{c: c, conn: stamped, last: after}
}

// now is the arrival of the last byte that was read: not before the one told last, nor after this moment.
func (a *arrivals) now() int64 {
	now := time.Now()
	at := now.Sub(a.c.origin)
	if a.conn != nil {
		at -= a.conn.Age(now)
	}
	a.last = max(a.last, at.Nanoseconds())
	return a.last
}
