package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/cmd/weir/serve"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/history"
)

const servedScenario = `scenario: served
runs:
  a:
    workload: transfer
    options: {fabric: sim, ranks: 2, block_size: 64KiB, iterations: 50}
    launches: 3
    assert: [bandwidth >= 1 GB/s]
`

// servedSessions runs a scenario twice, and leaves a third session as one that is running.
func servedSessions(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	scenario := filepath.Join(t.TempDir(), "served.yaml")
	if err := os.WriteFile(scenario, []byte(servedScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second", "third"} {
		var out bytes.Buffer
		args := []string{"run", scenario, "--quiet", "--out", filepath.Join(dir, name)}
		if code := execute(args, &out, &out); code != 0 {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
	}
	if err := os.Remove(filepath.Join(dir, "third", "results.json")); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(dir, "third", ledger.EventsName)
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	cut := len(lines) / 2
	half := append(bytes.Join(lines[:cut], nil), lines[cut][:5]...) // a line is being written
	if err := os.WriteFile(events, half, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func servedBy(t *testing.T, dir string) *serve.Server {
	t.Helper()
	s, err := serve.Start(history.Store{Dir: dir}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestServe(t *testing.T) {
	s := servedBy(t, servedSessions(t))
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	get := func(address string) (int, string) {
		t.Helper()
		r, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	home, _, _ := strings.Cut(s.Address(""), "?")
	if code, _ := get(home); code != http.StatusForbidden {
		t.Errorf("without the token: status %d", code)
	}
	if code, text := get(s.Address("")); code != 200 || !strings.Contains(text, "session?file=first%2Fresults.json") ||
		!strings.Contains(text, "running?session=third") {
		t.Errorf("the list has status %d:\n%s", code, text)
	}
	both := "session=first%2Fresults.json&session=second%2Fresults.json"
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"session?file=first%2Fresults.json":             {200, "all sessions"},
		"session?file=..%2Fplan.json":                   {404, "there is no session"},
		"session?file=third%2Fresults.json":             {404, "there is no session"},
		"running?session=third":                         {200, `data-refresh="2"`},
		"running?session=..":                            {404, "there is no session"},
		"series?scenario=served":                        {200, "trend?case=a&amp;metric=bandwidth"},
		"series?scenario=other":                         {404, "no session of scenario"},
		"trend?scenario=served&case=a&metric=none":      {404, "none"},
		"trend?scenario=served&case=a&metric=bandwidth": {200, `href="./">all sessions`},
		"compare?session=first%2Fresults.json":          {400, "pick 2 to 8 sessions, and 1 are picked"},
		"compare?" + both:                               {200, `href="./">all sessions`},
		"compare?" + both + "&" + both:                  {200, "A is first/results.json, B is "},
		"compare?" + strings.Repeat(both+"&", 5):        {400, `href="./">all sessions`},
	} {
		if code, text := get(home + path); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s has status %d:\n%.300s", path, code, text)
		}
	}
	// a page of another site whose name resolves to this address
	r, _ := http.NewRequest(http.MethodGet, home, nil)
	r.Host = "evil.example"
	at, _ := url.Parse(home)
	for _, c := range jar.Cookies(at) {
		r.AddCookie(c)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("under another name: status %d", answer.StatusCode)
	}
}

// A running session shows its cases so far; once it has results, its page leads to its report.
func TestServeRunningSession(t *testing.T) {
	dir := servedSessions(t)
	s := servedBy(t, dir)
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	read := func() (string, string) {
		t.Helper()
		r, err := browser.Get(s.Address("third"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.Request.URL.Path, string(b)
	}
	if path, text := read(); path != "/running" || !strings.Contains(text, "of 3 launches") ||
		!strings.Contains(text, "bandwidth ") {
		t.Errorf("%s:\n%.500s", path, text)
	}
	text, err := os.ReadFile(filepath.Join(dir, "first", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "first")); err != nil { // a session is listed once
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "third", "results.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if path, _ := read(); path != "/session" {
		t.Errorf("with results it is at %s", path)
	}
}

func TestServeAddresses(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "192.0.2.1:80", "localhost:80", "127.0.0.1"} {
		if s, err := serve.Start(history.Store{Dir: t.TempDir()}, listen); err == nil {
			t.Errorf("%s is served", listen)
			_ = s.Close()
		}
	}
}

// One browser may have the pages of several servers open: their cookies differ, though their address is the same.
func TestServersDoNotTakeEachOthersCookie(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	first, second := servedBy(t, t.TempDir()), servedBy(t, t.TempDir())
	base, _, _ := strings.Cut(first.Address(""), "?")
	for _, address := range []string{first.Address(""), second.Address(""), base} {
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address, answer.Status)
		}
	}
}
