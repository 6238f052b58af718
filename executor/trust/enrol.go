package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// EnrolledLife is how long a certificate lasts that a node gets for a join token,
// unless its authority ends before.
const EnrolledLife = 90 * 24 * time.Hour

// NewRequest makes a key for a node's agent, which stays there, and the request for a
// certificate that goes to the coordinator. Both are PEM.
func NewRequest(node string) (key, csr []byte, err error) {
	fail := func(err error) ([]byte, []byte, error) {
		return nil, nil, fmt.Errorf("making a request for a certificate of node %q: %w", node, err)
	}
	if err := CheckName(node); err != nil {
		return fail(err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	template := &x509.CertificateRequest{URIs: []*url.URL{roleURI(Agent, node)}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, private)
	if err != nil {
		return fail(err)
	}
	if key, err = encodeKey(private); err != nil {
		return fail(err)
	}
	return key, encodePEM(requestBlock, der), nil
}

// Enrol gives an agent's certificate, PEM, for a request that comes with a join token.
// It refuses tokens that have expired, are revoked or another authority's, a node that
// the token is not for, and every role but an agent's.
func (a *Authority) Enrol(token string, csr []byte, now time.Time) ([]byte, error) {
	cert, err := a.enrol(token, csr, now)
	if err != nil {
		return nil, fmt.Errorf("enrolling a node: %w", err)
	}
	return cert, nil
}

func (a *Authority) enrol(token string, csr []byte, now time.Time) ([]byte, error) {
	t, ca, err := readToken(token)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(ca.Raw, a.cert.Raw) { // what it says of itself was checked; that it is ours was not
		return nil, errors.New("the join token is another authority's")
	}
	if now.After(t.Expires) {
		return nil, fmt.Errorf("the join token %s expired at %s: \"weir cluster token\" makes another", t.ID,
			t.Expires.Format(time.RFC3339))
	}
	if err := a.revoked.token(t); err != nil {
		return nil, err
	}
	der, err := decodePEM(requestBlock, csr)
	if err != nil {
		return nil, err
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, err
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("the request is not signed by its key: %w", err)
	}
	if err := checkCurve(request.PublicKey); err != nil {
		return nil, err
	}
	role, node, err := roleOfURIs(request.URIs)
	switch {
	case err != nil:
		return nil, err
	case role != Agent || node == AnyNode:
		return nil, fmt.Errorf("a join token makes nobody the %s %q, only the agent of one node", role, node)
	case t.Node != "" && t.Node != node:
		return nil, fmt.Errorf("the join token %s is for node %q, not for %q", t.ID, t.Node, node)
	}
	return a.sign(Agent, node, request.PublicKey.(*ecdsa.PublicKey), now.Add(-early), now.Add(EnrolledLife))
}
