//go:build !linux

package arrival

import (
	"net"
	"time"
)

// Conn is never made: only Linux gives timestamps.
type Conn struct{ net.Conn }

// Wrap returns the given connection.
func Wrap(conn net.Conn) net.Conn { return conn }

// Of finds none.
func Of(net.Conn) (*Conn, bool) { return nil, false }

// Age is unknown.
func (*Conn) Age(time.Time) time.Duration { return 0 }
