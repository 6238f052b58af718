package trust

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"unicode"
)

// Stdio among a coordinator's addresses says that the agent's own standard input and
// output are the connection.
const Stdio = "stdio"

// Limits of a bootstrap document, which comes from whoever starts an agent.
const (
	MaxBootstrap = 256 << 10 // bytes
	maxAddresses = 64
	maxText      = 4 << 10 // bytes of an address, an endpoint or a password
)

// Bootstrap is all that an agent must know to serve one session. It holds a key: it goes
// through a pipe or a file that only its owner can read, never through arguments.
type Bootstrap struct {
	Session string `json:"session"`
	// Node is the agent's name; "" or "*": it finds out from where it runs.
	Node     string   `json:"node,omitempty"`
	Identity Identity `json:"identity"`
	// Coordinator has the addresses at which the coordinator may be reached, host:port
	// each, in the order in which they are tried; or Stdio alone.
	Coordinator []string `json:"coordinator"`
	SessionKey  []byte   `json:"session_key"` // Signer.Public
	// Fabrics are those to look for on the node; none named: all.
	Fabrics []string `json:"fabrics,omitempty"`
	// Etcd is where etcd is; nil: behind the coordinator's connection.
	Etcd *EtcdAccess `json:"etcd,omitempty"`
	// Labels are those of nodes, by which scenarios choose them, by node; AnyNode: of all.
	Labels map[string]map[string]string `json:"labels,omitempty"`
	// Shell are the variables of the shell that every node gets.
	Shell map[string]string `json:"shell,omitempty"`
	// Secrets are references to those of the scenario, never their values.
	Secrets []string `json:"secrets,omitempty"`
}

// LabelsOf are the labels of a node.
func (b Bootstrap) LabelsOf(node string) map[string]string {
	all := maps.Clone(b.Labels[AnyNode])
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b.Labels[node])
	return all
}

// EtcdAccess is how to reach etcd. CA, Certificate and Key are PEM, each may be empty.
type EtcdAccess struct {
	Endpoints   []string `json:"endpoints"`
	Prefix      string   `json:"prefix,omitempty"`
	User        string   `json:"user,omitempty"`
	Password    string   `json:"password,omitempty"`
	CA          []byte   `json:"ca,omitempty"`
	Certificate []byte   `json:"certificate,omitempty"`
	Key         []byte   `json:"key,omitempty"`
}

// Encode writes the document as one line of JSON.
func (b Bootstrap) Encode() ([]byte, error) {
	text, err := json.Marshal(b)
	if err == nil {
		err = b.check(len(text))
	}
	if err != nil {
		return nil, fmt.Errorf("writing a bootstrap document: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeBootstrap reads what Encode writes, and nothing more: the agent and whoever
// starts it are the same version. Its errors show nothing secret.
func DecodeBootstrap(text []byte) (Bootstrap, error) {
	b, err := decodeBootstrap(text)
	if err == nil {
		err = b.check(len(text))
	}
	if err != nil {
		return Bootstrap{}, fmt.Errorf("reading a bootstrap document: %w", err)
	}
	return b, nil
}

func decodeBootstrap(text []byte) (b Bootstrap, err error) {
	if len(text) > MaxBootstrap {
		return b, nil // check says so
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return b, err
	}
	if _, err := d.Token(); err != io.EOF {
		return b, errors.New("something stands behind the document")
	}
	return b, nil
}

func (b Bootstrap) check(size int) error {
	if size > MaxBootstrap {
		return fmt.Errorf("%d bytes: %d are the most", size, MaxBootstrap)
	}
	if err := CheckName(b.Session); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if b.Node != "" && b.Node != AnyNode {
		if err := CheckName(b.Node); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	role, name, err := b.Identity.Role()
	switch {
	case err != nil:
		return err
	case role != Agent:
		return fmt.Errorf("the identity is the %s %q, must be an agent's", role, name)
	case name != AnyNode && b.Node != name:
		return fmt.Errorf("the certificate is node %q's, and the document is for %q", name, b.Node)
	case len(b.SessionKey) != ed25519.PublicKeySize:
		return fmt.Errorf("a session's key of %d bytes: must have %d", len(b.SessionKey), ed25519.PublicKeySize)
	}
	if err := checkAddresses(b.Coordinator); err != nil {
		return err
	}
	for node, labels := range b.Labels {
		for name, value := range labels {
			if name == "" || len(node)+len(name)+len(value) > maxText ||
				strings.ContainsFunc(node+name+value, func(r rune) bool { return !unicode.IsPrint(r) }) {
				return fmt.Errorf("label %.80q of node %.80q: must have a name, and all of it at most %d printable characters",
					name, node, maxText)
			}
		}
	}
	return b.Etcd.check()
}

func checkAddresses(all []string) error {
	if len(all) == 0 || len(all) > maxAddresses {
		return fmt.Errorf("%d addresses of the coordinator: must be 1 to %d", len(all), maxAddresses)
	}
	for _, a := range all {
		if a == Stdio && len(all) == 1 {
			return nil
		}
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || port == "" || len(a) > maxText || strings.ContainsFunc(a, notPrinted) {
			return fmt.Errorf("address %.80q of the coordinator: must be host:port, or %q alone", a, Stdio)
		}
	}
	return nil
}

// TLS is how to talk to etcd; nil: without encryption.
func (e *EtcdAccess) TLS() (*tls.Config, error) {
	secure := slices.ContainsFunc(e.Endpoints, func(u string) bool { return strings.HasPrefix(u, "https://") })
	if !secure {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(e.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(e.CA) {
			return nil, errors.New("its authority's certificate is not PEM")
		}
	}
	if len(e.Certificate) > 0 {
		pair, err := tls.X509KeyPair(e.Certificate, e.Key)
		if err != nil {
			return nil, fmt.Errorf("its client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func notPrinted(r rune) bool { return r <= ' ' || r > '~' }

func (e *EtcdAccess) check() error {
	if e == nil {
		return nil
	}
	if len(e.Endpoints) == 0 || len(e.Endpoints) > maxAddresses {
		return fmt.Errorf("%d endpoints of etcd: must be 1 to %d", len(e.Endpoints), maxAddresses)
	}
	for _, endpoint := range e.Endpoints {
		if endpoint == "" || len(endpoint) > maxText || strings.ContainsFunc(endpoint, notPrinted) {
			return fmt.Errorf("endpoint %.80q of etcd: must have 1 to %d printable characters", endpoint, maxText)
		}
	}
	for what, text := range map[string]string{"prefix": e.Prefix, "user": e.User, "password": e.Password} {
		if len(text) > maxText {
			return fmt.Errorf("etcd's %s has %d bytes: %d are the most", what, len(text), maxText)
		}
	}
	if (len(e.Certificate) == 0) != (len(e.Key) == 0) {
		return errors.New("etcd's client certificate and its key come together")
	}
	return nil
}
