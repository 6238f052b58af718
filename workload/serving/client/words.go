package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/stream"
)

// failures are texts for system errors of connections.
var failures = []struct {
	is   error
	text string
}{
	{syscall.ECONNREFUSED, "the connection was refused: nothing listens there"},
	{syscall.ECONNRESET, "the connection was reset"},
	{syscall.EPIPE, "the connection was closed while the request was written"},
	{syscall.EHOSTUNREACH, "the host cannot be reached"},
	{syscall.ENETUNREACH, "there is no route to its network"},
	{syscall.EADDRNOTAVAIL, "this host has no port left for another connection"},
	{syscall.EMFILE, "this process has no descriptor left for another connection (ulimit -n)"},
	{os.ErrDeadlineExceeded, "nothing answered in time"},
	{syscall.ETIMEDOUT, "nothing answered in time"},
}

// notConnected says why there is no connection to an address.
func notConnected(address string, err error) string {
	return address + ": " + reason(err)
}

// reason describes an error of a connection.
func reason(err error) string {
	for _, f := range failures {
		if errors.Is(err, f.is) {
			return f.text
		}
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return fmt.Sprintf("there is no host %s", e.Name)
		}
		return fmt.Sprintf("the name %s cannot be looked up", e.Name)
	}
	if text := insecure(err); text != "" {
		return text
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "nothing answered in time"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		strings.Contains(err.Error(), "server closed idle connection") {
		return "the connection was closed"
	}
	return stream.Words(err.Error())
}

// insecure describes an error of TLS; "": it is none.
func insecure(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is of an authority that this host does not know: give tls_ca"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("its certificate is not of the name %s", e.Host)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "its certificate has expired, or is not valid yet"
		}
		return "its certificate is not valid: " + stream.Words(e.Error())
	}
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	if plain || strings.Contains(err.Error(), "HTTP response to HTTPS") {
		return "it speaks no TLS: write http:// in url"
	}
	if strings.Contains(err.Error(), "protocol version not supported") {
		return "it speaks only versions of TLS before 1.2"
	}
	if strings.Contains(err.Error(), "unexpected ALPN protocol") {
		return noHTTP2
	}
	return ""
}

const noHTTP2 = "it speaks no HTTP/2: leave out http: 2"

var (
	firstLine   = regexp.MustCompile(`malformed HTTP response "((?:[^"\\]|\\.)*)"`)
	ofStream    = regexp.MustCompile(`stream error: stream ID \d+; ([A-Z_0-9]+)`)
	ofHTTPRules = regexp.MustCompile(`malformed|invalid byte in chunk length|chunked encoding|too large|invalid header|` +
		`exceeded|too much|suspiciously|too long|larger than`)
)

// brokenOff returns the outcome and text of a broken exchange, depending on how much of the answer had arrived.
func brokenOff(rec *load.Record, err error) (load.Outcome, string) {
	text := err.Error()
	if m := firstLine.FindStringSubmatch(text); m != nil {
		return load.Malformed, fmt.Sprintf(`it speaks no HTTP: its answer begins with "%s"`, stream.Begin(m[1]))
	}
	if strings.Contains(text, "frame too large") || strings.Contains(text, "looked like an HTTP/1.1 header") {
		return load.Malformed, noHTTP2
	}
	if strings.Contains(text, "client conn could not be established") {
		return load.Malformed, "the connection was closed before its first request: probably " + noHTTP2
	}
	if m := ofStream.FindStringSubmatch(text); m != nil {
		return load.Truncated, fmt.Sprintf("the answer broke off: the server ended the stream (%s)", m[1])
	}
	if ofHTTPRules.MatchString(text) {
		return load.Malformed, stream.Words("the answer is not valid HTTP: " + text)
	}
	why := reason(err)
	switch {
	case rec.Headers == load.Never && rec.Status > 0:
		return load.Status, fmt.Sprintf("%d %s, and no answer after it: %s", rec.Status,
			http.StatusText(rec.Status), why)
	case rec.Headers == load.Never && rec.Reused:
		return load.Truncated, "no answer came on a connection that was kept: " + why
	case rec.Headers == load.Never:
		return load.Truncated, "no answer came: " + why
	case errors.Is(err, io.ErrUnexpectedEOF):
		return load.Truncated, "the answer broke off: the connection was closed in the middle of it"
	}
	return load.Truncated, "the answer broke off: " + why
}
