package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates is an authority that lives as long as a test, and signs for servers that
// are none of weir's, and for their clients.
type Certificates struct {
	Pool *x509.CertPool

	t   testing.TB
	ca  *x509.Certificate
	key *ecdsa.PrivateKey
}

// NewCertificates makes an authority.
func NewCertificates(t testing.TB) *Certificates {
	t.Helper()
	c := &Certificates{t: t, Pool: x509.NewCertPool()}
	c.key, c.ca = c.sign(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	c.Pool.AddCert(c.ca)
	return c
}

func (c *Certificates) sign(template *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "test"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := c.ca, c.key
	if template.IsCA {
		parent, by = template, key
	}
	text, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		c.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return key, certificate
}

// Pair is a certificate and its key, of a client or of a server at that IP address.
func (c *Certificates) Pair(address string) tls.Certificate {
	c.t.Helper()
	key, certificate := c.sign(&x509.Certificate{
		IPAddresses: []net.IP{net.ParseIP(address)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}
}

// Files writes a pair, and the authority's certificate, for as long as the test lasts.
func (c *Certificates) Files(pair tls.Certificate) (certificate, key, ca string) {
	c.t.Helper()
	dir := c.t.TempDir()
	private, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		c.t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			c.t.Fatal(err)
		}
		return path
	}
	return write("cert", "CERTIFICATE", pair.Certificate[0]), write("key", "EC PRIVATE KEY", private),
		write("ca", "CERTIFICATE", c.ca.Raw)
}
