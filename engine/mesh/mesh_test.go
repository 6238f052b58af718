package mesh

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// received is one call of OnMessage.
type received struct {
	from    int
	message []byte
	err     error
}

// meet connects the ranks on some nodes to each other.
func meet(t *testing.T, nodes ...string) (all []*Mesh, told []chan received) {
	t.Helper()
	addresses := make([][]byte, len(nodes))
	for i := range nodes {
		m, err := Listen(nodes, i)
		if err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = m.Address(i + 1000); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		all, told = append(all, m), append(told, make(chan received, 100))
	}
	failed := make(chan error)
	for i, m := range all {
		go func() {
			more, err := m.Connect(addresses, 10*time.Second, func(from int, message []byte, err error) {
				told[i] <- received{from, message, err}
			})
			for rank, text := range more {
				var n int
				if json.Unmarshal(text, &n) != nil || n != rank+1000 {
					err = errors.New("a rank's number is not known")
				}
			}
			failed <- err
		}()
	}
	for range all {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	return all, told
}

func TestMessagesAreCompleteAndInOrder(t *testing.T) {
	for _, nodes := range [][]string{{"a"}, {"a", "a", "a"}, {"a", "b", "a", "c"}} {
		all, told := meet(t, nodes...)
		long := bytes.Repeat([]byte("0123456789"), 30000)
		for i, m := range all {
			for _, message := range [][]byte{{}, {1}, long} {
				m.Broadcast(message)
				for j := range all {
					if j == i {
						continue
					}
					if h := <-told[j]; h.err != nil || h.from != i || !bytes.Equal(h.message, message) {
						t.Fatalf("%v: %d received of %d: %d bytes, %v", nodes, j, h.from, len(h.message), h.err)
					}
				}
			}
			if host := m.HostOf((i + 1) % len(all)); net.ParseIP(host) == nil || len(nodes) < 4 && host != "127.0.0.1" {
				t.Errorf("%v: rank %d is on %q", nodes, i+1, host)
			}
		}
	}
}

func TestLostRankIsReported(t *testing.T) {
	all, told := meet(t, "a", "a")
	all[1].Close()
	if h := <-told[0]; h.from != 1 || h.err == nil {
		t.Errorf("%+v", h)
	}
}

func TestLongMessageIsRejected(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, maxBytes+1)
	if _, err := readMessage(bytes.NewReader(head)); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := readMessage(bytes.NewReader([]byte{0, 0, 0, 2, 1})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// unanswered connects as rank 1 without the token: the connection is closed.
func unanswered(t *testing.T, m *Mesh) {
	t.Helper()
	conn, err := net.Dial("tcp", m.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(binary.BigEndian.AppendUint16(make([]byte, tokenBytes), 1)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a stranger was answered")
	}
}

// Another program that listens at the port of a rank, and repeats what it is sent, is not taken for the rank.
func TestAnEchoIsNoRank(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	m, err := Listen([]string{"a", "a"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.listener.Close()
	at := echo.Addr().(*net.TCPAddr).AddrPort()
	c := contact{Token: bytes.Repeat([]byte{7}, tokenBytes), Port: at.Port(), Hosts: []netip.Addr{at.Addr()}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*greetingTime)
	defer cancel()
	if conn, err := m.dial(ctx, c); err == nil {
		conn.Close()
		t.Error("it was taken for the rank")
	} else if !strings.Contains(err.Error(), "another program answers") {
		t.Error(err)
	}
}

// Ranks of one host do not listen on other addresses.
func TestRanksOfOneHostListenOnLoopback(t *testing.T) {
	for _, c := range []struct {
		nodes    []string
		loopback bool
	}{{[]string{"a", "a"}, true}, {[]string{"a", "b"}, false}} {
		m, err := Listen(c.nodes, 0)
		if err != nil {
			t.Fatal(err)
		}
		if at := m.listener.Addr().(*net.TCPAddr); at.IP.IsLoopback() != c.loopback {
			t.Errorf("a rank of %v listens at %s", c.nodes, at)
		}
		m.listener.Close()
	}
}

// A connection with a wrong token is closed, and the launch continues.
func TestWrongTokenIsRejected(t *testing.T) {
	nodes := []string{"a", "a"}
	m, err := Listen(nodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	address, err := m.Address(nil)
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error)
	go func() {
		_, err := m.Connect([][]byte{address, []byte("{}")}, 10*time.Second, func(int, []byte, error) {})
		connected <- err
	}()
	unanswered(t, m)
	other := &Mesh{nodes: nodes, self: 1}
	good, err := other.greet(t.Context(), m.listener.Addr().(*net.TCPAddr).AddrPort(), m.token)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

// Any number of silent connections delays no rank of the launch: ranks connect while all others are pending, and those
// are closed in the end.
func TestSilentConnectionsDelayNoRank(t *testing.T) {
	nodes := []string{"a", "a", "a"}
	m, err := Listen(nodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	address, err := m.Address(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := m.listener.Addr().(*net.TCPAddr).AddrPort()
	var strangers []net.Conn
	stranger := func() {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		strangers = append(strangers, conn)
	}
	for range maxPending / 2 {
		stranger()
	}
	connected := make(chan error)
	go func() {
		_, err := m.Connect([][]byte{address, []byte("{}"), []byte("{}")}, time.Minute, func(int, []byte, error) {})
		connected <- err
	}()
	for range maxPending { // more than the limit, and ranks among them
		stranger()
	}
	begun := time.Now()
	for self := range 2 {
		conn, err := (&Mesh{nodes: nodes, self: self + 1}).greet(t.Context(), at, m.token)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begun); d >= greetingTime { // silent connections would not have timed out
		t.Errorf("it took %v", d)
	}
	for _, conn := range strangers {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger was answered")
		}
		conn.Close()
	}
}
