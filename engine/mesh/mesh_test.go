package mesh

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// heard is one call of Hear.
type heard struct {
	from    int
	message []byte
	err     error
}

// meet connects the ranks on some nodes to each other.
func meet(t *testing.T, nodes ...string) (all []*Mesh, told []chan heard) {
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
		all, told = append(all, m), append(told, make(chan heard, 100))
	}
	failed := make(chan error)
	for i, m := range all {
		go func() {
			more, err := m.Connect(addresses, 10*time.Second, func(from int, message []byte, err error) {
				told[i] <- heard{from, message, err}
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

func TestMessagesComeWholeAndInOrder(t *testing.T) {
	for _, nodes := range [][]string{{"a"}, {"a", "a", "a"}, {"a", "b", "a", "c"}} {
		all, told := meet(t, nodes...)
		long := bytes.Repeat([]byte("0123456789"), 30000)
		for i, m := range all {
			for _, message := range [][]byte{{}, {1}, long} {
				m.Tell(message)
				for j := range all {
					if j == i {
						continue
					}
					if h := <-told[j]; h.err != nil || h.from != i || !bytes.Equal(h.message, message) {
						t.Fatalf("%v: %d heard of %d: %d bytes, %v", nodes, j, h.from, len(h.message), h.err)
					}
				}
			}
			if host := m.HostOf((i + 1) % len(all)); net.ParseIP(host) == nil || len(nodes) < 4 && host != "127.0.0.1" {
				t.Errorf("%v: rank %d is on %q", nodes, i+1, host)
			}
		}
	}
}

func TestARankThatHasGoneIsHeardOf(t *testing.T) {
	all, told := meet(t, "a", "a")
	all[1].Close()
	if h := <-told[0]; h.from != 1 || h.err == nil {
		t.Errorf("%+v", h)
	}
}

func TestAMessageThatIsTooLongIsRefused(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, mostBytes+1)
	if _, err := readMessage(bytes.NewReader(head)); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := readMessage(bytes.NewReader([]byte{0, 0, 0, 2, 1})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// unanswered has a stranger say that it is rank 1, without the token of a rank: it is hung up on.
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

// Ranks of one host hear nobody who is on another.
func TestRanksOfOneHostAreReachedFromItAlone(t *testing.T) {
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

// Whoever does not know the token of a rank is hung up on, and the launch goes on.
func TestAStrangerIsNotTaken(t *testing.T) {
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

// However many connect and say nothing, they delay nobody: those that are ranks of the launch are
// taken while none of the others has been given up. They are hung up on in the end.
func TestSilentStrangersDelayNobody(t *testing.T) {
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
	for range mostGuests / 2 {
		stranger()
	}
	connected := make(chan error)
	go func() {
		_, err := m.Connect([][]byte{address, []byte("{}"), []byte("{}")}, time.Minute, func(int, []byte, error) {})
		connected <- err
	}()
	for range mostGuests { // more than there is room for, among them
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
	if d := time.Since(begun); d >= greetingTime { // the silent ones would not have been given up
		t.Errorf("it took %v", d)
	}
	for _, conn := range strangers {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger was answered")
		}
		conn.Close()
	}
}
