package launcher

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/control/link"
)

func issued(t testing.TB, role link.Role, name string) link.Identity {
	t.Helper()
	a, err := link.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	i, err := a.Issue(role, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func bootstrap(t testing.TB) Bootstrap {
	return Bootstrap{
		Session: "20261121-101500-x-3f9a", Node: "node1", Identity: issued(t, link.Agent, "node1"),
		Coordinator: []string{"10.0.0.1:7000", "[fe80::1%eth0]:7000", "login.example:7000"},
	}
}

func TestBootstrapsComeBack(t *testing.T) {
	b := bootstrap(t)
	stdio, shared := b, b
	stdio.Coordinator = []string{Stdio}
	shared.Identity, shared.Node = issued(t, link.Agent, link.AnyNode), ""
	for _, want := range []Bootstrap{b, stdio, shared} {
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\n") != 1 {
			t.Errorf("%q is not one line", text)
		}
		got, err := DecodeBootstrap(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
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
		"after the document": string(whole) + "{}",
		"unknown field":      strings.Replace(string(whole), `"session"`, `"sesion"`, 1),
		"are allowed":        string(whole) + strings.Repeat(" ", MaxBootstrap),
	} {
		if _, err := DecodeBootstrap([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	other := issued(t, link.Agent, "node1")
	for want, change := range map[string]func(*Bootstrap){
		"session: name":      func(b *Bootstrap) { b.Session = "" },
		"node: name":         func(b *Bootstrap) { b.Node = "a/b" },
		`and the node is "n`: func(b *Bootstrap) { b.Node = "node2" },
		`the node is "*"`:    func(b *Bootstrap) { b.Node = "" },
		"unknown authority":  func(b *Bootstrap) { b.Identity.CA = other.CA },
		"no agent's":         func(b *Bootstrap) { b.Identity = issued(t, link.Coordinator, "node1") },
		"0 addresses":        func(b *Bootstrap) { b.Coordinator = nil },
		"65 addresses":       func(b *Bootstrap) { b.Coordinator = make([]string, 65) },
		`address "nowhere"`:  func(b *Bootstrap) { b.Coordinator = []string{"nowhere"} },
		`address ":80"`:      func(b *Bootstrap) { b.Coordinator = []string{":80"} },
		`address "a\nb:80"`:  func(b *Bootstrap) { b.Coordinator = []string{"a\nb:80"} },
		`address "stdio"`:    func(b *Bootstrap) { b.Coordinator = []string{Stdio, "a:80"} },
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
	f.Add(uint16(0), uint16(0), []byte{})
	f.Add(uint16(20), uint16(3), []byte(`"x`))
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		from := min(int(at), len(whole))
		to := min(from+int(remove), len(whole))
		text := bytes.Join([][]byte{whole[:from], insert, whole[to:]}, nil)
		b, err := DecodeBootstrap(text)
		if err != nil {
			return
		}
		again, err := b.Encode()
		if err != nil {
			t.Fatalf("what is read cannot be written: %v", err)
		}
		if back, err := DecodeBootstrap(again); err != nil || !cmp.Equal(back, b) {
			t.Errorf("%s comes back as another: %v", text, err)
		}
	})
}
