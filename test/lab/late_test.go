package lab

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// trip is how long the quickest of some questions to the host is on its way, there and back.
func trip(t *testing.T, h *Host) time.Duration {
	t.Helper()
	quickest := time.Hour
	for range 8 {
		begun := time.Now()
		c, err := net.DialTimeout("tcp", h.Address+":9", 3*time.Second)
		if err == nil {
			c.Close()
			t.Fatal("somebody listens")
		}
		if took := time.Since(begun); took < quickest {
			quickest = took
		}
	}
	return quickest
}

func TestALateCable(t *testing.T) {
	l := New(t, "one", "two")
	one, two := l.Host("one"), l.Host("two")
	for _, d := range []struct{ to, from time.Duration }{
		{20 * time.Millisecond, 20 * time.Millisecond}, {5 * time.Millisecond, 0}, {0, 40 * time.Millisecond},
	} {
		two.Late(d.to, d.from)
		if got := trip(t, two); got < d.to+d.from || got > d.to+d.from+time.Second {
			t.Errorf("%v there and %v back take %v", d.to, d.from, got)
		}
	}
	if !eventually(func() bool { return trip(t, one) < 4*time.Millisecond }) {
		t.Errorf("another host is late too: %v", trip(t, one))
	}
	two.Late(0, 0)
	if !eventually(func() bool { return trip(t, two) < 4*time.Millisecond }) {
		t.Errorf("what is no longer late takes %v", trip(t, two))
	}
}

// TestALateCableCarriesEverything: bursts that a network card would cut up arrive whole, in
// their order, both ways.
func TestALateCableCarriesEverything(t *testing.T) {
	l := New(t, "one")
	one := l.Host("one")
	one.Late(3*time.Millisecond, 7*time.Millisecond)
	sent := make([]byte, 32<<20)
	rand.Read(sent)
	l.Write("sent", 0o644, string(sent))
	listener, err := net.Listen("tcp", net.JoinHostPort(l.Address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer := one.Command("bash", "-c", "exec 3<>/dev/tcp/"+l.Address+"/"+port+"; cat "+filepath.Join(l.Dir, "sent")+
		" >&3 & cat <&3 >"+filepath.Join(l.Dir, "got")+"; wait")
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		c.Write(sent) // what comes of it is looked at below
		c.(*net.TCPConn).CloseWrite()
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("what the host sent arrives otherwise (%v)", err)
	}
	if err := peer.Wait(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(l.Dir, "got")); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("what the host was sent arrives otherwise (%d bytes, %v)", len(got), err)
	}
}

// TestALateCableIsCutAndPluggedIn: power, cuts and losses are of a late host as of any other.
func TestALateCableIsCutAndPluggedIn(t *testing.T) {
	l := New(t, "one", "two")
	one, two := l.Host("one"), l.Host("two")
	const late = 10 * time.Millisecond
	two.Late(late, late)
	for _, how := range []Cut{Silent, Loud} {
		two.Cut(how)
		if pings(one, two.Address) || pings(two, one.Address) {
			t.Errorf("cut %d: they still reach each other", how)
		}
		two.Heal()
		if !eventually(func() bool { return pings(one, two.Address) && pings(two, one.Address) }) {
			t.Errorf("cut %d does not heal", how)
		}
		if got := trip(t, two); got < 2*late {
			t.Errorf("cut %d: it is no longer late: %v", how, got)
		}
	}
	two.Lose(100)
	if pings(one, two.Address) {
		t.Error("a late host that loses all it sends answers")
	}
	two.Lose(0)
	if !eventually(func() bool { return pings(one, two.Address) }) {
		t.Error("the loss does not end")
	}
	two.PowerOff()
	if pings(one, two.Address) {
		t.Error("a host that is off answers")
	}
	two.PowerOn()
	// its card has a new address, which it announces with its first request
	if !eventually(func() bool { return pings(two, one.Address) && pings(two, l.Address) }) {
		t.Error("a host that was off is not there")
	}
	if !eventually(func() bool { return trip(t, two) < 2*late }) {
		t.Errorf("a host that was off is still late: %v", trip(t, two))
	}
	two.Late(late, late)
	if got := trip(t, two); got < 2*late {
		t.Errorf("after power was off it cannot be late: %v", got)
	}
}
