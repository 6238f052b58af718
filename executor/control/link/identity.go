package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Role is the side of a link that a certificate is for.
type Role string

// A coordinator has a server certificate (serverAuth) with the DNS name CoordinatorName. An agent has a
// client certificate (clientAuth) with the name of its node as common name or DNS name.
const (
	Coordinator Role = "coordinator"
	Agent       Role = "agent"
)

// CoordinatorName is the DNS name in the certificates of coordinators, on any host.
const CoordinatorName = "weir-coordinator"

// AnyNode as the common name of an agent's certificate stands for every node, for launchers that do not
// know the names of nodes in advance.
const AnyNode = "*"

// Identity are the certificates and the key of a process, in PEM.
type Identity struct {
	CA          []byte `json:"ca"`          // authorities for the certificates of peers
	Certificate []byte `json:"certificate"` // its own, and intermediate ones
	Key         []byte `json:"key"`         // of the certificate: a secret
}

// Credentials returns the identity for the next connection.
type Credentials func() (Identity, error)

// Fixed are credentials that do not change.
func (i Identity) Fixed() Credentials { return func() (Identity, error) { return i, nil } }

// maxPEM is the largest size of an identity, in bytes.
const maxPEM = 1 << 20

// pair parses the certificate with its key, and the authorities. Errors do not contain the key.
func (i Identity) pair() (tls.Certificate, *x509.CertPool, error) {
	if len(i.CA)+len(i.Certificate)+len(i.Key) > maxPEM {
		return tls.Certificate{}, nil, fmt.Errorf("certificates of more than %d bytes", maxPEM)
	}
	pair, err := tls.X509KeyPair(i.Certificate, i.Key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("reading a certificate and its key: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(i.CA) {
		return tls.Certificate{}, nil, errors.New("reading the CA bundle: it has no certificates")
	}
	return pair, pool, nil
}

// Check validates the identity for a role at the present time; the certificate of an agent must have the
// name of the node.
func (i Identity) Check(role Role, node string) error {
	pair, pool, err := i.pair()
	if err != nil {
		return err
	}
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(cert)
		}
	}
	options := x509.VerifyOptions{Roots: pool, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage[role]}}
	if role == Coordinator {
		options.DNSName = CoordinatorName
	}
	if _, err := pair.Leaf.Verify(options); err != nil {
		return fmt.Errorf("the certificate is no %s's: %w", role, err)
	}
	if role == Agent && !slices.Contains(namesOf(pair.Leaf), node) {
		return fmt.Errorf("the certificate is for %s, and the node is %q", quoted(namesOf(pair.Leaf)), node)
	}
	return nil
}

// namesOf are the common name and the DNS names of a certificate.
func namesOf(cert *x509.Certificate) []string {
	names := cert.DNSNames
	if cn := cert.Subject.CommonName; cn != "" && !slices.Contains(names, cn) {
		names = append([]string{cn}, names...)
	}
	return names
}

// quoted lists untrusted names.
func quoted(names []string) string {
	const most = 4
	var all []string
	for _, n := range names[:min(len(names), most)] {
		all = append(all, fmt.Sprintf("%.80q", n))
	}
	if len(all) == 0 {
		return "no name"
	}
	return strings.Join(all, ", ")
}

// server is the TLS configuration of a coordinator: TLS 1.3 with client certificates.
func (i Identity) server() (*tls.Config, error) {
	pair, pool, err := i.pair()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{linkProtocol},
		SessionTicketsDisabled: true, // a resumed connection would skip the certificates
	}, nil
}

// client is the TLS configuration of an agent.
func (i Identity) client() (*tls.Config, error) {
	pair, pool, err := i.pair()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool,
		ServerName: CoordinatorName, NextProtos: []string{linkProtocol}, SessionTicketsDisabled: true,
	}, nil
}

// validName reports whether a text can be a name, in a key of etcd too.
func validName(text string, most int) bool {
	odd := strings.ContainsFunc(text, func(r rune) bool {
		return r == '/' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
	return text != "" && len(text) <= most && !odd
}

// CheckName checks that a name of a node or session is printable and can be part of a key in etcd.
func CheckName(name string) error {
	if name == AnyNode || !validName(name, maxName) {
		return fmt.Errorf("name %.80q: must have 1 to %d printable characters, no slash, and not be %q", name, maxName,
			AnyNode)
	}
	return nil
}
