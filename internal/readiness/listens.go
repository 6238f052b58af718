package readiness

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// States and flags in the kernel's tables of sockets, proc(5).
const (
	tcpListen  = "0A"       // TCP_LISTEN of include/net/tcp_states.h
	unixAccept = "00010000" // __SO_ACCEPTCON of include/linux/net.h
)

// listens checks for a listening socket of the subject, in the network namespace of its process.
func listens(address string, s Subject) (func(context.Context) error, error) {
	find, err := sockets(address, s.PID)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error {
		found, err := find()
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return errors.New("nothing listens there")
		}
		return s.has(found)
	}, nil
}

// Listening returns the inodes of the sockets that listen at an address in the network namespace of
// this process; none if the address is invalid.
func Listening(address string) []string {
	find, err := sockets(address, 0)
	if err != nil {
		return nil // reported when it is waited for
	}
	found, _ := find()
	return found
}

// sockets returns a function that finds the inodes of sockets that listen in the network namespace
// of a process; 0: of this process. The address is a port, HOST:PORT with an IP address as host, or
// the path of a Unix socket.
func sockets(address string, pid int) (func() ([]string, error), error) {
	of := "self"
	if pid > 0 {
		of = strconv.Itoa(pid)
	}
	tables := filepath.Join("/proc", of, "net")
	if filepath.IsAbs(address) {
		return func() ([]string, error) { return onPath(filepath.Join(tables, "unix"), address) }, nil
	}
	want, err := endpoint(address)
	if err != nil {
		return nil, err
	}
	return func() (all []string, err error) {
		for _, table := range []string{"tcp", "tcp6"} {
			found, err := listening(filepath.Join(tables, table), want)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6 has no tcp6
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}, nil
}

// endpoint reads PORT or HOST:PORT. Without a host the address is the zero Addr, for any address.
func endpoint(text string) (netip.AddrPort, error) {
	if port, err := strconv.ParseUint(text, 10, 16); err == nil && port > 0 {
		return netip.AddrPortFrom(netip.Addr{}, uint16(port)), nil
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil || at.Port() == 0 {
		return at, fmt.Errorf("listens %q: write a port, ADDRESS:PORT with an IP address, or the path of a Unix socket",
			text)
	}
	return at, nil
}

// serves reports whether a socket that listens at have accepts connections to want.
func serves(have, want netip.AddrPort) bool {
	if have.Port() != want.Port() {
		return false
	}
	at := have.Addr().Unmap()
	return !want.Addr().IsValid() || at.IsUnspecified() || at == want.Addr().Unmap()
}

// listening returns the inodes of the listening sockets of /proc/net/tcp or tcp6 that serve an
// address.
func listening(table string, want netip.AddrPort) ([]string, error) {
	f, err := os.Open(table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	for lines.Scan() { // sl local_address rem_address st queues timer retrnsmt uid timeout inode
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != tcpListen {
			continue
		}
		at, err := kernelAddress(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		if serves(at, want) {
			all = append(all, fields[9])
		}
	}
	return all, lines.Err()
}

// kernelAddress reads ADDRESS:PORT of /proc/net/tcp: hexadecimal, the address as 32-bit words in
// the byte order of the host, which is little-endian on all supported processors.
func kernelAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	bytes, err := hex.DecodeString(host)
	number, wrong := strconv.ParseUint(port, 16, 16)
	if err = errors.Join(err, wrong); err != nil {
		return netip.AddrPort{}, err
	}
	for word := range slices.Chunk(bytes, 4) {
		slices.Reverse(word)
	}
	at, ok := netip.AddrFromSlice(bytes)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address", text)
	}
	return netip.AddrPortFrom(at, uint16(number)), nil
}

// onPath returns the inodes of Unix sockets that accept connections in /proc/net/unix.
func onPath(table, path string) (all []string, err error) {
	f, err := os.Open(table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() { // Num RefCount Protocol Flags Type St Inode Path
		fields := strings.SplitN(strings.Join(strings.Fields(lines.Text()), " "), " ", 8)
		if len(fields) == 8 && fields[3] == unixAccept && fields[7] == path {
			all = append(all, fields[6])
		}
	}
	return all, lines.Err()
}
