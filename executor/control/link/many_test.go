package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/test/phase"
)

// record keeps what is written to its connections.
type record struct {
	lock sync.Mutex
	said []byte
}

type recorded struct {
	net.Conn
	to *record
}

func (r recorded) Write(b []byte) (int, error) {
	r.to.lock.Lock()
	r.to.said = append(r.to.said, b...)
	r.to.lock.Unlock()
	return r.Conn.Write(b)
}

// text is what was written so far.
func (r *record) text() []byte {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.said)
}

// A peer without a certificate, and one that repeats all bytes of an agent, are nobody.
func TestNoCertificateAndNoReplay(t *testing.T) {
	s := serve(t, nil, brief)
	config, err := identity(t, s.authority, Agent, "n1").client()
	if err != nil {
		t.Fatal(err)
	}
	config.Certificates, config.NextProtos = nil, []string{linkProtocol}
	raw := plain(t, s)
	c := tls.Client(raw, config)
	_, err = io.ReadFull(c, make([]byte, 1))
	if err == nil || err.Error() != "remote error: tls: certificate required" {
		t.Errorf("without a certificate: %v", err)
	}
	dropped(t, raw)
	var said record
	o := s.options(t, "n1")
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		return recorded{conn, &said}, err
	}
	l := dial(t, o)
	if err := l.Send(Message{Head: []byte("result")}); err != nil {
		t.Fatal(err)
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(s.wait(t, "down n1"))
	again := plain(t, s)
	if _, err := again.Write(said.text()); err != nil {
		t.Fatal(err)
	}
	dropped(t, again)
	if got := s.seen(); !slices.Equal(got, before) {
		t.Errorf("after a replay: %q", got)
	}
}

// Ten thousand strangers at once, most of them silent, take little memory, are not let in, and do not delay an agent.
func TestTenThousandStrangers(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	strangers := 10_000
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if most := int(min(files.Cur, 1<<20)) - 1000; most < strangers {
		t.Logf("%d strangers only: ulimit -n is %d", most, files.Cur)
		strangers = most
	}
	s := serve(t, nil, brief)
	l := dial(t, s.options(t, "n1"))
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys
	}
	begin := memory()
	speaks := [][]byte{nil, {22, 3, 1, 1, 0, 1, 0}, []byte("GET / HTTP/1.1\r\n\r\n"), {22, 3, 1, 0xff, 0xff}}
	var all sync.WaitGroup
	todo := make(chan int)
	for range 512 {
		all.Go(func() {
			for i := range todo {
				conn, err := s.connect(t.Context())
				if err != nil {
					t.Errorf("stranger %d: %v", i, err)
					return
				}
				t.Cleanup(func() { conn.Close() })
				_, _ = conn.Write(speaks[i%len(speaks)])
			}
		})
	}
	go func() {
		defer close(todo)
		for i := range strangers {
			select {
			case todo <- i:
			case <-t.Context().Done():
				return
			}
		}
	}()
	came := make(chan struct{})
	go func() { all.Wait(); close(came) }()
	var slowest time.Duration
	sent := 0
	for waiting := true; waiting; sent++ {
		at := time.Now()
		if err := l.Send(Message{Head: []byte("result")}); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(at))
		select {
		case <-came:
			waiting = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	took := memory() - begin
	t.Logf("%d strangers: %d MB; the slowest of %d messages took %v", strangers, took/1e6, sent, slowest)
	if took > 200e6 {
		t.Errorf("they take %d MB", took/1e6)
	}
	dial(t, s.options(t, "n2"))
	for _, e := range s.wait(t, "up n2") {
		if e != "up n1 i1" && e != "up n2 i1" && !bytes.HasPrefix([]byte(e), []byte("took n1 result")) {
			t.Errorf("the coordinator hears %q", e)
		}
	}
}
