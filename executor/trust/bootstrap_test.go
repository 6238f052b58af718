package trust

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func bootstrap(t testing.TB) Bootstrap {
	s, err := NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	a := authority(t)
	return Bootstrap{
		Session: "20261121-101500-x-3f9a", Node: "node1", Identity: issued(t, a, Agent, "node1"),
		Coordinator: []string{"10.0.0.1:7000", "[fe80::1%eth0]:7000", "login.example:7000"}, SessionKey: s.Public(),
		Etcd: &EtcdAccess{
			Endpoints: []string{"https://10.0.0.2:2379"}, Prefix: "/weir/v1/", User: "u", Password: "p",
			CA: a.Certificate(),
		},
	}
}

func TestBootstrapsComeBack(t *testing.T) {
	b := bootstrap(t)
	stdio, shared := b, b
	stdio.Coordinator, stdio.Etcd = []string{Stdio}, nil
	shared.Identity, shared.Node = issued(t, authority(t), Agent, AnyNode), ""
	for _, want := range []Bootstrap{b, stdio, shared} {
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\n") != 1 {
			t.Errorf("%q is not one line", text)
		}
		got, err := DecodeBootstrap(text)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Identity{})); diff != "" || err != nil {
			t.Errorf("%s%v", diff, err)
		}
	}
}

func TestBootstrapsThatAreNone(t *testing.T) {
	whole, err := bootstrap(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 2 { // the line's end and the brace before it
		if _, err := DecodeBootstrap(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
	}
	for want, text := range map[string]string{
		"behind the document": string(whole) + "{}",
		"unknown field":       strings.Replace(string(whole), `"session"`, `"sesion"`, 1),
		"are the most":        string(whole) + strings.Repeat(" ", MaxBootstrap),
	} {
		if _, err := DecodeBootstrap([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	other := authority(t)
	for want, change := range map[string]func(*Bootstrap){
		"session: name":              func(b *Bootstrap) { b.Session = "" },
		"node: name":                 func(b *Bootstrap) { b.Node = "a/b" },
		`is node "node1"'s`:          func(b *Bootstrap) { b.Node = "node2" },
		`"node1"'s, and the`:         func(b *Bootstrap) { b.Node = "" },
		"not of this authority":      func(b *Bootstrap) { b.Identity.CA = other.Certificate() },
		"must be an agent's":         func(b *Bootstrap) { b.Identity = issued(t, other, Coordinator, "node1") },
		"session's key of 3":         func(b *Bootstrap) { b.SessionKey = []byte("abc") },
		"0 addresses":                func(b *Bootstrap) { b.Coordinator = nil },
		"65 addresses":               func(b *Bootstrap) { b.Coordinator = make([]string, 65) },
		`address "nowhere"`:          func(b *Bootstrap) { b.Coordinator = []string{"nowhere"} },
		`address ":80"`:              func(b *Bootstrap) { b.Coordinator = []string{":80"} },
		`address "a\nb:80"`:          func(b *Bootstrap) { b.Coordinator = []string{"a\nb:80"} },
		`address "stdio"`:            func(b *Bootstrap) { b.Coordinator = []string{Stdio, "a:80"} },
		"0 endpoints":                func(b *Bootstrap) { b.Etcd.Endpoints = nil },
		`endpoint "http://a b"`:      func(b *Bootstrap) { b.Etcd.Endpoints = []string{"http://a b"} },
		"password has 4097 bytes":    func(b *Bootstrap) { b.Etcd.Password = strings.Repeat("x", 4097) },
		"certificate and its key co": func(b *Bootstrap) { b.Etcd.Certificate = []byte("x") },
	} {
		b := bootstrap(t)
		change(&b)
		if _, err := b.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzDecodeBootstrap(f *testing.F) {
	whole, err := bootstrap(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	seedEdits(f)
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		text := edit(whole, at, remove, insert)
		b, err := DecodeBootstrap(text)
		if err != nil {
			return
		}
		again, err := b.Encode()
		if err != nil {
			t.Fatalf("what is read cannot be written: %v", err)
		}
		if back, err := DecodeBootstrap(again); err != nil ||
			!cmp.Equal(back, b, cmpopts.IgnoreUnexported(Identity{})) {
			t.Errorf("%s comes back as another: %v", text, err)
		}
	})
}
