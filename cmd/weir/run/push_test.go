package run

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// measured is a judged document with a case.
func measured(bandwidth float64) *results.Document {
	c := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK, Launches: []*results.Launch{{
		Status: results.OK, Verified: true, Nodes: []string{"n"},
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": bandwidth}),
	}}}
	doc := &results.Document{
		Schema: results.Schema, Scenario: results.Scenario{Name: "nightly"}, Cases: []*results.Case{c},
		Session: results.Session{ID: "s", Finished: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
	}
	gate.Judge(doc)
	return doc
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := pushURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The URL of a group has job and scenario, unless the user names a group.
func TestGroupOfAPush(t *testing.T) {
	for _, c := range []struct{ base, scenario, want string }{
		{"http://h:9091", "nightly", "http://h:9091/metrics/job/weir/scenario/nightly"},
		{"http://h:9091/", "nightly", "http://h:9091/metrics/job/weir/scenario/nightly"},
		{"https://h/prefix", "a b", "https://h/prefix/metrics/job/weir/scenario/a%20b"},
		{"http://h", "a/b", "http://h/metrics/job/weir/scenario@base64/YS9i"},
		{"http://h", "", "http://h/metrics/job/weir/scenario@base64/="},
		{"http://h/metrics/job/mine/host/n1", "nightly", "http://h/metrics/job/mine/host/n1"},
	} {
		if got := groupURL(parsed(t, c.base), c.scenario).String(); got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.base, c.scenario, got, c.want)
		}
	}
}

// Secrets of a URL are not shown: neither in messages nor in the arguments that a document has.
func TestSecretsOfAPushAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"http://me:sesame@h:9091/p":           "http://me:***@h:9091/p",
		"http://sesame@h":                     "http://***@h",
		"http://h/p?token=sesame&a=sesame#se": "http://h/p?a=***&token=***",
		"http://h/plain":                      "http://h/plain",
	} {
		if got := shownURL(parsed(t, text)); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"sesame", "ftp://sesame@h", "http://", "http://me:sesame@", "http://h:port-sesame/",
		"://sesame", "http://me:sesame%zz@h"} {
		if _, err := pushURL(text); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A push is one PUT of the metrics with the user and the password.
func TestPush(t *testing.T) {
	type received struct{ method, path, kind, user, password, body string }
	var got []received
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		user, password, _ := r.BasicAuth()
		got = append(got, received{r.Method, r.URL.Path, r.Header.Get("Content-Type"), user, password, string(body)})
	}))
	defer server.Close()
	to := groupURL(parsed(t, strings.Replace(server.URL, "http://", "http://me:sesame@", 1)), "nightly")
	if err := push(t.Context(), to, measured(12), false); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	one := got[0]
	if one.method != http.MethodPut || one.path != "/metrics/job/weir/scenario/nightly" || one.user != "me" ||
		one.password != "sesame" || !strings.HasPrefix(one.kind, "text/plain; version=0.0.4") {
		t.Errorf("the request is %+v", one)
	}
	if !strings.Contains(one.body, "\nweir_bandwidth_bytes_per_second{") {
		t.Errorf("it sends %s", one.body)
	}
}

// An answer that is no success, a redirect, nobody and silence are errors with their causes, without the secret.
func TestPushThatFails(t *testing.T) {
	old := pushTimeout
	pushTimeout = 300 * time.Millisecond
	defer func() { pushTimeout = old }()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/bad"):
			http.Error(w, "text format parsing error\x1b[2J in line 1\nmore", http.StatusBadRequest)
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/silent"):
			<-release
		}
	}))
	defer server.Close()
	defer close(release)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	closed.Close()
	for base, want := range map[string]string{
		server.URL + "/bad":    "it answers 400 Bad Request: text format parsing error\uFFFD[2J in line 1",
		server.URL + "/moved":  "it answers 302 Found",
		server.URL + "/silent": "no answer within 300ms",
		nobody:                 "connection refused",
	} {
		to := groupURL(parsed(t, strings.Replace(base, "http://", "http://me:sesame@", 1)+"?token=sesame"), "nightly")
		begin := time.Now()
		err := push(t.Context(), to, measured(12), false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v, want %s", base, err, want)
		}
		if took := time.Since(begin); took > 20*pushTimeout {
			t.Errorf("%s: it took %v", base, took)
		}
	}
}

// A failure is a warning that names the cause, and leaves the exit code.
func TestFailedPushChangesNoVerdict(t *testing.T) {
	var stderr strings.Builder
	doc := measured(12)
	before := doc.Session.ExitCode
	s := session{flags: &flags{pushTo: parsed(t, "http://me:sesame@127.0.0.1:1")}, stderr: &stderr}
	s.pushed(doc)
	got := stderr.String()
	if !strings.HasPrefix(got, "weir: warning: --push http://me:***@127.0.0.1:1/metrics/job/weir/scenario/nightly: ") ||
		!strings.Contains(got, "connection refused") || strings.Contains(got, "sesame") {
		t.Errorf("it says %q", got)
	}
	if doc.Session.ExitCode != before {
		t.Errorf("the exit code is %d", doc.Session.ExitCode)
	}
}

// While a session runs, its metrics are pushed now and then without exit code and verdicts, and not again after a
// failure.
func TestPushOfARunningSession(t *testing.T) {
	old := pushEvery
	defer func() { pushEvery = old }()
	var got []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Method+" "+string(body))
		w.WriteHeader(status)
	}))
	defer server.Close()
	s := session{flags: &flags{pushTo: parsed(t, server.URL)}, pushedAt: time.Now()}
	s.pushSoFar(t.Context(), measured(12))
	if len(got) > 0 {
		t.Errorf("it is pushed at once: %q", got)
	}
	pushEvery = 0
	s.pushSoFar(t.Context(), measured(12))
	if len(got) != 1 || !strings.HasPrefix(got[0], "POST ") ||
		!strings.Contains(got[0], "\nweir_bandwidth_bytes_per_second{") ||
		strings.Contains(got[0], "exit_code") || strings.Contains(got[0], "verdict") {
		t.Errorf("it is pushed as %q", got)
	}
	status = http.StatusInternalServerError
	s.pushSoFar(t.Context(), measured(12))
	s.pushSoFar(t.Context(), measured(12))
	if len(got) != 2 {
		t.Errorf("after a failure it is pushed again: %d pushes", len(got))
	}
}

// The real push gateway takes the metrics, and a second push of the scenario replaces the first.
func TestPushToAGateway(t *testing.T) {
	program, err := exec.LookPath("prometheus-pushgateway")
	if err != nil {
		t.Skip("no prometheus-pushgateway is installed (Debian has it)")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	gateway := exec.CommandContext(t.Context(), program, "--web.listen-address="+address)
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gateway.Wait() }()
	defer func() { _ = gateway.Process.Kill() }()
	page := func() string {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return ""
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return string(body)
	}
	for end := time.Now().Add(20 * time.Second); page() == ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the gateway does not answer")
		}
	}
	for _, bandwidth := range []float64{12, 24} {
		to := groupURL(parsed(t, "http://"+address), "nightly")
		if err := push(t.Context(), to, measured(bandwidth), false); err != nil {
			t.Fatal(err)
		}
		var found []string
		for line := range strings.Lines(page()) {
			if strings.HasPrefix(line, "weir_bandwidth_bytes_per_second{") &&
				strings.Contains(line, `estimate="median"`) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		if len(found) != 1 || !strings.Contains(found[0], `job="weir"`) ||
			!strings.Contains(found[0], `scenario="nightly"`) ||
			!strings.HasSuffix(found[0], fmt.Sprintf(" %ge+10", bandwidth/10)) {
			t.Errorf("after %g GB/s the gateway has %q", bandwidth, found)
		}
	}
	if err := push(t.Context(), groupURL(parsed(t, "http://"+address), "a/b"), measured(1), false); err != nil {
		t.Error(err)
	} else if !strings.Contains(page(), `scenario="a/b"`) {
		t.Error("a scenario with a slash is not there")
	}
}
