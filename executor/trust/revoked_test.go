package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saved is an authority with a coordinator in a directory.
func saved(t *testing.T) (dir string, a *Authority) {
	t.Helper()
	dir, a = t.TempDir(), authority(t)
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := issued(t, a, Coordinator, "main").Save(dir, "coordinator"); err != nil {
		t.Fatal(err)
	}
	return dir, a
}

// known says whether the coordinator in a directory lets an agent in.
func known(t *testing.T, dir string, agent Identity) error {
	t.Helper()
	coordinator, err := LoadIdentity(dir, "coordinator")
	if err != nil {
		t.Fatal(err)
	}
	_, _, atServer, _ := shake(t, config(t, coordinator, Agent), config(t, agent, Coordinator))
	return atServer
}

// What a node has is of no use once it is revoked, and neither is any token that it may
// have read; other nodes stay, and it comes back with what is made later.
func TestARevokedNodeIsAStranger(t *testing.T) {
	dir, a := saved(t)
	bad, good := issued(t, a, Agent, "bad"), issued(t, a, Agent, "good")
	before := must(a.Token(time.Minute, ""))
	for _, i := range []Identity{bad, good} {
		if err := known(t, dir, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := Revoke(dir, []string{"bad"}, false, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := known(t, dir, bad); err == nil ||
		!strings.Contains(err.Error(), `the certificate of node "bad" was revoked at`) {
		t.Errorf("a revoked node: %v", err)
	}
	if err := known(t, dir, good); err != nil {
		t.Errorf("another node: %v", err)
	}
	a, err := LoadAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"bad", "good", "another"} {
		_, csr := request(t, node)
		if _, err := a.Enrol(before, csr, time.Now()); err == nil ||
			!strings.Contains(err.Error(), "was revoked with all that were made until") {
			t.Errorf("a token from before, as %s: %v", node, err)
		}
	}
	// later than what is revoked, by two seconds of a clock that is certificates'
	time.Sleep(2100 * time.Millisecond)
	key, csr := request(t, "bad")
	certificate, err := a.Enrol(must(a.Token(time.Minute, "bad")), csr, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := known(t, dir, Identity{CA: a.Certificate(), Certificate: certificate, Key: key}); err != nil {
		t.Errorf("a node that has joined again: %v", err)
	}
}

func TestWhatIsRevoked(t *testing.T) {
	dir, a := saved(t)
	token := must(a.Token(time.Minute, ""))
	if err := Revoke(dir, []string{"a b", "c"}, true, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := Revoke(dir, []string{"d"}, true, time.Now()); err != nil {
		t.Fatal(err)
	}
	a, err := LoadAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.revoked.nodes) != 3 || a.revoked.nodes["a b"].IsZero() {
		t.Errorf("%+v", a.revoked)
	}
	_, csr := request(t, "e")
	if _, err := a.Enrol(token, csr, time.Now()); err != nil {
		t.Errorf("a token that was kept: %v", err)
	}
	if err := Revoke(dir, []string{"x\ny"}, true, time.Now()); err == nil {
		t.Error("a name of two lines is taken")
	}
	// of a token without a time nobody knows that it is new
	if err := (revoked{tokens: time.Now()}).token(Token{ID: "0011223344556677"}); err == nil {
		t.Error("a token that does not say when it was made holds")
	}
	for text, want := range map[string]string{
		"2026-01-01T00:00:00Z node n\nnonsense":   "line 2: a line is",
		"2026-01-01T00:00:00Z node ":              "line 1: name",
		"2026-01-01 node n":                       "line 1: a line is",
		"2026-01-01T00:00:00Z nodes n":            "line 1: a line is",
		"2026-01-01T00:00:00Z tokens all":         "line 1: a line is",
		"#" + strings.Repeat("x", mostRevoked):    "longer than",
		"# a remark\n\n2026-01-01T00:00:00Z node": "line 3: name",
	} {
		if err := os.WriteFile(filepath.Join(dir, revokedName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, atAuthority := LoadAuthority(dir)
		_, atIdentity := LoadIdentity(dir, "coordinator")
		for _, err := range []error{atAuthority, atIdentity, Revoke(dir, []string{"n"}, true, time.Now())} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: %v, want %q", text, err, want)
			}
		}
	}
}

// What is understood says what its lines do, and nothing is lost when it is written again.
func FuzzRevoked(f *testing.F) {
	f.Add([]byte("# remark\n\n2026-01-01T00:00:00.5Z node a b\n2026-01-01T00:00:00Z tokens\n"))
	f.Add([]byte("2026-01-01T00:00:00Z node a\n2026-01-02T00:00:00+02:00 node a"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRevoked(text)
		if err != nil {
			return
		}
		again := ""
		for name, at := range r.nodes {
			again += at.Format(time.RFC3339Nano) + " node " + name + "\n"
		}
		same, err := parseRevoked([]byte(again))
		if err != nil || len(same.nodes) != len(r.nodes) {
			t.Fatalf("%q: %v", again, err)
		}
		for name, at := range r.nodes {
			if !same.nodes[name].Equal(at) {
				t.Errorf("%s: %v, was %v", name, same.nodes[name], at)
			}
		}
	})
}
