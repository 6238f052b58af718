package client

import (
	"context"
	"net"
	"time"

	"github.com/weir-bench/weir/workload/serving/arrival"
)

// dialer makes connections that keep timestamps.
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

// arrivals returns when the last data of a connection arrived at this host, on the client's clock.
type arrivals struct {
	c    *Client
	conn *arrival.Conn // nil: use the time of the read
	last int64
}

// arrivals returns the arrivals of a connection, not before a given time.
func (c *Client) arrivals(conn net.Conn, after int64) *arrivals {
	stamped, _ := arrival.Of(conn)
	return &arrivals{c: c, conn: stamped, last: after}
}

// now returns the arrival of the last byte read: not before the previous result, nor after now.
func (a *arrivals) now() int64 {
	now := time.Now()
	at := now.Sub(a.c.origin)
	if a.conn != nil {
		at -= a.conn.Age(now)
	}
	a.last = max(a.last, at.Nanoseconds())
	return a.last
}
