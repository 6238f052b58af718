package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// An etcd that requires client certificates refuses clients without one, with one of another authority, or
// with trust in another authority.
func TestCertificates(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	mine, other := lab.NewCertificates(t), lab.NewCertificates(t)
	certificate, key, ca := mine.Files(mine.Pair("127.0.0.1"))
	e := startEnsemble(t, 1, member{Certificate: certificate, Key: key, CA: ca})
	config := func(pool *x509.CertPool, pairs ...tls.Certificate) Config {
		return Config{
			Endpoints: []string{"https://" + e.members[0].Client}, TLS: &tls.Config{RootCAs: pool, Certificates: pairs},
		}
	}
	newPair(t, config(mine.Pool, mine.Pair("127.0.0.1")), "s").works("with certificates")
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"no certificate": {config(mine.Pool),
			"it requires a client certificate, and none was given: remote error: tls: certificate required"},
		"another's certificate": {config(mine.Pool, other.Pair("127.0.0.1")),
			"it refuses the client certificate: remote error: tls: unknown certificate authority"},

		"another authority": {config(other.Pool, mine.Pair("127.0.0.1")), "certificate signed by unknown authority"},
		"no encryption":     {at("http://" + e.members[0].Client), "no answer within 5s: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), test.config, "s")
			if err == nil {
				s.Close(false)
				t.Fatal("let in")
			}
			t.Log(err)
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("it does not say %q", test.want)
			}
		})
	}
}

// A user with rights for one prefix can use weir there, also after the auth token has expired, and nowhere
// else.
func TestUserWithAPrefix(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	e := startEnsemble(t, 1, member{TokenSeconds: 1})
	root, err := clientv3.New(clientv3.Config{Endpoints: e.config().Endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const prefix = "/team/weir/"
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := root.RoleAdd(ctx, "root"); return err },
		func(ctx context.Context) error { _, err := root.UserAdd(ctx, "root", "r"); return err },
		func(ctx context.Context) error { _, err := root.UserGrantRole(ctx, "root", "root"); return err },
		func(ctx context.Context) error { _, err := root.RoleAdd(ctx, "weir"); return err },
		func(ctx context.Context) error {
			_, err := root.RoleGrantPermission(ctx, "weir", prefix, clientv3.GetPrefixRangeEnd(prefix),
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func(ctx context.Context) error { _, err := root.UserAdd(ctx, "weir", "w"); return err },
		func(ctx context.Context) error { _, err := root.UserGrantRole(ctx, "weir", "weir"); return err },
		func(ctx context.Context) error { _, err := root.AuthEnable(ctx); return err },
	} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c := e.config()
	c.User, c.Password, c.Prefix = "weir", "w", strings.TrimSuffix(prefix, "/")
	p := newPair(t, c, "s")
	p.works("as a user")
	time.Sleep(3 * time.Second) // three times as long as a token lives
	p.works("with a token that has run out")
	d, err := OpenDirectory(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(false)
	if err := p.coordinator.Announce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Sessions(t.Context()); err != nil || len(all) != 1 || all[0].ID != "s" {
		t.Errorf("%+v, %v", all, err)
	}

	elsewhere := c
	elsewhere.Prefix = ""
	s, err := Open(t.Context(), elsewhere, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(false)
	began := time.Now()
	if err := s.Announce(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "permission denied") ||
		time.Since(began) > 5*time.Second {
		t.Errorf("outside of the prefix: %v after %v", err, time.Since(began))
	}
	c.Password = "wrong"
	if s, err := Open(t.Context(), c, "s"); err == nil || !strings.Contains(err.Error(), "authentication failed") {
		t.Errorf("a wrong password: %v", err)
		if err == nil {
			s.Close(false)
		}
	} else if strings.Contains(err.Error(), "wrong") {
		t.Errorf("the password is reported: %v", err)
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	for want, c := range map[string]Config{
		"no endpoint":                 {},
		"a user needs a password":     {Endpoints: []string{"x"}, User: "u"},
		"and a password needs a user": {Endpoints: []string{"x"}, Password: "p"},
		`prefix "//"`:                 {Endpoints: []string{"x"}, Prefix: "//"},
		`prefix "a\x00b"`:             {Endpoints: []string{"x"}, Prefix: "a\x00b"},
		"1 to 200 characters th":      {Endpoints: []string{"x"}, Prefix: strings.Repeat("p", 201)},
	} {
		if _, err := Open(t.Context(), c, "s"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	for _, name := range []string{"agents", "invites", "claims", "", "a/b"} {
		if _, err := Open(t.Context(), at("unix:///nowhere"), name); err == nil ||
			!strings.Contains(err.Error(), "session name") {
			t.Errorf("session %q: %v", name, err)
		}
	}
}
