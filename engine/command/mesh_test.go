package command

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"weir/engine"
)

// meet connects the ranks on some nodes to each other.
func meet(t *testing.T, nodes ...string) []*mesh {
	t.Helper()
	all := make([]*mesh, len(nodes))
	addresses := make([][]byte, len(nodes))
	for i := range all {
		var err error
		if all[i], err = listen(nodes, i); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = all[i].address(map[string]int{nodes[i]: 1000 + i}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { all[i].close() })
	}
	failed := make(chan error)
	for _, m := range all {
		go func() {
			ports, err := m.connect(addresses, 10*time.Second)
			if err == nil && ports[nodes[0]] < 1000 {
				err = errors.New("a port is not known")
			}
			failed <- err
		}()
	}
	for range all {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestRanksHearOfEachOther(t *testing.T) {
	for _, nodes := range [][]string{{"a"}, {"a", "a", "a"}, {"a", "b", "a", "c"}} {
		all := meet(t, nodes...)
		for i, m := range all {
			m.tell(isReady)
			for j := range all {
				if err := all[j].wait(t.Context(), i, isReady); err != nil {
					t.Errorf("%v: %d of %d: %v", nodes, j, i, err)
				}
			}
			if host := m.hostOf((i + 1) % len(all)); net.ParseIP(host) == nil || len(nodes) < 4 && host != "127.0.0.1" {
				t.Errorf("%v: rank %d is on %q", nodes, i+1, host)
			}
		}
		late, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("too late"))
		if err := all[0].wait(late, len(all)-1, hasEnded); len(all) > 1 && (err == nil || err.Error() != "too late") {
			t.Errorf("%v: %v", nodes, err)
		}
		cancel()
	}
}

// A rank that has gone is missed by those who wait for more of it, and by nobody else.
func TestARankThatHasGone(t *testing.T) {
	all := meet(t, "a", "a")
	all[1].tell(isReady)
	all[1].close()
	if err := all[0].wait(t.Context(), 1, isReady); err != nil {
		t.Error(err)
	}
	err := all[0].wait(t.Context(), 1, hasEnded)
	if e, ok := errors.AsType[*engine.Error](err); !ok || e.Peer != 1 || !strings.Contains(e.Text, "has gone") {
		t.Errorf("%v", err)
	}
}

// Whoever does not know the token of a rank is hung up on, and the launch goes on.
func TestAStrangerIsNotTaken(t *testing.T) {
	nodes := []string{"a", "a"}
	m, err := listen(nodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	address, err := m.address(nil)
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error)
	go func() {
		_, err := m.connect([][]byte{address, []byte("{}")}, 10*time.Second)
		connected <- err
	}()
	conn, err := net.Dial("tcp", m.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(make([]byte, tokenBytes+2)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a stranger was answered")
	}
	other := &mesh{nodes: nodes, self: 1}
	good, err := other.greet(t.Context(), m.listener.Addr().(*net.TCPAddr).AddrPort(), m.token)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

func TestHeldPortsAreNobodyElses(t *testing.T) {
	r, err := reserve([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	numbers := r.numbers()
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: numbers["a"]}
	if numbers["a"] == numbers["b"] {
		t.Error("two names have one port")
	}
	if l, err := net.ListenTCP("tcp", at); err == nil {
		l.Close()
		t.Error("a held port was free")
	}
	if conn, err := net.DialTCP("tcp", nil, at); err == nil {
		conn.Close()
		t.Error("a held port is listened on")
	}
	r.release()
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestGroupOf(t *testing.T) {
	if pid, group := groupOf("12 (a) b (c) S 3 45 6 7"); pid != 12 || group != 45 {
		t.Errorf("process %d of group %d", pid, group)
	}
	if pid, group := groupOf("12 (a"); pid != 0 || group != 0 {
		t.Errorf("process %d of group %d", pid, group)
	}
}
