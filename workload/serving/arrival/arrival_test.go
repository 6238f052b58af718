package arrival

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair is a connection within this process; its end here keeps timestamps.
func pair(t *testing.T) (here net.Conn, there *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); in.Close() })
	return Wrap(in), out.(*net.TCPConn)
}

// A late reader gets the arrival time, not the time of the read.
func TestLateReader(t *testing.T) {
	here, there := pair(t)
	c, ok := Of(here)
	if !ok {
		t.Fatal("the kernel refuses stamps")
	}
	const late = 100 * time.Millisecond
	buf := make([]byte, 16)
	// The first process of a host that enables timestamps may miss those of the first moments.
	for deadline := time.Now().Add(10 * time.Second); ; {
		begin := time.Now()
		if _, err := there.Write([]byte("token")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(late)
		n, err := c.Read(buf)
		now := time.Now()
		if err != nil || string(buf[:n]) != "token" {
			t.Fatalf("%q, %v", buf[:n], err)
		}
		age := c.Age(now)
		if age == 0 && now.Before(deadline) {
			continue
		}
		if age < late/2 || age > now.Sub(begin) {
			t.Errorf("written %v before, came %v before", now.Sub(begin), age)
		}
		return
	}
}

// Conn reads, ends and times out as the connection below does.
func TestReads(t *testing.T) {
	here, there := pair(t)
	if n, err := here.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing asked: %d, %v", n, err)
	}
	if err := here.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing came: %v", err)
	}
	if err := here.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := range 1000 {
			_, _ = there.Write([]byte{byte(i), byte(i >> 8)})
		}
		_ = there.CloseWrite()
	}()
	all, err := io.ReadAll(here)
	if err != nil || len(all) != 2000 {
		t.Fatalf("%d bytes, %v", len(all), err)
	}
	for i := range 1000 {
		if all[2*i] != byte(i) || all[2*i+1] != byte(i>>8) {
			t.Fatalf("pair %d is %v", i, all[2*i:2*i+2])
		}
	}
	_ = there.SetLinger(0)
	there.Close()
	if _, err := here.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was reset still reads")
	}
	here.Close()
	if _, err := here.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A connection other than TCP is returned unchanged.
func TestWrap(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if Wrap(a) != a {
		t.Error("a pipe is wrapped")
	}
	if _, ok := Of(a); ok {
		t.Error("a pipe has stamps")
	}
}
