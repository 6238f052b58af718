package client

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func request(i int) *load.Request {
	return &load.Request{Index: i, Phase: load.Measured, Due: load.Never, Body: []byte(`{"model":"m"}`)}
}

// send sends one request to a server with a script.
func send(t *testing.T, cfg Config, q *load.Request, script func(*testserver.Answer)) *load.Record {
	t.Helper()
	cfg.URL = testserver.New(t, script).URL
	return newClient(t, cfg).Send(t.Context(), q, q.Body)
}

func TestOutcomes(t *testing.T) {
	streaming := Config{Stream: true, Connect: time.Second}
	long := func(d time.Duration) func(*testserver.Answer) {
		return func(a *testserver.Answer) { a.Steady(100, 0, d) }
	}
	with := func(change func(*Config)) Config {
		c := streaming
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		cfg     Config
		change  func(*load.Request)
		script  func(*testserver.Answer)
		outcome load.Outcome
		status  int
		text    string
		events  int // at least
	}{
		"a stream": {cfg: streaming, script: func(a *testserver.Answer) { a.Steady(3, 0, 0) }, status: 200, events: 3},
		"chat": {
			cfg: with(func(c *Config) { c.Chat = true }), script: func(a *testserver.Answer) { a.Steady(3, 0, 0) },
			status: 200,
			events: 3,
		},
		"whole": {cfg: Config{}, script: func(a *testserver.Answer) {
			a.Head(200, "application/json")
			a.Raw(`{"choices":[{"text":"x"}]}`)
		}, status: 200},
		"too busy": {cfg: streaming, script: func(a *testserver.Answer) {
			a.Head(429, "text/plain")
			a.Raw("slow\x1b down")
		}, outcome: load.Status, status: 429, text: "429 Too Many Requests: slow down"},
		"overloaded": {cfg: streaming, script: func(a *testserver.Answer) {
			a.Head(503, "text/plain")
			a.Raw("later")
		}, outcome: load.Status, status: 503, text: "503 Service Unavailable: later"},
		"a long prompt": {
			cfg: streaming, script: func(a *testserver.Answer) { a.Steady(3, 0, 0) }, status: 200, events: 3,
			change: func(q *load.Request) {
				q.Body = fmt.Appendf(nil, `{"model":"m","prompt":%q}`, strings.Repeat("word ", 1<<15))
			},
		},
		"an error instead of a stream": {cfg: streaming, script: func(a *testserver.Answer) {
			a.Head(200, "application/json")
			a.Raw(`{"error":{"message":"no such model"}}`)
		}, outcome: load.Status, status: 200, text: "no such model"},
		"no stream": {cfg: streaming, script: func(a *testserver.Answer) {
			a.Head(200, "text/html")
			a.Raw("<html>")
		}, outcome: load.Malformed, status: 200, text: "a page, not a stream of events"},
		"broken off": {cfg: streaming, script: func(a *testserver.Answer) {
			a.Stream()
			a.Token("x")
			a.Abort()
		}, outcome: load.Truncated, status: 200, events: 1,
			text: "broke off: the connection was closed in the middle of it"},
		"no head": {
			cfg: streaming, script: func(a *testserver.Answer) { a.Abort() }, outcome: load.Truncated,
			text: "no answer came: the connection was closed",
		},
		"no first event": {
			cfg:    with(func(c *Config) { c.First = 50 * time.Millisecond }),
			script: func(a *testserver.Answer) { a.Stream(); time.Sleep(time.Second) }, outcome: load.Timeout,
			status: 200,
			text:   "nothing came within 50ms",
		},
		"no head in time": {
			cfg:    with(func(c *Config) { c.First = 50 * time.Millisecond }),
			script: func(*testserver.Answer) { time.Sleep(time.Second) }, outcome: load.Timeout,
			text: "nothing came within 50ms",
		},
		"silence": {
			cfg:     with(func(c *Config) { c.Idle = 50 * time.Millisecond }),
			script:  func(a *testserver.Answer) { a.Stream(); a.Token("x"); time.Sleep(time.Second) },
			outcome: load.Timeout,
			status:  200, text: "nothing more came within 50ms", events: 1,
		},
		"too long": {
			cfg: with(func(c *Config) { c.Total = 80 * time.Millisecond }), script: long(10 * time.Millisecond),
			outcome: load.Timeout, status: 200, text: "did not end within 80ms", events: 1,
		},
		"cancelled after a time": {
			cfg: streaming, change: func(q *load.Request) { q.CancelAfter = 80e6 },
			script:  long(10 * time.Millisecond),
			outcome: load.Cancelled, status: 200, events: 1,
		},
		"cancelled after events": {
			cfg: streaming, change: func(q *load.Request) { q.CancelEvents = 3 }, script: long(5 * time.Millisecond),
			outcome: load.Cancelled, status: 200, events: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := request(4)
			if c.change != nil {
				c.change(q)
			}
			begin := time.Now()
			rec := send(t, c.cfg, q, c.script)
			if rec.Outcome != c.outcome || rec.Status != c.status || !strings.Contains(rec.Error, c.text) ||
				len(rec.Events) < c.events || rec.Index != 4 || (rec.Error == "") != (c.text == "") {
				t.Fatalf("%+v", rec)
			}
			if took := time.Since(begin); took > 900*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			last := rec.Start
			// it may be answered before it is sent
			if rec.Sent != load.Never && (rec.Sent < rec.Connected || rec.Sent > rec.Done) {
				t.Errorf("sent at %d in %+v", rec.Sent, rec)
			}
			for _, at := range []int64{rec.Connected, rec.Headers, rec.First, rec.Last, rec.Done} {
				if at != load.Never && at < last {
					t.Errorf("%d comes before %d in %+v", at, last, rec)
				}
				last = max(last, at)
			}
		})
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	closed := l.Addr().String()
	l.Close()
	rec := newClient(t, Config{URL: "http://" + closed, Stream: true}).Send(t.Context(), request(0), nil)
	if rec.Outcome != load.Connect ||
		rec.Error != closed+": the connection was refused: nothing listens there" || rec.Connected != load.Never {
		t.Errorf("%+v", rec)
	}
	if rec := newClient(t, Config{URL: "http://no.such.host.invalid"}).Send(t.Context(), request(0),
		nil); rec.Outcome != load.Connect || !strings.Contains(rec.Error, "no.such.host.invalid: ") ||
		strings.Contains(rec.Error, "dial") {
		t.Errorf("%+v", rec)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // and speaks no HTTP
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1000))
			_, _ = conn.Write([]byte("SSH-2.0-x\r\n\r\n"))
			conn.Close()
		}
	}()
	if rec := newClient(t, Config{URL: "http://" + silent.Addr().String()}).Send(t.Context(), request(0),
		nil); rec.Outcome != load.Malformed ||
		rec.Error != `it speaks no HTTP: its answer begins with "SSH-2.0-x"` {
		t.Errorf("%+v", rec)
	}
}

// protocols are the ways to reach a server, with the client's settings for each.
func TestProtocols(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		for _, secure := range []bool{false, true} {
			var mu sync.Mutex
			var spoken []string
			s := testserver.Unstarted(func(a *testserver.Answer) { a.Steady(2, 0, 0) })
			inner := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				spoken = append(spoken, r.Proto)
				mu.Unlock()
				inner.ServeHTTP(w, r)
			})
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(true)
			s.Config.Protocols.SetHTTP2(true)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			cfg := Config{HTTP2: http2, Stream: true, Connect: time.Second}
			if secure {
				s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
				s.StartTLS()
				cfg.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
			} else {
				s.Start()
			}
			cfg.URL = s.URL
			c := newClient(t, cfg)
			for i, reused := range []bool{false, true} {
				rec := c.Send(t.Context(), request(i), nil)
				if rec.Outcome != load.OK || rec.Output != 2 || rec.Reused != reused {
					t.Errorf("%s, TLS %v: %+v", name, secure, rec)
				}
			}
			c.Close()
			if secure {
				stranger := newClient(t, Config{URL: s.URL, Stream: true})
				if rec := stranger.Send(t.Context(), request(0), nil); rec.Outcome != load.Connect {
					t.Errorf("a certificate of a stranger was taken: %+v", rec)
				}
			}
			s.Close()
			if len(spoken) != 2 || spoken[0] != name || spoken[1] != name {
				t.Errorf("%s, TLS %v: the server received %v", name, secure, spoken)
			}
		}
	}
}

// gather runs a load and returns its records.
func gather(ctx context.Context, c *Client, l Load) (all []*load.Record) {
	var mu sync.Mutex
	c.Run(ctx, l, func(r *load.Record) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	})
	return all
}

func conversations(n int, change func(i int, q *load.Request)) (all [][]*load.Request) {
	for i := range n {
		q := request(i)
		if change != nil {
			change(i, q)
		}
		all = append(all, []*load.Request{q})
	}
	return all
}

// A closed loop keeps exactly the requested number of requests in flight, and sends each once.
func TestClosedLoop(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(3, 20*time.Millisecond, time.Millisecond) })
	c := newClient(t, Config{URL: s.URL, Stream: true})
	all := gather(t.Context(), c, Load{Next: Each(conversations(100, nil)), Slots: 10})
	seen := map[int]bool{}
	for _, r := range all {
		if r.Outcome != load.OK || seen[r.Index] {
			t.Errorf("%+v", r)
		}
		seen[r.Index] = true
	}
	if most := s.MostInFlight.Load(); len(all) != 100 || most != 10 {
		t.Errorf("%d records, %d in flight", len(all), most)
	}
}

// An open loop sends by schedule, independent of the server; with slots requests wait for one, and none is lost.
func TestOpenLoop(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(1, 100*time.Millisecond, 0) })
	due := func(i int, q *load.Request) { q.Due = int64(i) * 5e6 }
	for _, slots := range []int{0, 2} {
		c := newClient(t, Config{URL: s.URL, Stream: true})
		all := gather(t.Context(), c, Load{Next: Each(conversations(20, due)), Slots: slots})
		if len(all) != 20 {
			t.Fatalf("%d slots: %d records", slots, len(all))
		}
		late := 0
		for _, r := range all {
			if r.Start < r.Due || r.Slot < r.Due {
				t.Errorf("%d slots: sent before it was due: %+v", slots, r)
			}
			if r.Start-r.Due > 400e6 {
				late++
			}
		}
		// of two slots the last of 20 has waited for 9 answers of 100 ms
		if waited := late > 0; waited != (slots == 2) {
			t.Errorf("%d slots: %d requests were late", slots, late)
		}
	}
}

func TestConversations(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(2, 0, 0) })
	c := newClient(t, Config{URL: s.URL, Stream: true, Chat: true})
	var received [][]string
	first, second := request(0), request(1)
	second.Turn, second.Think = 1, 30e6
	second.Follow = func(answers []string) []byte {
		received = append(received, answers)
		return []byte("{}")
	}
	all := gather(t.Context(), c, Load{Next: Each([][]*load.Request{{first, second}}), Slots: 1})
	if len(all) != 2 || all[1].Slot-all[0].Done < 30e6 || len(received) != 1 ||
		len(received[0]) != 1 || received[0][0] != "xx" {
		t.Errorf("%+v, received %v", all, received)
	}
}

// When a load ends, requests in flight have a time of grace; the records of those cut off are kept.
func TestALoadEnds(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(40, 0, 10*time.Millisecond) })
	c := newClient(t, Config{URL: s.URL, Stream: true})
	begin := time.Now()
	all := gather(t.Context(), c, Load{
		Next: Each(conversations(50, nil)), Slots: 2, Until: 100e6, Grace: 100 * time.Millisecond,
	})
	if took := time.Since(begin); len(all) != 2 || took > 700*time.Millisecond {
		t.Fatalf("%d records after %v", len(all), took)
	}
	for _, r := range all {
		if r.Outcome != load.Unfinished || len(r.Events) == 0 {
			t.Errorf("%+v", r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin = time.Now()
	again := gather(ctx, newClient(t, Config{URL: s.URL, Stream: true}),
		Load{Next: Each(conversations(50, nil)), Slots: 3})
	if took := time.Since(begin); took > 350*time.Millisecond || len(again) != 3 ||
		again[0].Outcome != load.Unfinished {
		t.Errorf("%d records after %v", len(again), took)
	}
}

// A conversation of a closed loop that waited for a slot until the load ended is not sent.
func TestNothingIsSentAfterTheEnd(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(1, 300*time.Millisecond, 0) })
	c := newClient(t, Config{URL: s.URL, Stream: true})
	all := gather(t.Context(), c, Load{
		Next: Each(conversations(50, nil)), Slots: 2, Until: c.Now() + 100e6, Grace: 10 * time.Second,
	})
	for _, r := range all {
		if r.Outcome != load.OK {
			t.Errorf("%+v", r)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d records", len(all))
	}
}

// A cancelled request is in flight until it is cancelled, and not until the last that came of it.
func TestACancelledRequestTakesItsTime(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(2, 0, time.Second) })
	c := newClient(t, Config{URL: s.URL, Stream: true})
	list := conversations(1, func(_ int, q *load.Request) { q.CancelAfter = 90e6 })
	r := gather(t.Context(), c, Load{Next: Each(list), Slots: 1})[0]
	if r.Outcome != load.Cancelled || r.Done-r.Start < 90e6 {
		t.Errorf("%v after %v ms", r.Outcome, (r.Done-r.Start)/1e6)
	}
}

func TestConcurrentStreams(t *testing.T) {
	const n = 500
	var all sync.WaitGroup
	all.Add(n)
	s := testserver.New(t, func(a *testserver.Answer) {
		a.Stream()
		a.Token("x")
		all.Done()
		all.Wait() // all are open
		a.Finish(1, 1)
	})
	c := newClient(t, Config{URL: s.URL, Stream: true})
	for _, r := range gather(t.Context(), c, Load{Next: Each(conversations(n, nil)), Slots: n}) {
		if r.Outcome != load.OK {
			t.Fatalf("%+v", r)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://a:8": "http://a:8/v1/completions", "http://a/": "http://a/v1/completions",
		"https://a/x/v1/": "https://a/x/v1/completions", "http://a/v1": "http://a/v1/completions", "a:8": "",
		"http://a/x/v1/completions": "http://a/x/v1/completions", "http://a?v=1": "http://a/v1/completions?v=1",
		"ftp://a": "",
		"http://": "",
	} {
		c, err := New(Config{URL: address})
		if (err != nil) != (want == "") || err == nil && c.url != want {
			t.Errorf("%s: %v, %v", address, c, err)
		}
	}
	if _, err := New(Config{URL: "https://a", CA: []byte("none")}); err == nil {
		t.Error("a file without certificates was taken")
	}
}
