package trust

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Role is what the holder of a certificate may be.
type Role string

// The roles. A certificate is for one of them.
const (
	Coordinator Role = "coordinator"
	Agent       Role = "agent"
)

// AnyNode is the name of an agent's certificate that several nodes share, because
// whoever starts them cannot tell them apart.
const AnyNode = "*"

// roleURI is how a certificate says what its holder is: weir:<role>/<name>. It says
// nothing else, so no certificate of another purpose is mistaken for one.
func roleURI(role Role, name string) *url.URL {
	return &url.URL{Scheme: "weir", Opaque: string(role) + "/" + url.PathEscape(name)}
}

// roleOf reads a certificate's role. It must have exactly one, written as roleURI does.
func roleOf(cert *x509.Certificate) (Role, string, error) {
	return roleOfURIs(cert.URIs)
}

func roleOfURIs(uris []*url.URL) (Role, string, error) {
	if len(uris) != 1 {
		return "", "", fmt.Errorf("the certificate names %d roles, must name one", len(uris))
	}
	text, name, _ := strings.Cut(uris[0].Opaque, "/")
	role := Role(text)
	name, err := url.PathUnescape(name)
	if err != nil || uris[0].String() != roleURI(role, name).String() {
		return "", "", fmt.Errorf("the certificate is for %.80q, which is no role of weir", uris[0])
	}
	if err := checkRole(role, name); err != nil {
		return "", "", err
	}
	return role, name, nil
}

// PeerName says who the other side of a connection is, by the certificate that it has
// shown. The connection must have been made with Identity.TLS, which checked it.
func PeerName(s tls.ConnectionState) (Role, string, error) {
	if len(s.PeerCertificates) == 0 {
		return "", "", errors.New("the other side has shown no certificate")
	}
	return roleOf(s.PeerCertificates[0])
}

func checkRole(role Role, name string) error {
	if _, known := usage[role]; !known {
		return fmt.Errorf("role %q: there are %s and %s", role, Coordinator, Agent)
	}
	if name == AnyNode && role == Agent {
		return nil
	}
	return CheckName(name)
}

// CheckName holds names of nodes and coordinators to what is a part of a key in etcd
// and can be printed.
func CheckName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
	if name == "" || len(name) > 250 || name == AnyNode || odd {
		return fmt.Errorf("name %.80q: must have 1 to 250 printable characters, no slash, and not be %q", name, AnyNode)
	}
	return nil
}
