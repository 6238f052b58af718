package trust

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Identity is who a process is: its certificate, the key of that, and the authority
// by which it knows others. All three are PEM. The key is a secret.
type Identity struct {
	CA          []byte `json:"ca"`
	Certificate []byte `json:"certificate"`
	Key         []byte `json:"key"`

	revoked revoked // as LoadIdentity has found it
}

// parsed is an identity that was read and fits together.
type parsed struct {
	ca, cert *x509.Certificate
	key      *ecdsa.PrivateKey
	role     Role
	name     string
}

func (i Identity) parse() (parsed, error) {
	var p parsed
	var err error
	if p.ca, err = parseAuthority(i.CA); err != nil {
		return p, err
	}
	if p.cert, err = parseCertificate(i.Certificate); err != nil {
		return p, err
	}
	if p.key, err = parseKey(i.Key); err != nil {
		return p, err
	}
	if !p.key.PublicKey.Equal(p.cert.PublicKey) {
		return p, errors.New("the key is not that of the certificate")
	}
	if err := p.cert.CheckSignatureFrom(p.ca); err != nil {
		return p, fmt.Errorf("the certificate is not of this authority: %w", err)
	}
	p.role, p.name, err = roleOf(p.cert)
	return p, err
}

// Role says who the identity is, after it has checked that its parts fit together;
// whether it has expired, the other side of a connection says.
func (i Identity) Role() (Role, string, error) {
	p, err := i.parse()
	if err != nil {
		return "", "", fmt.Errorf("reading an identity: %w", err)
	}
	return p.role, p.name, nil
}

// Expires is when the certificate ends.
func (i Identity) Expires() (time.Time, error) {
	cert, err := parseCertificate(i.Certificate)
	if err != nil {
		return time.Time{}, err
	}
	return cert.NotAfter, nil
}

// TLS is how the identity talks to a peer of the given role, whichever of the two
// listens: TLS 1.3, and both show a certificate of the same authority. A host's name
// proves nothing and is not looked at; the peer's role and name are in its certificate.
func (i Identity) TLS(peer Role) (*tls.Config, error) {
	p, err := i.parse()
	if err != nil {
		return nil, fmt.Errorf("reading an identity: %w", err)
	}
	c := clientOf(p.ca, peer, i.revoked)
	c.Certificates = []tls.Certificate{{Certificate: [][]byte{p.cert.Raw}, PrivateKey: p.key, Leaf: p.cert}}
	c.ClientAuth = tls.RequireAnyClientCert
	return c, nil
}

// PeerError says that the other side of a connection is not who it must be.
type PeerError struct{ err error }

func (e *PeerError) Error() string { return e.err.Error() }
func (e *PeerError) Unwrap() error { return e.err }

// clientOf is a side that shows nothing and demands a certificate of a role.
func clientOf(ca *x509.Certificate, peer Role, r revoked) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// a resumed connection would skip the certificates, and saves nothing here
		SessionTicketsDisabled: true,
		// the usual verification is of host names; VerifyConnection does all that it does otherwise
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return &PeerError{errors.New("the other side has shown no certificate")}
			}
			name, err := verify(ca, s.PeerCertificates[0], peer, time.Now())
			if err == nil && peer == Agent {
				err = r.certificate(s.PeerCertificates[0], name)
			}
			if err != nil {
				return &PeerError{err}
			}
			return nil
		},
	}
}

// verify says whether a certificate is one of the authority's for a role, now, and
// gives its holder's name.
func verify(ca, cert *x509.Certificate, want Role, now time.Time) (string, error) {
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{usage[want]}}); err != nil {
		return "", fmt.Errorf("the certificate of the other side is no %s's here: %w", want, err)
	}
	role, name, err := roleOf(cert)
	if err != nil {
		return "", err
	}
	if role != want {
		return "", fmt.Errorf("the other side is the %s %q, must be a %s", role, name, want)
	}
	return name, nil
}
