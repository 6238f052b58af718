package trust

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func authority(t testing.TB) *Authority {
	t.Helper()
	a, err := NewAuthority("test", 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issued(t testing.TB, a *Authority, role Role, name string) Identity {
	t.Helper()
	i, err := a.Issue(role, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// expired is an identity that was one until a minute ago.
func expired(t testing.TB, a *Authority, role Role, name string) Identity {
	t.Helper()
	i, err := a.issue(role, name, time.Now().Add(-30*time.Minute), time.Now().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func sockets(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// shake connects two sides and gives what each says of it, and whom the server saw.
func shake(t *testing.T, server, client *tls.Config) (role Role, name string, atServer, atClient error) {
	t.Helper()
	here, there := sockets(t) // not net.Pipe: both sides may write at once
	defer here.Close()
	defer there.Close()
	deadline := time.Now().Add(20 * time.Second)
	_ = here.SetDeadline(deadline)
	_ = there.SetDeadline(deadline)
	s, c := tls.Server(here, server), tls.Client(there, client)
	done := make(chan error, 1)
	go func() {
		err := c.Handshake()
		if err == nil { // with TLS 1.3 only what the server answers tells whether it took our certificate
			_, err = c.Read(make([]byte, 1))
		}
		if err != nil {
			there.Close()
		}
		done <- err
	}()
	if atServer = s.Handshake(); atServer == nil {
		if len(s.ConnectionState().PeerCertificates) > 0 {
			var err error
			if role, name, err = PeerName(s.ConnectionState()); err != nil {
				t.Fatal(err)
			}
		}
		_, atServer = s.Write([]byte{1})
	} else {
		here.Close()
	}
	return role, name, atServer, <-done
}

func config(t *testing.T, i Identity, peer Role) *tls.Config {
	t.Helper()
	c, err := i.TLS(peer)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnlyTheRightPeersConnect(t *testing.T) {
	ours, theirs := authority(t), authority(t)
	coordinator := issued(t, ours, Coordinator, "main")
	node := issued(t, ours, Agent, "node1")
	for what, c := range map[string]struct {
		server, client         Identity
		atServer, atClient     string // in the error; "": none
		serverPeer, clientPeer Role
	}{
		"both are who they must be":  {server: coordinator, client: node},
		"a shared certificate":       {server: coordinator, client: issued(t, ours, Agent, AnyNode)},
		"a name with odd characters": {server: coordinator, client: issued(t, ours, Agent, "rack 3:nöde%2F@x")},
		"agent of another authority": {
			server: coordinator, client: swapCA(issued(t, theirs, Agent, "node1"), node), atServer: "unknown authority",
		},
		"coordinator of another authority": {
			server: swapCA(issued(t, theirs, Coordinator, "main"), coordinator), client: node,
			atClient: "unknown authority",
		},

		"agent's certificate has expired": {
			server: coordinator, client: expired(t, ours, Agent, "node1"), atServer: "expired",
		},
		"coordinator's has expired": {server: expired(t, ours, Coordinator, "main"), client: node, atClient: "expired"},
		"an agent as coordinator": {
			server: issued(t, ours, Agent, "main"), client: node, atClient: "incompatible key usage",
		},
		"a coordinator as agent": {
			server: coordinator, client: issued(t, ours, Coordinator, "node1"), atServer: "incompatible key usage",
		},
	} {
		t.Run(what, func(t *testing.T) {
			server, client := rawConfig(t, c.server, coordinator, Agent), rawConfig(t, c.client, node, Coordinator)
			role, _, atServer, atClient := shake(t, server, client)
			for side, got := range map[string]error{c.atServer: atServer, c.atClient: atClient} {
				if side != "" && (got == nil || !strings.Contains(got.Error(), side)) {
					t.Errorf("server: %v, client: %v, want %q", atServer, atClient, side)
				}
			}
			for side, got := range map[string]error{c.atServer: atServer, c.atClient: atClient} {
				if _, ok := errors.AsType[*PeerError](got); side != "" && !ok {
					t.Errorf("%v does not say that it is about the peer", got)
				}
			}
			if refused := c.atServer+c.atClient != ""; refused && (atServer == nil || atClient == nil) {
				t.Errorf("one side goes on: server %v, client %v", atServer, atClient)
			} else if !refused && (atServer != nil || atClient != nil || role != Agent) {
				t.Errorf("server: %v, client: %v, role %q", atServer, atClient, role)
			}
		})
	}
}

// swapCA is the identity of one authority that believes another.
func swapCA(i, believes Identity) Identity { i.CA = believes.CA; return i }

// rawConfig is what TLS makes of an identity, also of one that TLS would find out to
// be wrong itself: an attacker's own program does not check.
func rawConfig(t *testing.T, i, good Identity, peer Role) *tls.Config {
	t.Helper()
	c := config(t, good, peer)
	pair, err := tls.X509KeyPair(i.Certificate, i.Key)
	if err != nil {
		t.Fatal(err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c
}

// Not even the first bytes of an older protocol, or of a peer with no certificate, are
// answered with more than an alert.
func TestNoOlderTLSAndNoStrangers(t *testing.T) {
	a := authority(t)
	server := config(t, issued(t, a, Coordinator, "main"), Agent)
	old := config(t, issued(t, a, Agent, "n"), Coordinator)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if _, _, atServer, atClient := shake(t, server, old); atServer == nil || atClient == nil {
		t.Error("TLS 1.2 is spoken")
	}
	token, err := ReadToken(must(a.Token(time.Hour, "")))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := token.TLS()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, atServer, atClient := shake(t, server, stranger); atServer == nil || atClient == nil {
		t.Error("who shows no certificate is let in")
	}
	server.ClientAuth, server.VerifyConnection = tls.NoClientCert, nil
	if _, _, atServer, atClient := shake(t, server, stranger); atServer != nil || atClient != nil {
		t.Errorf("who has a token does not get as far as enrolling: %v, %v", atServer, atClient)
	}
	other := config(t, issued(t, authority(t), Coordinator, "main"), Agent)
	other.ClientAuth = tls.NoClientCert
	if _, _, _, atClient := shake(t, other, stranger); atClient == nil {
		t.Error("a token is shown to the coordinator of another authority")
	}
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// The parts of an identity must fit together, and names be such that nothing else can
// be read from them.
func TestIdentitiesThatAreNone(t *testing.T) {
	a, b := authority(t), authority(t)
	good, other := issued(t, a, Agent, "n"), issued(t, b, Agent, "n")
	for want, i := range map[string]Identity{
		"not that of the certificate": {CA: good.CA, Certificate: good.Certificate, Key: other.Key},

		"not of this authority": {CA: other.CA, Certificate: good.Certificate, Key: good.Key},

		"no authority's": {CA: good.Certificate, Certificate: good.Certificate, Key: good.Key},
		"one PEM block":  {CA: good.CA, Certificate: append([]byte("hello\n"), good.Certificate...), Key: good.Key},
		"nothing else": {
			CA: good.CA, Certificate: append(good.Certificate[:len(good.Certificate):len(good.Certificate)],
				good.CA...), Key: good.Key,
		},
		"bytes of PEM":  {CA: good.CA, Certificate: make([]byte, maxPEM+1), Key: good.Key},
		"reading a key": {CA: good.CA, Certificate: good.Certificate, Key: good.Certificate},
	} {
		if _, _, err := i.Role(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := i.TLS(Coordinator); err == nil {
			t.Errorf("TLS takes an identity that is none: %s", want)
		}
	}
	for _, name := range []string{"", "*x/y", "a/b", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 251)} {
		if _, err := a.Issue(Agent, name, time.Hour); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	if _, err := a.Issue(Coordinator, AnyNode, time.Hour); err == nil {
		t.Error("a coordinator of any name")
	}
	if _, err := a.Issue("root", "x", time.Hour); err == nil {
		t.Error("a role that there is not")
	}
	for _, life := range []time.Duration{0, -time.Second} {
		_, err := a.Issue(Agent, "n", life)
		_, err2 := NewAuthority("x", life)
		if err == nil || err2 == nil {
			t.Errorf("a life of %s is given", life)
		}
	}
	if role, name, err := good.Role(); role != Agent || name != "n" || err != nil {
		t.Errorf("%s %q %v", role, name, err)
	}
	i, err := a.Issue(Agent, "n", 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err := parseCertificate(i.Certificate); err != nil || cert.NotAfter.After(a.cert.NotAfter) {
		t.Errorf("a certificate outlives its authority: %v", err)
	}
}

func TestFilesOfAnAuthority(t *testing.T) {
	a, dir := authority(t), t.TempDir()+"/new/dir"
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir + "/ca.key")
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
	who := issued(t, back, Coordinator, "main")
	if err := who.Save(dir, "coordinator"); err != nil {
		t.Fatal(err)
	}
	if i, err := LoadIdentity(dir, "coordinator"); err != nil || string(i.Key) != string(who.Key) {
		t.Errorf("the coordinator is read as another: %v", err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o666, 0o610} {
		if err := os.Chmod(dir+"/ca.key", mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAuthority(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key of mode %#o is used: %v", mode, err)
		}
	}
	if err := os.Chmod(dir+"/ca.key", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "x", string(who.Key)} {
		if err := os.WriteFile(dir+"/ca.key", []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAuthority(dir); err == nil {
			t.Errorf("%.20q is taken for the authority's key", damage)
		}
	}
	if err := authority(t).Save(dir + "/ca.pem"); err == nil {
		t.Error("saved below a file")
	}
}

// A pair is saved whole or not at all: half of one would be in the way.
func TestNoHalfOfAPairIsLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/ca.pem", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := authority(t).Save(dir); !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/ca.key"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key was left: %v", err)
	}
}

// No secret shows in what is printed of a refusal.
func TestErrorsShowNoSecret(t *testing.T) {
	a := authority(t)
	i := issued(t, a, Agent, "n")
	secret := strings.Split(string(i.Key), "\n")[1]
	damaged := Identity{
		CA: i.CA, Certificate: i.Certificate, Key: []byte(strings.Replace(string(i.Key), secret[:8], "AAAAAAAA", 1)),
	}
	_, _, err := damaged.Role()
	if err == nil || strings.Contains(fmt.Sprint(err), secret[20:40]) {
		t.Errorf("%v", err)
	}
	token := must(a.Token(time.Hour, ""))
	_, err = ReadToken(token[:len(token)-4])
	if err == nil || strings.Contains(err.Error(), token[20:40]) {
		t.Errorf("%v", err)
	}
}
