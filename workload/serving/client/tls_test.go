package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

// certificate makes a certificate of 127.0.0.1 that is its own authority.
func certificate(t *testing.T, change func(*x509.Certificate)) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{{127, 0, 0, 1}},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// A request to a server with a wrong certificate, or with none, fails in its time and says why.
func TestWrongCertificates(t *testing.T) {
	const connect = 2 * time.Second
	for name, c := range map[string]struct {
		change  func(*x509.Certificate)
		version uint16 // the newest that the server speaks
		unknown bool   // the client does not know the certificate
		says    string
	}{
		"a good one": {},
		"another name": {change: func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil, []string{"other.test"}
		}, says: "its certificate is not of the name 127.0.0.1"},
		"another number": {change: func(c *x509.Certificate) {
			c.IPAddresses[0][3] = 2
		}, says: "is not of the name 127.0.0.1"},
		"expired": {change: func(c *x509.Certificate) {
			c.NotAfter = time.Now().Add(-time.Hour)
		}, says: "its certificate has expired"},
		"not valid yet": {change: func(c *x509.Certificate) {
			c.NotBefore = time.Now().Add(time.Minute)
		}, says: "or is not valid yet"},
		"self-signed": {unknown: true, says: "an authority that this host does not know: give tls_ca"},
		"of a client": {change: func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}, says: "its certificate is not valid"},
		"TLS 1.0": {version: tls.VersionTLS10, says: "it speaks only versions of TLS before 1.2"},
		"TLS 1.1": {version: tls.VersionTLS11, says: "it speaks only versions of TLS before 1.2"},
		"TLS 1.2": {version: tls.VersionTLS12},
	} {
		for _, http2 := range []bool{false, true} {
			change := c.change
			if change == nil {
				change = func(*x509.Certificate) {}
			}
			pair, known := certificate(t, change)
			s := testserver.Unstarted(func(a *testserver.Answer) { a.Steady(2, 0, 0) })
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.EnableHTTP2 = http2
			s.TLS = &tls.Config{
				Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: c.version,
			}
			s.StartTLS()
			cfg := Config{URL: s.URL, Stream: true, HTTP2: http2, Connect: connect}
			if !c.unknown {
				cfg.CA = known
			}
			refused(t, name, cfg, c.says)
			s.Close()
		}
	}
	for name, c := range map[string]struct{ bytes, says string }{
		"a server that says nothing":          {"", "nothing answered in time"},
		"the first half of a greeting":        {"\x16\x03\x03\x40\x00\x02", "nothing answered in time"},
		"a record that is larger than may be": {"\x16\x03\x03\xff\xff" + strings.Repeat("x", 70_000), "TLS"},
		"an alert":                            {"\x15\x03\x03\x00\x02\x02\x28", "handshake failure"},
	} {
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := at.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, c.bytes)
				defer conn.Close()
			}
		}()
		refused(t, name, Config{URL: "https://" + at.Addr().String(), Connect: connect}, c.says)
		at.Close()
	}
}

// refused sends a request that must fail with a text, or succeed if that is "".
func refused(t *testing.T, name string, cfg Config, says string) {
	t.Helper()
	begin := time.Now()
	rec := newClient(t, cfg).Send(t.Context(), request(0), nil)
	if took := time.Since(begin); took > cfg.Connect+10*time.Second {
		t.Errorf("%s: %v", name, took)
	}
	want := load.Connect
	if says == "" {
		want = load.OK
	}
	if rec.Outcome != want || !strings.Contains(rec.Error, says) {
		t.Errorf("%s, HTTP/2 %v: %v %q, want %q", name, cfg.HTTP2, rec.Outcome, rec.Error, says)
	}
}
