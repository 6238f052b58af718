// Package client sends the requests of a load to an endpoint, and records what becomes of each.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/serving"
	"weir/serving/stream"
)

// Config says how requests are sent.
type Config struct {
	URL     string // of the server; a path before /v1 is kept
	Chat    bool   // chat completions, else completions
	Stream  bool   // answers are streams of events
	Headers http.Header
	HTTP2   bool
	CA      []byte // further authorities in PEM
	// Proxy has requests go through the proxy that the environment names for the server, if it does.
	Proxy bool
	// Bytes and Events bound an answer; 0: as package stream has it.
	Bytes  int64
	Events int
	// Connect bounds making a connection, First the time to the first event, Idle that between
	// two reads, Total all of a request; 0: no limit.
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

// readBytes is the buffer of a connection: large enough for a burst of events, and small enough for
// ten thousand connections. The other bounds are of what a server may have a connection keep.
const (
	readBytes   = 16 << 10
	mostHeaders = 256 << 10
	mostUnread  = 256 << 10 // of a stream of HTTP/2
)

// New makes a client whose clock begins now.
func New(cfg Config) (*Client, error) {
	at, err := url.Parse(cfg.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("%q is no http:// or https:// address of a server", cfg.URL)
	}
	path := "/v1/completions"
	if cfg.Chat {
		path = "/v1/chat/completions"
	}
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/v1") + path
	cfg.Bytes, cfg.Events = cmp.Or(cfg.Bytes, stream.MostBytes), cmp.Or(cfg.Events, stream.MostEvents)
	t := &http.Transport{
		DialContext:            dialer(cfg.Connect),
		TLSHandshakeTimeout:    cfg.Connect,
		DisableCompression:     true,
		MaxIdleConns:           0, // no limit
		MaxIdleConnsPerHost:    1 << 20,
		ReadBufferSize:         readBytes,
		MaxResponseHeaderBytes: mostHeaders,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: mostUnread},
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
	c := &Client{cfg: cfg, url: at.String(), host: at.Host, transport: t, origin: time.Now()}
	return c, c.throughProxy(at)
}

// Close closes all connections that are idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Now is the time on the client's clock.
func (c *Client) Now() int64 { return time.Since(c.origin).Nanoseconds() }

// Begin makes this moment the zero of the client's clock.
func (c *Client) Begin() { c.origin = time.Now() }

// limit is why a request was given up.
type limit struct {
	outcome serving.Outcome
	text    string
}

func (l *limit) Error() string { return l.text }

// ErrOver is the cause with which a load that is over ends the requests in flight.
var ErrOver error = &limit{serving.Unfinished, "the load was over"}

var errCancelled error = &limit{serving.Cancelled, "cancelled on purpose"}

func overdue(format string, d time.Duration) error {
	return &limit{serving.Timeout, fmt.Sprintf(format, d)}
}

// mostOfFailed bounds the events that are kept of a request that failed: no metric is of them.
const mostOfFailed = 1 << 10

// Send sends one request and waits for its answer.
func (c *Client) Send(ctx context.Context, q *serving.Request, body []byte) *serving.Record {
	rec := &serving.Record{
		Index: q.Index, Phase: q.Phase, Session: q.Session, Turn: q.Turn, Due: q.Due, Slot: c.Now(),
		Connected: serving.Never, Sent: serving.Never, Headers: serving.Never, First: serving.Never,
		FirstContent: serving.Never, Last: serving.Never, AskedInput: q.Input, AskedOutput: q.Output,
		Input: serving.Unknown, Output: serving.Unknown, Cached: serving.Unknown,
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
	var traced sync.Mutex // what the transport tells may come after it has returned
	note := func(to *int64) {
		at := c.Now()
		traced.Lock()
		defer traced.Unlock()
		*to = at
	}
	connected, sent, reused := int64(serving.Never), int64(serving.Never), false
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
			if informational, last = informational+1, status; informational > mostInformational {
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
	if rec.Headers != serving.Never {
		rec.Sent = min(rec.Sent, rec.Headers) // the transport tells it late
	}
	traced.Unlock()
	if rec.Done == 0 {
		rec.Done = c.Now()
	}
	if err != nil {
		classify(rec, c.host, err, context.Cause(ctx))
	}
	c.tellOfProxy(rec)
	switch rec.Outcome {
	case serving.OK, serving.Cancelled, serving.Unfinished:
	default:
		if len(rec.Events) > mostOfFailed {
			rec.Events = slices.Clone(rec.Events[:mostOfFailed])
		}
	}
	return rec
}

// exchange posts the body and reads the answer.
func (c *Client) exchange(ctx context.Context, cancel context.CancelCauseFunc, q *serving.Request, body []byte,
	rec *serving.Record, came func() *arrivals) error {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, values := range c.cfg.Headers {
		post.Header[name] = values
	}
	post.Header.Set("Content-Type", "application/json")
	if c.cfg.Stream {
		post.Header.Set("Accept", "text/event-stream")
	}
	quiet := c.awaitEvents(cancel)
	defer quiet.timer.Stop()
	answer, err := c.transport.RoundTrip(post)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	arrived := came()
	rec.Headers, rec.Status = arrived.now(), answer.StatusCode
	if answer.StatusCode/100 != 2 {
		rec.Outcome, rec.Error = serving.Status, refusal(answer)
		return nil
	}
	limits := stream.Limits{Bytes: c.cfg.Bytes, Events: c.cfg.Events, Text: q.Text, Prompt: len(body)}
	reader := stream.NewReader(rec, limits, arrived.now, func(events int) bool {
		if events > 0 {
			quiet.heard()
		}
		return q.CancelEvents == 0 || events < q.CancelEvents
	})
	err = c.read(ctx, reader, answer, limits)
	tellForm(rec, answer, c.cfg.Stream)
	return err
}

// read reads an answer of any form.
func (c *Client) read(ctx context.Context, reader *stream.Reader, answer *http.Response, l stream.Limits) error {
	unpacked, err := stream.Unpack(answer.Body, answer.Header.Get("Content-Encoding"), l)
	if err != nil {
		return reader.Refuse(err)
	}
	body := ending{ctx, unpacked}
	if !c.cfg.Stream || isJSON(kindOf(answer)) {
		return reader.Whole(body)
	}
	err = reader.Events(body)
	if err == nil { // a connection is kept only if its answer was read whole
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 4<<10))
	}
	return err
}

// classify says how a request to a host ended that has an error: why it was given up, or what went wrong.
func classify(rec *serving.Record, at string, err, cause error) {
	l, limited := errors.AsType[*limit](cause)
	switch {
	case errors.Is(err, stream.ErrStopped):
		rec.Outcome = serving.Cancelled
	case limited:
		rec.Outcome = l.outcome
		if l.outcome == serving.Timeout {
			rec.Error = l.text
			if rec.Connected == serving.Never {
				rec.Outcome = serving.Connect
			}
		}
	case cause != nil: // the caller's own context
		rec.Outcome = serving.Unfinished
	case rec.Connected == serving.Never:
		rec.Outcome, rec.Error = serving.Connect, notConnected(at, err)
	default:
		rec.Outcome, rec.Error = brokenOff(rec, err)
	}
}
