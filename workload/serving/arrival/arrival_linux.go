// Package arrival finds when data read from a TCP connection arrived at this host, by the kernel's timestamps
// (socket(7), SO_TIMESTAMPNS). Unlike the time of the read, they do not depend on a reader that waits for a processor.
package arrival

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that keeps the timestamp of its last read.
type Conn struct {
	net.Conn
	raw  syscall.RawConn
	read func(fd uintptr) bool // receive, kept to avoid an allocation
	// arrived is when the kernel received the last byte of the last read, in ns since 1970; 0: unknown.
	arrived atomic.Int64

	// State of the current read; there is at most one at a time.
	into    []byte
	n       int
	err     error
	control [64]byte
}

// Wrap returns a connection that keeps timestamps, or the given one if it is no TCP connection, or the kernel refuses.
func Wrap(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return conn
	}
	c := &Conn{Conn: conn, raw: raw}
	c.read = c.receive
	return c
}

// Of finds the Conn within a connection, if there is one.
func Of(conn net.Conn) (*Conn, bool) {
	if over, ok := conn.(*tls.Conn); ok {
		conn = over.NetConn()
	}
	c, ok := conn.(*Conn)
	return c, ok
}

// Age returns how long before a time the last byte arrived at this host; 0 if unknown, as it is if the host's clock,
// which makes the timestamp, was set since. A clock that was set twice in between may deceive: callers must bound the
// age by the order of events.
func (c *Conn) Age(now time.Time) time.Duration {
	stamp := c.arrived.Load()
	if stamp == 0 {
		return 0
	}
	return host.age(now.UnixNano(), now.Sub(epoch), stamp)
}

// Read reads as net.TCPConn does, and keeps the timestamp.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.into, c.n, c.err = b, 0, nil
	err := c.raw.Read(c.read)
	c.into = nil
	switch {
	case err != nil:
		return 0, err
	case c.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: c.err}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// receive reads once; false: there is no data yet.
func (c *Conn) receive(fd uintptr) (done bool) {
	part := unix.Iovec{Base: &c.into[0]}
	part.SetLen(len(c.into))
	message := unix.Msghdr{Iov: &part, Iovlen: 1, Control: &c.control[0], Controllen: uint64(len(c.control))}
	for {
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&message)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
			observe(fd)
			c.n = int(n)
			c.arrived.Store(stampOf(c.control[:message.Controllen]))
			return true
		case unix.EINTR:
			message.Controllen = uint64(len(c.control))
			continue
		case unix.EAGAIN:
			return false
		}
		c.err = os.NewSyscallError("recvmsg", errno)
		return true
	}
}

// stampOf returns the time in a control message of SO_TIMESTAMPNS, in ns since 1970; 0: there is none.
func stampOf(control []byte) int64 {
	if len(control) < unix.CmsgLen(int(unsafe.Sizeof(unix.Timespec{}))) {
		return 0
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return (*unix.Timespec)(unsafe.Pointer(&control[unix.CmsgLen(0)])).Nano()
}
