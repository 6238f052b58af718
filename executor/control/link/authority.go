package link

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"time"
)

// clockSkew is subtracted from the start of a certificate's validity: a host's clock may be behind, by hours where
// it keeps local time as UTC, or be set back while a session runs.
const clockSkew = 24 * time.Hour

// Always is a life of certificates that are valid whatever the time of day is. It is for the authority of a session,
// which nobody trusts after the session.
const Always time.Duration = math.MaxInt64

// validity is the span of a life that begins now.
func validity(life time.Duration) (from, to time.Time) {
	if life == Always {
		return time.Unix(0, 0), time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC) // none: RFC 5280, 4.1.2.5
	}
	now := time.Now()
	return now.Add(-clockSkew), now.Add(life)
}

// Authority is a certificate authority for a session, or for a site without its own. Its keys are ECDSA P-256.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

// NewAuthority makes an authority with a lifetime; name is its common name.
func NewAuthority(name string, life time.Duration) (*Authority, error) {
	a, err := newAuthority(name, life)
	if err != nil {
		return nil, fmt.Errorf("making a certificate authority: %w", err)
	}
	return a, nil
}

func newAuthority(name string, life time.Duration) (*Authority, error) {
	if life <= 0 {
		return nil, errExpired
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from, to := validity(life)
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{key: key, cert: cert, pem: encodePEM(certificateBlock, der)}, nil
}

var errExpired = errors.New("the certificate would have expired already")

// Issue makes a key and a certificate for a coordinator, or for the agent of a node (AnyNode: of every
// node). The certificate expires with its authority at the latest.
func (a *Authority) Issue(role Role, name string, life time.Duration) (Identity, error) {
	from, to := validity(life)
	i, err := a.issue(role, name, from, to)
	if err != nil {
		return Identity{}, fmt.Errorf("issuing a certificate for %s %q: %w", role, name, err)
	}
	return i, nil
}

// usage is the extended key usage of a role: the agent is always the TLS client.
var usage = map[Role]x509.ExtKeyUsage{Coordinator: x509.ExtKeyUsageServerAuth, Agent: x509.ExtKeyUsageClientAuth}

// hostName matches names that can be DNS names in a certificate.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

func (a *Authority) issue(role Role, name string, from, to time.Time) (Identity, error) {
	if from.Before(a.cert.NotBefore) {
		from = a.cert.NotBefore
	}
	if to.After(a.cert.NotAfter) {
		to = a.cert.NotAfter
	}
	if !to.After(from) {
		return Identity{}, errExpired
	}
	if err := CheckName(name); err != nil && !(role == Agent && name == AnyNode) {
		return Identity{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{usage[role]},
	}
	switch {
	case role == Coordinator:
		template.DNSNames = []string{CoordinatorName}
	case hostName.MatchString(name):
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Identity{}, err
	}
	return a.identity(der, key)
}

// identity is the identity for a certificate of the authority.
func (a *Authority) identity(der []byte, key *ecdsa.PrivateKey) (Identity, error) {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Identity{}, err
	}
	return Identity{
		CA: a.pem, Certificate: encodePEM(certificateBlock, der), Key: encodePEM(keyBlock, private),
	}, nil
}

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// serial is a random serial number of 127 bits.
func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}
