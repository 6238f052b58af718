package trust

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// MaxInvitation is the longest body of an invitation in bytes: it is a value in etcd.
const MaxInvitation = 512 << 10

// Invite signs a body about a subject with the coordinator's certificate, which goes
// along, until it expires. The body can be read by anybody.
func (i Identity) Invite(about Subject, body []byte, expires time.Time) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("inviting node %q into session %q: %w", about.Node, about.Session, err)
	}
	p, err := i.parse()
	if err != nil {
		return fail(err)
	}
	if p.role != Coordinator {
		return fail(fmt.Errorf("only a coordinator can, and this is the %s %q", p.role, p.name))
	}
	if len(body) > MaxInvitation {
		return fail(fmt.Errorf("%d bytes: %d are the most", len(body), MaxInvitation))
	}
	until := encodeTime(expires)
	digest := sha256.Sum256(about.signedText(forInvitation, p.cert.Raw, until, body))
	signature, err := ecdsa.SignASN1(rand.Reader, p.key, digest[:])
	if err != nil {
		return fail(err)
	}
	return join([]byte(forInvitation), p.cert.Raw, until, body, signature), nil
}

// OpenInvitation gives the body of an invitation about a subject and the name of the
// coordinator whose certificate signed it, if that is one of the authority's (PEM)
// and neither has expired. The body is a part of sealed.
func OpenInvitation(ca []byte, about Subject, sealed []byte, now time.Time) (body []byte, coordinator string,
	err error) {
	authority, err := parseAuthority(ca)
	if err == nil {
		body, coordinator, err = openInvitation(authority, about, sealed, now)
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading an invitation: %w", err)
	}
	return body, coordinator, nil
}

func openInvitation(ca *x509.Certificate, about Subject, sealed []byte, now time.Time) ([]byte, string, error) {
	if len(sealed) > MaxInvitation+maxPEM {
		return nil, "", fmt.Errorf("%d bytes: %d are the most", len(sealed), MaxInvitation+maxPEM)
	}
	fields, err := split(sealed, 5)
	if err != nil {
		return nil, "", err
	}
	der, until, body, signature := fields[1], fields[2], fields[3], fields[4]
	expires, err := decodeTime(until)
	if err != nil || string(fields[0]) != forInvitation {
		return nil, "", errCut
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, "", err
	}
	name, err := verify(ca, cert, Coordinator, now)
	if err != nil {
		return nil, "", err
	}
	if err := checkCurve(cert.PublicKey); err != nil {
		return nil, "", err
	}
	digest := sha256.Sum256(about.signedText(forInvitation, der, until, body))
	if !ecdsa.VerifyASN1(cert.PublicKey.(*ecdsa.PublicKey), digest[:], signature) {
		return nil, "", fmt.Errorf("coordinator %q has not signed this of session %q for node %q", name, about.Session,
			about.Node)
	}
	if now.After(expires) {
		return nil, "", fmt.Errorf("it expired at %s", expires.Format(time.RFC3339))
	}
	return body, name, nil
}

// encodeTime writes a time as milliseconds since 1970.
func encodeTime(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
}

func decodeTime(b []byte) (time.Time, error) {
	if len(b) != 8 {
		return time.Time{}, errors.New("a time must have 8 bytes")
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC(), nil
}
