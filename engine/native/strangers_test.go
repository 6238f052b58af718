package native

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
)

// listeners returns the local addresses, in the kernel's form, at which this process listens.
func listeners(t *testing.T) map[string]bool {
	t.Helper()
	own := map[string]bool{}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", f.Name())) // it may be closed by now
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	at := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil {
			continue // a kernel without IPv6
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && own[f[9]] {
				at[f[1]] = true
			}
		}
	}
	return at
}

// onLoopback returns whether an address in the kernel's form is 127.x.x.x or ::1.
func onLoopback(t *testing.T, at string) bool {
	t.Helper()
	address, _, _ := strings.Cut(at, ":")
	b, err := hex.DecodeString(address)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 4 { // words of the host's byte order
		binary.BigEndian.PutUint32(b[i:], binary.NativeEndian.Uint32(b[i:]))
	}
	return net.IP(b).IsLoopback()
}

// Ranks of one host listen at no address that other hosts can reach, whatever the fabric.
func TestRanksOfOneHostListenOnLoopback(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			before := listeners(t)
			_, ranks := openConnected(t, fabric, []string{"here", "here"}, options(8))
			for at := range listeners(t) {
				if !before[at] && !onLoopback(t, at) {
					t.Errorf("a rank listens at %s", at)
				}
			}
			closeAllRanks(t, ranks)
		})
	}
}

// newPort returns the one TCP port at which this process listens and did not before.
func newPort(t *testing.T, before map[string]bool) int {
	t.Helper()
	var ports []int
	for at := range listeners(t) {
		_, port, _ := strings.Cut(at, ":")
		n, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		if !before[at] {
			ports = append(ports, int(n))
		}
	}
	if len(ports) != 1 {
		t.Fatalf("this process listens at the new ports %v, want one", ports)
	}
	return ports[0]
}

// closeAllRanks closes the ranks of a launch, each of which waits for the others.
func closeAllRanks(t *testing.T, ranks []*rank) {
	t.Helper()
	ended := make(chan error)
	for _, r := range ranks {
		go func() { ended <- r.Close() }()
	}
	for range ranks {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// However many foreign connections a rank gets, silent or with other data than its peers send, the launch
// connects before any of the silent ones would have timed out.
func TestStrangersDelayNoRank(t *testing.T) {
	l := engine.Launch{ID: "test", Fabric: "tcp", Ranks: 3, Nodes: []string{"a", "a", "a"}, Seed: 42}
	l.Cases = append(l.Cases, caseOf("a", options(8), patience, patience))
	ranks, addresses := make([]*rank, 3), make([][]byte, 3)
	var before map[string]bool
	for i := range ranks {
		var err error
		before = listeners(t)
		if ranks[i], err = open(l, engine.Identity{Rank: i}, control(t)); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = ranks[i].Address(); err != nil {
			t.Fatal(err)
		}
	}
	last := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: newPort(t, before)}
	for i := range 300 {
		conn, err := net.Dial("tcp", last.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%3 == 0 { // of another launch
			if _, err := conn.Write(make([]byte, 16)); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun, connected := time.Now(), make(chan error)
	for _, r := range ranks {
		go func() { connected <- r.Connect(addresses) }()
	}
	for range ranks {
		if err := <-connected; err != nil {
			t.Error(err)
		}
	}
	// read one after the other, the 200 silent ones alone would take 2 s each
	if d := time.Since(begun); d > 100*time.Second {
		t.Errorf("it took %v", d)
	}
	closeAllRanks(t, ranks)
}
