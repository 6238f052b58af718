// Package socketpair makes connected sockets between this process and a child.
package socketpair

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// New returns a stream between a connection of this process and a file for a child, to be closed after its
// start. Other children inherit neither.
func New() (ours *net.UnixConn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "child")
	file := os.NewFile(uintptr(fds[0]), "parent")
	defer file.Close() // FileConn duplicates it
	c, err := net.FileConn(file)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	return c.(*net.UnixConn), theirs, nil
}
