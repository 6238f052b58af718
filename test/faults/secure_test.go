package faults

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
)

// secure is an etcd that accepts only TLS clients with a certificate of its authority; nil: without TLS.
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

// atSite says flags of an agent in a site file, for weir run.
func atSite(t *testing.T, flags []string) []string {
	if len(flags) == 0 {
		return nil
	}
	text := "site: test\netcd:\n"
	for pair := range slices.Chunk(flags, 2) {
		text += fmt.Sprintf("  %s: %q\n", strings.TrimPrefix(pair[0], "--etcd-"), pair[1])
	}
	file := t.TempDir() + "/site.yaml"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"--site", file}
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
// certificates, also when it is away for a while. A client without one gets an error that says so.
func TestEtcdWithCertificates(t *testing.T) {
	if os.Getenv(lab.Required) != "required" {
		t.Skip("a part of make test-cluster, for its time")
	}
	t.Parallel()
	w := bringUp(&cluster{t: t, weir: weir(t), secure: newSecure(t)}, "a", "b")
	w.calm()
	w.outlives(3 * time.Second)

	ca := w.secure.flags[:2]
	stranger := append(newSecure(t).flags[2:], ca...)
	agent := []string{"agent", "--etcd", w.etcdURL, "--node", "c", "--cluster", w.path("cluster"), "--state"}
	session := []string{"run", w.path("faults.yaml"), "--etcd", w.etcdURL, "--cluster", w.path("cluster"), "--out"}
	t.Run("refused", func(t *testing.T) {
		for name, k := range map[string]struct {
			command, etcd []string
			want          string
		}{
			"an agent without a certificate":      {agent, ca, "it requires a client certificate, "},
			"an agent with another's certificate": {agent, stranger, "it refuses the client certificate: "},
			"an agent that does not know etcd's": {agent, w.secure.flags[2:],
				"certificate signed by unknown authority"},
			"a session without a certificate": {session, atSite(t, ca), "it requires a client certificate, "},
			"a session with another's certificate": {session, atSite(t, stranger),
				"it refuses the client certificate: "},
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
		t.Errorf("a refused client has left %s", what)
	}
}
