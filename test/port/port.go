// Package port gives tests TCP ports for programs that are told theirs.
package port

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Linux gives connections local ports from 32768 on unless it is told otherwise (ip_local_port_range in ip(7)).
// A port from there may belong to somebody's connection by the time that a program listens on it.
const (
	first = 10000
	last  = 32767
)

// Free are n ports of an address of this host on which nobody listens.
func Free(t testing.TB, address string, n int) []string {
	t.Helper()
	var ports []string
	for tries := 0; len(ports) < n; tries++ {
		port := strconv.Itoa(first + rand.IntN(last-first+1))
		l, err := net.Listen("tcp", net.JoinHostPort(address, port))
		if err != nil {
			if tries >= 100*n {
				t.Fatal(err)
			}
			continue
		}
		defer l.Close() // together, so that none is given twice
		ports = append(ports, port)
	}
	return ports
}
