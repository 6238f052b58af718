package launcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "hosts")
	if err := os.WriteFile(file, []byte("# the rack\na1 a2\nroot@b[08-10] # with a user\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"a":                   "a",
		"a, b,c":              "a b c",
		"a[1-4,7]":            "a1 a2 a3 a4 a7",
		"n[08-11].example":    "n08.example n09.example n10.example n11.example",
		"r[1-2]n[01,3]":       "r1n01 r1n3 r2n01 r2n3",
		"u@h[1-2],fe80::1%lo": "u@h1 u@h2 fe80::1%lo",
		"c,@" + file:          "c a1 a2 root@b08 root@b09 root@b10",
		"x[1-2][3-4]":         "x13 x14 x23 x24",
	} {
		got, err := Hosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q (%v), want %s", list, got, err, want)
		}
	}
}

func TestHostsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	nested := filepath.Join(dir, "nested")
	if err := os.WriteFile(nested, []byte("a\n@b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"":                       "names no host",
		"a,b,a":                  "a is named twice",
		"a[1-2],a1":              "a1 is named twice",
		"a[1-4":                  "brackets do not match",
		"a1]":                    "brackets do not match",
		"a[[1]]":                 "brackets do not match",
		"a[]":                    "must be a number",
		"a[1-]":                  "must be a number",
		"a[1-2-3]":               "must be a number",
		"a[4-1]":                 "goes backwards",
		"a[1-999999999]":         "more than 10000",
		"a[1-200][1-200]":        "more than 10000",
		"-oProxyCommand=x":       "is no host",
		"a;b":                    "is no host",
		"$(b)":                   "is no host",
		"a@":                     "is no host",
		"h:22":                   "a port goes into",
		"@" + nested:             nested + ":2: a file of hosts names no further file",
		"@" + dir + "/not-there": "no such file",
	} {
		if got, err := Hosts(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", list, got, err, want)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"a[1-4,7],b", "r[1-2]n[01,3].x", "u@h,fe80::1", "a[[", "a[1-9999]b[1-9]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if strings.Contains(list, "@") {
			t.Skip("files are not what this is about")
		}
		hosts, err := Hosts(list)
		if err != nil {
			return
		}
		if len(hosts) == 0 || len(hosts) > maxHosts {
			t.Fatalf("%d hosts", len(hosts))
		}
		for _, h := range hosts {
			if checkHost(h) != nil {
				t.Fatalf("%q is no host", h)
			}
		}
		again, err := Hosts(strings.Join(hosts, ","))
		if err != nil || !slices.Equal(again, hosts) {
			t.Fatalf("%q read again is %q (%v)", hosts, again, err)
		}
	})
}
