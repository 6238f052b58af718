package run

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// failing is a document of a session with an error.
func failing() *results.Document {
	doc := measured(12)
	doc.Cases[0].Status, doc.Cases[0].Reason = results.Error, "the server says <!channel>"
	gate.Judge(doc)
	return doc
}

func TestWebhookIsToldWhatFailed(t *testing.T) {
	t.Setenv(reports.PageVariable, "https://ci.example/page.html")
	var got []notice
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var n notice
		if err := json.Unmarshal(body, &n); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", body, err)
		}
		got = append(got, n)
	}))
	defer server.Close()
	var stderr strings.Builder
	t.Setenv(notifyVariable, server.URL+"/services/sesame")
	f := &flags{}
	var err error
	if f.notifyTo, err = f.notifyURL(); err != nil {
		t.Fatal(err)
	}
	s := session{flags: f, stderr: &stderr}
	s.notified(measured(12)) // passed
	doc := failing()
	s.notified(doc)
	if len(got) != 1 || stderr.Len() > 0 {
		t.Fatalf("%v; %s", got, stderr.String())
	}
	n := got[0]
	if n.Scenario != "nightly" || n.Session != "s" || n.ExitCode != gate.ExitExecution ||
		n.Status != doc.Session.Status {
		t.Errorf("%+v", n)
	}
	for _, want := range []string{
		"nightly", "exit code 6", ": the server says &lt;!channel&gt;", "\nhttps://ci.example/page.html",
	} {
		if !strings.Contains(n.Text, want) {
			t.Errorf("%q lacks %q", n.Text, want)
		}
	}
	server.Close()
	s.notified(doc)
	if text := stderr.String(); !strings.HasPrefix(text, "weir: warning: --notify http://127.0.0.1:") ||
		strings.Contains(text, "sesame") || !strings.Contains(text, "the verdict is the same") {
		t.Errorf("%q", text)
	}
}

func TestWrongWebhooks(t *testing.T) {
	for _, text := range []string{
		"hooks.example/sesame", "ftp://h/sesame", "http:///sesame", "http://h:x/sesame", "http://h:99999/sesame",
	} {
		f := flags{notify: text}
		if _, err := f.notifyURL(); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
