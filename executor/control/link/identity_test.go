package link

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Only the other role of the same authority is let in, whatever else a certificate says.
func TestRolesOfCertificates(t *testing.T) {
	a := authority(t)
	for role, other := range map[Role]Role{Coordinator: Agent, Agent: Coordinator} {
		i := identity(t, a, role, "n1")
		if err := i.Check(role, "n1"); err != nil {
			t.Errorf("%s: %v", role, err)
		}
		want := "the certificate is no " + string(other)
		if err := i.Check(other, "n1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is the %s: %v", role, other, err)
		}
	}
	odd := identity(t, a, Agent, "rack 3:nöde%2F@x")
	if err := odd.Check(Agent, "rack 3:nöde%2F@x"); err != nil {
		t.Error(err)
	}
	if err := odd.Check(Agent, "rack 3"); err == nil {
		t.Error("a node of another name")
	}
	for _, name := range []string{"", "a/b", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 251)} {
		if _, err := a.Issue(Agent, name, time.Hour); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	if _, err := a.Issue(Coordinator, AnyNode, time.Hour); err == nil {
		t.Error("a coordinator of any name")
	}
	for _, life := range []time.Duration{0, -2 * clockSkew} {
		_, err := NewAuthority("x", life)
		if _, err2 := a.Issue(Agent, "n", life-clockSkew); err == nil || err2 == nil {
			t.Errorf("a life of %s is given", life)
		}
	}
}

// Hosts whose clocks are hours apart, or are set while a session runs, accept each other's certificates.
func TestCertificatesOfHostsWithOtherClocks(t *testing.T) {
	for _, off := range []time.Duration{-23 * time.Hour, -time.Hour, 0, 50 * time.Minute} {
		verifyAt(t, identity(t, authority(t), Agent, "n1"), off)
	}
}

// No certificate of a session begins or ends while the session runs, wherever its clock is set.
func TestCertificatesOfSessionsAreAlwaysValid(t *testing.T) {
	a, err := NewAuthority("session", Always)
	if err != nil {
		t.Fatal(err)
	}
	i, err := a.Issue(Agent, "n1", Always)
	if err != nil {
		t.Fatal(err)
	}
	const year = 365 * 24 * time.Hour
	for _, off := range []time.Duration{-50 * year, -25 * time.Hour, 0, 31 * 24 * time.Hour, 100 * year} {
		verifyAt(t, i, off)
	}
}

// verifyAt verifies the certificate of an agent by a clock that is off.
func verifyAt(t *testing.T, i Identity, off time.Duration) {
	t.Helper()
	block, _ := pem.Decode(i.Certificate)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(i.CA)
	_, err = cert.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: time.Now().Add(off), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Errorf("a clock that is %v off: %v", off, err)
	}
}

// site is an authority that weir has not made: an intermediate one of RSA that signs keys of another
// curve, with names in other places.
type site struct {
	t         *testing.T
	root, sub *x509.Certificate
	rootKey   *rsa.PrivateKey
	subKey    *rsa.PrivateKey
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t}
	for _, key := range []**rsa.PrivateKey{&s.rootKey, &s.subKey} {
		var err error
		if *key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	ca := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
		}
	}
	s.root = s.sign(ca("root"), nil, s.rootKey.Public(), s.rootKey)
	s.sub = s.sign(ca("sub"), s.root, s.subKey.Public(), s.rootKey)
	return s
}

func (s *site) sign(template, parent *x509.Certificate, public any, key *rsa.PrivateKey) *x509.Certificate {
	s.t.Helper()
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		s.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		s.t.Fatal(err)
	}
	return cert
}

func (s *site) issue(name string, usage ...x509.ExtKeyUsage) Identity {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	cert := s.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a service", Organization: []string{"site"}},
		DNSNames: []string{"other.example", name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: usage,
	}, s.sub, key.Public(), s.subKey)
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	return Identity{
		CA:          slices.Concat([]byte("comment\n"), encodePEM(certificateBlock, s.root.Raw)),
		Certificate: slices.Concat(encodePEM(certificateBlock, cert.Raw), encodePEM(certificateBlock, s.sub.Raw)),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}
}

// Certificates of a site's own authority do as well as weir's, and its other certificates do not.
func TestCertificatesOfASite(t *testing.T) {
	s, both := newSite(t), []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	server := serve(t, func(o *ServerOptions) { o.Credentials = s.issue(CoordinatorName, both...).Fixed() }, limit)
	o := server.options(t, "gpu7.example")
	o.Credentials = s.issue("gpu7.example", both...).Fixed()
	dial(t, o)
	server.wait(t, "up gpu7.example i1")
	for want, i := range map[string]Identity{
		`"gpu8.example", and not for node "gpu7.example"`: s.issue("gpu8.example", both...),
		"refuses this agent's certificate":                s.issue("gpu7.example", x509.ExtKeyUsageServerAuth),
	} {
		o := server.options(t, "gpu7.example")
		o.Instance, o.Credentials = "i2", i.Fixed()
		if _, err := tryDial(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	pretender := s.issue("gpu8.example", both...) // a node that takes calls
	if _, err := NewServer(ServerOptions{
		Credentials: pretender.Fixed(), Take: func(string, Message) error { return nil },
	}); err == nil || !strings.Contains(err.Error(), CoordinatorName) {
		t.Errorf("a node is the coordinator: %v", err)
	}
}

// A certificate that is renewed takes effect with the next connection, on both sides.
func TestRenewedCertificates(t *testing.T) {
	first, second := authority(t), authority(t)
	var current atomic.Pointer[Authority]
	current.Store(first)
	fresh := func(role Role, name string) Credentials {
		return func() (Identity, error) { return identity(t, current.Load(), role, name), nil }
	}
	s := serve(t, func(o *ServerOptions) { o.Credentials = fresh(Coordinator, "main") }, limit)
	for i, a := range []*Authority{first, second} {
		current.Store(a)
		o := s.options(t, "n1")
		o.Instance, o.Credentials = string(rune('a'+i)), fresh(Agent, "n1")
		l, err := tryDial(t, o)
		if err != nil {
			t.Fatalf("authority %d: %v", i, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

func TestFilesOfAnAuthority(t *testing.T) {
	a, dir := authority(t), filepath.Join(t.TempDir(), "new", "dir")
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(dir, "ca.key"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v, %v", st.Mode(), err)
	}
	back, err := LoadAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := authority(t).Save(dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("another authority is put in its place: %v", err)
	}
	again, err := LoadAuthority(dir)
	if err != nil || string(again.pem) != string(a.pem) {
		t.Errorf("refusing to overwrite has changed something: %v", err)
	}
	made := identity(t, back, Agent, "n1")
	if err := made.Save(dir, "n1"); err != nil {
		t.Fatal(err)
	}
	i, err := FilesIn(dir, "n1").Load()
	if err != nil || i.Check(Agent, "n1") != nil || string(i.Key) != string(made.Key) {
		t.Errorf("the node is read as another: %v", err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o666, 0o610} {
		if err := os.Chmod(filepath.Join(dir, "ca.key"), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAuthority(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key of mode %#o is used: %v", mode, err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "ca.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "x", string(made.Key)} {
		if err := os.WriteFile(filepath.Join(dir, "ca.key"), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAuthority(dir); err == nil {
			t.Errorf("%.20q is taken for the authority's key", damage)
		}
	}
	if _, err := LoadAuthority(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no authority: %v", err)
	}
}

// A pair is saved whole or not at all: half of one would be in the way.
func TestNoHalfOfAPairIsLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := authority(t).Save(dir); !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ca.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key was left: %v", err)
	}
}

// No secret shows in what is printed of a refusal.
func TestErrorsShowNoSecret(t *testing.T) {
	i := identity(t, authority(t), Agent, "n")
	secret := strings.Split(string(i.Key), "\n")[1]
	i.Key = []byte(strings.Replace(string(i.Key), secret[:8], "AAAAAAAA", 1))
	if err := i.Check(Agent, "n"); err == nil || strings.Contains(err.Error(), secret[20:40]) {
		t.Errorf("%v", err)
	}
}
