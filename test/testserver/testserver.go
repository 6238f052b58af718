// Package testserver is an OpenAI-compatible endpoint for tests. It does what a script says, and
// keeps the instant of each write.
package testserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/workload/serving/arrival"
)

// Server is an endpoint with scripted answers.
type Server struct {
	*httptest.Server
	InFlight, MostInFlight atomic.Int64

	mu       sync.Mutex
	requests []*Answer
}

// Answer is one while it is made.
type Answer struct {
	Body map[string]any // of the request
	Path string
	At   time.Time // when the request had come to the host
	Sent []Write   // of each event with a token

	gone <-chan struct{} // the client is
	w    http.ResponseWriter
	chat bool
	out  *http.ResponseController
}

// Write is a call that wrote: the bytes left between its begin and its end.
type Write struct{ Begin, End time.Time }

// New starts a server that ends with the test.
func New(t testing.TB, script func(a *Answer)) *Server {
	t.Helper()
	s := Unstarted(script)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// Unstarted makes a server that is to be started with other protocols than HTTP/1.1.
func Unstarted(script func(a *Answer)) *Server {
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.InFlight.Add(1)
		defer s.InFlight.Add(-1)
		for most := s.MostInFlight.Load(); n > most && !s.MostInFlight.CompareAndSwap(most, n); {
			most = s.MostInFlight.Load()
		}
		a := &Answer{w: w, out: http.NewResponseController(w), Path: r.URL.Path, gone: r.Context().Done()}
		a.chat = a.Path == "/v1/chat/completions"
		content, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(content, &a.Body)
		a.At = time.Now()
		if conn, ok := r.Context().Value(connection{}).(*arrival.Conn); ok {
			a.At = a.At.Add(-conn.Age(a.At))
		}
		s.mu.Lock()
		s.requests = append(s.requests, a)
		s.mu.Unlock()
		script(a)
	}))
	s.Listener = stamping{s.Listener}
	s.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if stamped, ok := arrival.Of(conn); ok {
			ctx = context.WithValue(ctx, connection{}, stamped)
		}
		return ctx
	}
	return s
}

// connection is the key of a request's connection in its context.
type connection struct{}

// stamping is a listener of connections that keep time stamps.
type stamping struct{ net.Listener }

func (l stamping) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return arrival.Wrap(conn), nil
}

// Requests are those that have come, in their order.
func (s *Server) Requests() []*Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Answer{}, s.requests...)
}

// Head writes the head of an answer.
func (a *Answer) Head(status int, kind string) {
	a.w.Header().Set("Content-Type", kind)
	a.w.WriteHeader(status)
	_ = a.out.Flush()
}

// Header sets a field of the head, before it is written.
func (a *Answer) Header(name, value string) { a.w.Header().Set(name, value) }

// Bare gives the connection to a function, and closes it behind that: what is written is the whole answer.
func (a *Answer) Bare(write func(conn net.Conn)) {
	conn, _, err := a.out.Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	write(conn)
}

// Stream writes the head of a stream of events.
func (a *Answer) Stream() { a.Head(http.StatusOK, "text/event-stream") }

// Raw writes bytes at once.
func (a *Answer) Raw(text string) {
	_, _ = io.WriteString(a.w, text)
	_ = a.out.Flush()
}

// Event writes an event with these data.
func (a *Answer) Event(data string) { a.Raw("data: " + data + "\n\n") }

// Token writes an event with a piece of the answer.
func (a *Answer) Token(text string) {
	member := fmt.Sprintf(`"text":%q`, text)
	if a.chat {
		member = fmt.Sprintf(`"delta":{"content":%q}`, text)
	}
	begin := time.Now()
	a.Event(`{"choices":[{"index":0,` + member + `}]}`)
	a.Sent = append(a.Sent, Write{begin, time.Now()})
}

// Finish writes the finish reason, the usage and the end.
func (a *Answer) Finish(prompt, completion int) {
	a.Event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	a.Usage(prompt, completion)
	a.Event("[DONE]")
}

// Usage writes an event with the usage and no choice.
func (a *Answer) Usage(prompt, completion int) {
	a.Event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, completion))
}

// Abort breaks the connection.
func (a *Answer) Abort() { panic(http.ErrAbortHandler) }

// Steady answers with a number of tokens: the first after a time, the others a gap apart.
func (a *Answer) Steady(tokens int, first, gap time.Duration) {
	a.Stream()
	at := time.Now().Add(first)
	for i := range tokens {
		select {
		case <-a.gone:
			return
		case <-time.After(time.Until(at.Add(time.Duration(i) * gap))):
			a.Token("x")
		}
	}
	a.Finish(7, tokens)
}
