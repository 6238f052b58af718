// Package client sends the requests of a load to an endpoint, and records their results.
package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/stream"
)

// Config are the settings for sending requests.
type Config struct {
	URL     string // of the server; a path before /v1 is kept
	Chat    bool   // chat completions; else completions
	Stream  bool   // answers are streams of events
	Choices int    // that requests ask for; 0: one
	Headers http.Header
	HTTP2   bool
	CA      []byte // further authorities in PEM
	// Proxy sends requests through the environment's proxy for the server, if there is one.
	Proxy bool
	// Bytes and Events limit an answer; 0: the defaults of package stream.
	Bytes  int64
	Events int
	// Connect limits the time to connect, First the time to the first event, Idle the time between two reads, Total the
	// whole request; 0: no limit.
	Connect, First, Idle, Total time.Duration
}

// Client sends requests. Its connections are kept until Close.
type Client struct {
	cfg       Config
	url       string
	host      string // with its port, if url has one
	proxy     proxy
	transport *http.Transport
	origin    time.Time
}

// readBytes is the buffer of a connection: enough for a burst of events, and small enough for ten thousand connections.
// The other limits bound the memory per connection that a server can cause.
const (
	readBytes  = 16 << 10
	maxHeaders = 256 << 10
	maxUnread  = 256 << 10 // of a stream of HTTP/2
)

// New makes a client; its clock starts at 0.
func New(cfg Config) (*Client, error) {
	at, err := url.Parse(cfg.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("%q is no http:// or https:// address of a server", cfg.URL)
	}
	path := "/v1/completions"
	if cfg.Chat {
		path = "/v1/chat/completions"
	}
	base := strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), path)
	at.Path = strings.TrimSuffix(base, "/v1") + path
	cfg.Bytes, cfg.Events = cmp.Or(cfg.Bytes, stream.MaxBytes), cmp.Or(cfg.Events, stream.MaxEvents)
	t := &http.Transport{
		DialContext:            dialer(cfg.Connect),
		TLSHandshakeTimeout:    cfg.Connect,
		DisableCompression:     true,
		MaxIdleConns:           0, // no limit
		MaxIdleConnsPerHost:    1 << 20,
		ReadBufferSize:         readBytes,
		MaxResponseHeaderBytes: maxHeaders,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: maxUnread},
		Protocols:              new(http.Protocols),
	}
	if cfg.HTTP2 {
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.Protocols.SetHTTP1(true)
	}
	if len(cfg.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(cfg.CA) {
			return nil, errors.New("tls_ca has no certificate in PEM")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	if cfg.HTTP2 { // that of Go 1.26 stands still for ever when a server makes the window of a stream overflow
		//lint:ignore SA1019 Transport.Protocols selects the implementation of the standard library
		if _, err := http2.ConfigureTransports(t); err != nil {
			return nil, err
		}
	}
	c := &Client{cfg: cfg, url: at.String(), host: at.Host, transport: t, origin: time.Now()}
	return c, c.throughProxy(at)
}

// Close closes all idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Now returns the time on the client's clock.
func (c *Client) Now() int64 { return time.Since(c.origin).Nanoseconds() }

// Begin resets the client's clock to 0.
func (c *Client) Begin() { c.origin = time.Now() }

// limit is why a request was cancelled.
type limit struct {
	outcome load.Outcome
	text    string
}

func (l *limit) Error() string { return l.text }

// ErrOver is the cause of cancelling the requests in flight when a load ends.
var ErrOver error = &limit{load.Unfinished, "the load was over"}

var errCancelled error = &limit{load.Cancelled, "cancelled on purpose"}

func overdue(format string, d time.Duration) error {
	return &limit{load.Timeout, fmt.Sprintf(format, d)}
}

// maxOfFailed limits the events kept of a failed request, which no metric uses.
const maxOfFailed = 1 << 10

// Send sends one request and waits for its answer.
func (c *Client) Send(ctx context.Context, q *load.Request, body []byte) *load.Record {
	rec := &load.Record{
		Index: q.Index, Phase: q.Phase, Session: q.Session, Turn: q.Turn, Due: q.Due, Slot: c.Now(),
		Connected: load.Never, Sent: load.Never, Headers: load.Never, First: load.Never,
		FirstContent: load.Never, Last: load.Never, AskedInput: q.Input, AskedOutput: q.Output,
		Input: load.Unknown, Output: load.Unknown, Cached: load.Unknown,
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	after := func(d time.Duration, cause error) *time.Timer {
		return time.AfterFunc(d, func() { cancel(cause) })
	}
	if c.cfg.Total > 0 {
		defer after(c.cfg.Total, overdue("it did not end within %v", c.cfg.Total)).Stop()
	}
	if q.CancelAfter > 0 {
		defer after(time.Duration(q.CancelAfter), errCancelled).Stop()
	}
	var traced sync.Mutex // the transport may report after it has returned
	note := func(to *int64) {
		at := c.Now()
		traced.Lock()
		defer traced.Unlock()
		*to = at
	}
	connected, sent, reused := int64(load.Never), int64(load.Never), false
	var conn net.Conn
	informational, last := 0, 0
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			note(&connected)
			traced.Lock()
			reused, conn = i.Reused, i.Conn
			traced.Unlock()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { note(&sent) },
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			traced.Lock()
			defer traced.Unlock()
			if informational, last = informational+1, status; informational > maxInformational {
				return errInformational
			}
			return nil
		},
	})
	rec.Start = c.Now()
	came := func() *arrivals {
		traced.Lock()
		defer traced.Unlock()
		return c.arrivals(conn, rec.Start)
	}
	err := c.exchange(ctx, cancel, q, body, rec, came)
	traced.Lock()
	rec.Connected, rec.Sent, rec.Reused, rec.Status = connected, sent, reused, cmp.Or(rec.Status, last)
	if rec.Headers != load.Never {
		rec.Sent = min(rec.Sent, rec.Headers) // the transport may report it late
	}
	traced.Unlock()
	if rec.Done == 0 || err != nil { // the reader's time is that of the last arrival, as before a cancellation
		rec.Done = c.Now()
	}
	if err != nil {
		classify(rec, c.host, err, context.Cause(ctx))
	}
	c.tellOfProxy(rec)
	switch rec.Outcome {
	case load.OK, load.Cancelled, load.Unfinished:
	default:
		if len(rec.Events) > maxOfFailed {
			rec.Events = slices.Clone(rec.Events[:maxOfFailed])
		}
	}
	return rec
}

// classify sets the outcome of a failed request: why it was cancelled, or the error.
func classify(rec *load.Record, at string, err, cause error) {
	l, limited := errors.AsType[*limit](cause)
	switch {
	case errors.Is(err, stream.ErrStopped):
		rec.Outcome = load.Cancelled
	case limited:
		rec.Outcome = l.outcome
		if l.outcome == load.Timeout {
			rec.Error = l.text
			if rec.Connected == load.Never {
				rec.Outcome = load.Connect
			}
		}
	case cause != nil: // the caller's own context
		rec.Outcome = load.Unfinished
	case rec.Connected == load.Never:
		rec.Outcome, rec.Error = load.Connect, notConnected(at, err)
	default:
		rec.Outcome, rec.Error = brokenOff(rec, err)
	}
}
