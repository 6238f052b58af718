// Package arrival tells when what is read from a TCP connection came to this host: by the kernel's
// stamp, which does not move with a reader that waits for a processor (socket(7), SO_TIMESTAMPNS).
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

// Conn is a TCP connection that keeps the stamp of what it read last.
type Conn struct {
	net.Conn
	raw  syscall.RawConn
	read func(fd uintptr) bool // receive
	// arrived is when the kernel received the last byte of the last read, in ns since 1970;
	// 0: it did not say.
	arrived atomic.Int64

	// Of the read that is going on: at most one at a time.
	into    []byte
	n       int
	err     error
	control [64]byte
}

// Wrap gives a connection that keeps stamps, or the one given where there are none: it is no TCP
// connection, or the kernel refuses.
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

// Of is the stamped connection below a connection, if it has one.
func Of(conn net.Conn) (*Conn, bool) {
	if over, ok := conn.(*tls.Conn); ok {
		conn = over.NetConn()
	}
	c, ok := conn.(*Conn)
	return c, ok
}

// Age is how long before a moment the last byte that was read came to this host; 0 where the
// kernel did not say. The stamp is on the clock of the host, which may be set: a caller bounds it
// by what is known of the order of events.
func (c *Conn) Age(now time.Time) time.Duration {
	stamp := c.arrived.Load()
	if stamp == 0 {
		return 0
	}
	return time.Duration(max(0, now.UnixNano()-stamp))
}

// Read reads as net.TCPConn does, and keeps the stamp.
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

// receive reads once; false: there is nothing yet.
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

// stampOf is the time in a control message of SO_TIMESTAMPNS, in ns since 1970; 0: there is none.
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
