package trust

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func request(t *testing.T, node string) (key, csr []byte) {
	t.Helper()
	key, csr, err := NewRequest(node)
	if err != nil {
		t.Fatal(err)
	}
	return key, csr
}

func TestAJoinTokenMakesAnAgent(t *testing.T) {
	a := authority(t)
	for _, node := range []string{"", "node 1"} {
		text := must(a.Token(time.Hour, node))
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q is not one printable line", text)
		}
		token, err := ReadToken(" " + text + "\r\n")
		if err != nil || token.Node != node || string(token.CA) != string(a.Certificate()) ||
			time.Until(token.Expires) > time.Hour || time.Until(token.Expires) < 59*time.Minute {
			t.Fatalf("read as %+v, %v", token, err)
		}
		key, csr := request(t, "node 1")
		for range 2 { // a node that has lost the answer asks again
			cert, err := a.Enrol(text, csr, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			i := Identity{CA: token.CA, Certificate: cert, Key: key}
			if role, name, err := i.Role(); role != Agent || name != "node 1" || err != nil {
				t.Errorf("%s %q %v", role, name, err)
			}
			role, name, atServer, atClient := shake(t, config(t, issued(t, a, Coordinator, "c"), Agent),
				config(t, i, Coordinator))
			if role != Agent || name != "node 1" || atServer != nil || atClient != nil {
				t.Errorf("%s %q, %v, %v", role, name, atServer, atClient)
			}
		}
	}
}

// customRequest is a request that NewRequest would not make.
func customRequest(t *testing.T, key any, uris ...*url.URL) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: uris}, key)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM(requestBlock, der)
}

func TestEnrollingIsRefused(t *testing.T) {
	a, now := authority(t), time.Now()
	any, one, foreign := must(a.Token(time.Hour, "")), must(a.Token(time.Hour, "node1")),
		must(authority(t).Token(time.Hour, ""))
	text, csr := request(t, "node2")
	key, err := parseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(string(csr))
	der, err := decodePEM(requestBlock, damaged)
	if err != nil {
		t.Fatal(err)
	}
	der[len(der)-1] ^= 1
	agent := roleURI(Agent, "node2")
	for what, c := range map[string]struct {
		token string
		csr   []byte
		now   time.Time
		want  string
	}{
		"expired":               {any, csr, now.Add(61 * time.Minute), "expired at"},
		"replayed later":        {one, csr, now.Add(24 * time.Hour), "expired at"},
		"of another authority":  {foreign, csr, now, "another authority's"},
		"for another node":      {one, csr, now, `is for node "node1", not for "node2"`},
		"no token":              {"", csr, now, "begins with weir-join-1."},
		"no request":            {any, nil, now, "CERTIFICATE REQUEST"},
		"not signed by its key": {any, encodePEM(requestBlock, der), now, ""},

		"as coordinator": {any, customRequest(t, key, roleURI(Coordinator, "x")), now,
			`makes nobody the coordinator "x"`},
		"as any node": {any, customRequest(t, key, roleURI(Agent, AnyNode)), now, `makes nobody the agent "*"`},
		"as several":  {any, customRequest(t, key, agent, roleURI(Agent, "node3")), now, "names 2 roles"},
		"as nobody":   {any, customRequest(t, key), now, "names 0 roles"},
		"of another scheme": {any, customRequest(t, key, &url.URL{Scheme: "spiffe", Host: "x", Path: "/agent/n"}),
			now, "no role of weir"},
		"written another way": {any, customRequest(t, key, &url.URL{Scheme: "weir", Opaque: "agent/%6eode2"}), now,
			"no role of weir"},
		"with a host": {any, customRequest(t, key, &url.URL{Scheme: "weir", Host: "agent", Path: "/node2"}),
			now, "no role of weir"},
		"with a key of RSA": {any, customRequest(t, weak, agent), now, "ECDSA over P-256"},
	} {
		if cert, err := a.Enrol(c.token, c.csr, c.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: gives %.40q, %v, want %q", what, cert, err, c.want)
		}
	}
	if _, err := a.Enrol(one, mustRequest(t, "node1"), now); err != nil {
		t.Errorf("the node that the token is for: %v", err)
	}
}

func mustRequest(t *testing.T, node string) []byte {
	_, csr := request(t, node)
	return csr
}

func TestTokensThatCannotBeMade(t *testing.T) {
	a := authority(t)
	for _, ttl := range []time.Duration{0, -time.Hour, 25 * time.Hour} {
		if _, err := a.Token(ttl, ""); err == nil {
			t.Errorf("a token of %s", ttl)
		}
	}
	for _, node := range []string{"*", "a/b", "\n"} {
		if _, err := a.Token(time.Hour, node); err == nil {
			t.Errorf("a token for node %q", node)
		}
		if _, _, err := NewRequest(node); err == nil {
			t.Errorf("a request of node %q", node)
		}
	}
}

// What was changed on its way is no token, whatever was changed.
func TestDamagedTokens(t *testing.T) {
	text := must(authority(t).Token(time.Hour, "n"))
	for d := range damages([]byte(text)) {
		if token, err := ReadToken(string(d)); err == nil {
			t.Errorf("%s is read as %+v", d, token)
		}
	}
	for _, longer := range []string{
		text + "A", text + "=", text[:40] + "\n" + text[40:], text + " " + text, strings.Repeat(text, 30),
	} {
		if _, err := ReadToken(longer); err == nil {
			t.Errorf("%s is read", longer)
		}
	}
}

func FuzzReadToken(f *testing.F) {
	a := authority(f)
	good := must(a.Token(time.Hour, "n"))
	want, err := ReadToken(good)
	if err != nil {
		f.Fatal(err)
	}
	_, csr, err := NewRequest("n")
	if err != nil {
		f.Fatal(err)
	}
	seedEdits(f)
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		text := string(edit([]byte(good), at, remove, insert))
		_, err := a.Enrol(text, csr, time.Now())
		if same := strings.TrimSpace(text) == good; (err == nil) != same {
			t.Errorf("%q enrols: %v", text, err)
		}
		// by itself a token of anybody's authority can be read; then it says who made it
		if got, err := ReadToken(text); err == nil && string(got.CA) == string(want.CA) && !cmp.Equal(got, want) {
			t.Errorf("%q is read as %+v", text, got)
		}
	})
}

func FuzzEnrol(f *testing.F) {
	a := authority(f)
	text := must(a.Token(time.Hour, "n"))
	_, csr, err := NewRequest("n")
	if err != nil {
		f.Fatal(err)
	}
	seedEdits(f)
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		csr := edit(csr, at, remove, insert)
		answer, err := a.Enrol(text, csr, time.Now())
		if err != nil {
			return
		}
		cert, err := parseCertificate(answer)
		if err != nil {
			t.Fatal(err)
		}
		if name, err := verify(a.cert, cert, Agent, time.Now()); err != nil || name != "n" || cert.IsCA {
			t.Errorf("%q enrols as %q: %v", csr, name, err)
		}
	})
}
