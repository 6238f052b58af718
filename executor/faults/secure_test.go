package faults

import (
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/executor/lab"
)

// secure is an etcd that speaks TLS only, with who shows a certificate of its authority.
// Of nil everything is as without.
type secure struct {
	authority *lab.Certificates
	flags     []string // of weir
}

func newSecure(t *testing.T) *secure {
	s := &secure{authority: lab.NewCertificates(t)}
	certificate, key, ca := s.authority.Files(s.authority.Pair("127.0.0.1")) // whatever address: it is a client's
	s.flags = []string{"--etcd-cacert", ca, "--etcd-cert", certificate, "--etcd-key", key}
	return s
}

func (s *secure) scheme() string {
	if s == nil {
		return "http://"
	}
	return "https://"
}

// server are the flags of an etcd at that address.
func (s *secure) server(address string) []string {
	if s == nil {
		return nil
	}
	certificate, key, ca := s.authority.Files(s.authority.Pair(address))
	return []string{"--cert-file", certificate, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", ca}
}

func (s *secure) client() []string {
	if s == nil {
		return nil
	}
	return s.flags
}

// transport is what HTTP goes over for the tests' own questions.
func (s *secure) transport(address string) http.RoundTripper {
	if s == nil {
		return http.DefaultTransport
	}
	return &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: s.authority.Pool, Certificates: []tls.Certificate{s.authority.Pair(address)},
	}}
}

// TestEtcdWithCertificates: agents register at, and a session runs over, an etcd that wants
// certificates, also when it is away for a while; who has none is told so.
func TestEtcdWithCertificates(t *testing.T) {
	if os.Getenv(lab.Required) != "required" {
		t.Skip("a part of make test-cluster, for its time")
	}
	t.Parallel()
	w := bringUp(&world{t: t, weir: weir(t), secure: newSecure(t)}, "a", "b")
	w.calm()
	w.outlives(3 * time.Second)

	ca := w.secure.flags[:2]
	stranger := append(newSecure(t).flags[2:], ca...)
	agent := []string{"agent", "--etcd", w.etcdURL, "--node", "c", "--join", w.path("token"), "--state"}
	session := []string{"run", w.path("faults.yaml"), "--etcd", w.etcdURL, "--cluster", w.path("cluster"), "--out"}
	t.Run("refused", func(t *testing.T) {
		for name, k := range map[string]struct {
			command, etcd []string
			want          string
		}{
			"an agent without a certificate":      {agent, ca, "it wants a certificate, and was shown none: "},
			"an agent with another's certificate": {agent, stranger, "it refuses the certificate that it was shown: "},
			"an agent that does not know etcd's": {agent, w.secure.flags[2:],
				"certificate signed by unknown authority"},
			"a session without a certificate": {session, ca, "it wants a certificate, and was shown none: "},
			"a session with another's certificate": {session, stranger,
				"it refuses the certificate that it was shown: "},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				said, err := exec.CommandContext(t.Context(), w.weir,
					slices.Concat(k.command, []string{t.TempDir() + "/own"}, k.etcd)...).CombinedOutput()
				if err == nil || !strings.Contains(string(said), k.want) {
					t.Errorf("it does not say %q: %v\n%s", k.want, err, said)
				}
			})
		}
	})
	if what, ok := w.settled(); !ok {
		t.Errorf("who was refused has left %s", what)
	}
}
