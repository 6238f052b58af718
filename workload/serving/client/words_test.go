package client

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

// Errors of the transport are plain texts without those of Go.
func TestErrorTexts(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "x", Err: &net.OpError{Op: "dial", Err: err}}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{dial(syscall.ECONNREFUSED), "the connection was refused"},
		{dial(syscall.ECONNRESET), "the connection was reset"},
		{dial(syscall.ENETUNREACH), "no route"},
		{dial(&net.DNSError{Name: "a.b", IsNotFound: true}), "there is no host a.b"},
		{dial(&net.DNSError{Name: "a.b"}), "the name a.b cannot be looked up"},
		{dial(x509.UnknownAuthorityError{}), "give tls_ca"},
		{io.EOF, "the connection was closed"},
		{errors.New("http: server closed idle connection"), "the connection was closed"},
	} {
		if got := reason(c.err); !strings.Contains(got, c.want) || strings.Contains(got, "dial") {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
	begun, silent := &load.Record{}, &load.Record{Headers: load.Never}
	kept := &load.Record{Headers: load.Never, Reused: true}
	for _, c := range []struct {
		rec  *load.Record
		err  error
		want string
		as   load.Outcome
	}{
		{begun, io.ErrUnexpectedEOF, "closed in the middle of it", load.Truncated},
		{begun, syscall.ECONNRESET, "the answer broke off: the connection was reset", load.Truncated},
		{silent, io.EOF, "no answer came: the connection was closed", load.Truncated},
		{kept, io.EOF, "no answer came on a connection that was kept: the connection was closed", load.Truncated},
		{silent, fmt.Errorf("net/http: HTTP/1.x transport connection broken: malformed HTTP response %q",
			"\x00\x01"+strings.Repeat("z", 90)), `it speaks no HTTP: its answer begins with "\x00\x01` +
			strings.Repeat("z", 32) + `…"`, load.Malformed},
		{begun, errors.New("stream error: stream ID 3; INTERNAL_ERROR; received from peer"),
			"the server ended the stream (INTERNAL_ERROR)", load.Truncated},
		{silent, errors.New("http2: client conn could not be established"), "speaks no HTTP/2", load.Malformed},
		{begun, errors.New("invalid byte in chunk length"), "not valid HTTP", load.Malformed},
	} {
		if as, got := brokenOff(c.rec, c.err); as != c.as || !strings.Contains(got, c.want) {
			t.Errorf("%v: %v, %q, want %v, %q", c.err, as, got, c.as, c.want)
		}
	}
}

// Errors name a server that speaks only HTTP/1.1, or no TLS.
func TestOtherProtocolsAreNamed(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	for at, want := range map[string]string{s.URL: "speaks no HTTP/2", "https" + s.URL[4:]: "speaks no TLS"} {
		rec := newClient(t, Config{URL: at, HTTP2: want == "speaks no HTTP/2"}).Send(t.Context(), request(0), nil)
		if !strings.Contains(rec.Error, want) {
			t.Errorf("%s: %+v", at, rec)
		}
	}
}
