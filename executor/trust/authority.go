// Package trust is the cryptography between a coordinator and its agents: who may
// be one, what a session has said, and how a newcomer gets in. It knows keys,
// certificates and bytes; not etcd, not connections, not what is signed.
//
// There is nothing to negotiate: certificates and join tokens are signed with ECDSA
// over P-256 and SHA-256, what a session says with Ed25519, and connections are TLS 1.3.
// Every signature covers a text that says what it is for and gives each of its parts
// with its length, so none can be taken for another.
package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"
)

// early is how long before it is made a certificate is valid from: hosts' clocks
// differ, and a new certificate must not be refused by one that is behind.
const early = time.Hour

// Authority is a certificate authority: who holds it decides who is a coordinator
// or an agent.
type Authority struct {
	key     *ecdsa.PrivateKey
	cert    *x509.Certificate
	pem     []byte
	revoked revoked // as LoadAuthority has found it
}

// NewAuthority makes a certificate authority that is valid for so long. The name is
// for people who look at its certificate.
func NewAuthority(name string, life time.Duration) (*Authority, error) {
	if err := checkLife(life); err != nil {
		return nil, fmt.Errorf("making a certificate authority: %w", err)
	}
	now := time.Now()
	return newAuthority(name, now.Add(-early), now.Add(life))
}

func newAuthority(name string, from, to time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of a certificate authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of a certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of a certificate authority: %w", err)
	}
	return &Authority{key: key, cert: cert, pem: encodePEM(certificateBlock, der)}, nil
}

// Certificate is the authority's certificate, PEM.
func (a *Authority) Certificate() []byte { return a.pem }

// Issue makes a key and a certificate for it: whoever shows it is the coordinator, or
// the agent, of that name. The agent's name "*" stands for any node. The certificate
// lives no longer than its authority.
func (a *Authority) Issue(role Role, name string, life time.Duration) (Identity, error) {
	fail := func(err error) (Identity, error) {
		return Identity{}, fmt.Errorf("issuing a certificate for %s %q: %w", role, name, err)
	}
	if err := errors.Join(checkLife(life), checkRole(role, name)); err != nil {
		return fail(err)
	}
	now := time.Now()
	i, err := a.issue(role, name, now.Add(-early), now.Add(life))
	if err != nil {
		return fail(err)
	}
	return i, nil
}

func (a *Authority) issue(role Role, name string, from, to time.Time) (Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, err
	}
	cert, err := a.sign(role, name, &key.PublicKey, from, to)
	if err != nil {
		return Identity{}, err
	}
	text, err := encodeKey(key)
	if err != nil {
		return Identity{}, err
	}
	return Identity{CA: a.pem, Certificate: cert, Key: text}, nil
}

// usage is what a role's certificate is for: the agent is always the client.
var usage = map[Role]x509.ExtKeyUsage{Coordinator: x509.ExtKeyUsageServerAuth, Agent: x509.ExtKeyUsageClientAuth}

func (a *Authority) sign(role Role, name string, key *ecdsa.PublicKey, from, to time.Time) ([]byte, error) {
	if to.After(a.cert.NotAfter) {
		to = a.cert.NotAfter
	}
	if from.Before(a.cert.NotBefore) {
		from = a.cert.NotBefore
	}
	if !to.After(from) {
		return nil, fmt.Errorf("the certificate authority expired at %s: make a new one",
			a.cert.NotAfter.Format(time.RFC3339))
	}
	template := &x509.Certificate{
		SerialNumber: serial(), NotBefore: from, NotAfter: to, BasicConstraintsValid: true,
		URIs: []*url.URL{roleURI(role, name)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{usage[role]},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key, a.key)
	if err != nil {
		return nil, err
	}
	return encodePEM(certificateBlock, der), nil
}

func checkLife(life time.Duration) error {
	if life <= 0 {
		return fmt.Errorf("a life of %s has ended already", life)
	}
	return nil
}

// serial is a random number of 127 bits: nobody counts what is issued.
func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}
