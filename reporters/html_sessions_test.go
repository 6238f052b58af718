package reporters

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/history"
)

// In a browser, under the page's own policy, the button sends the picked sessions, and a session's name leads to it.
func TestSessionsArePickedInABrowser(t *testing.T) {
	to := Addresses{
		Session: func(file string) string { return QueryOf("session", "file", file) },
		Running: func(name string) string { return QueryOf("running", "session", name) },
		Series:  func(scenario string) string { return QueryOf("series", "scenario", scenario) },
		Compare: "compare",
	}
	var entries []history.Entry
	for _, name := range []string{"one & only", "two", "three"} {
		entries = append(entries, history.Entry{
			File: name + "/results.json", Session: name, Scenario: "s", Status: "passed", Started: time.Unix(0, 0),
			Weir: "(devel) 8affcc93e73f7faf05a2876eea6f4bf96f8c7239", Fingerprint: strings.Repeat("f", 64),
			Nodes: []string{"node-1.rack-7.example.com", "node-2.rack-7.example.com"},
		})
	}
	asked := make(chan *http.Request, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path != "/" {
			asked <- r
			_, _ = io.WriteString(w, `<link rel="icon" href="data:,"><title>asked</title><p id=asked>`)
			return
		}
		if err := SessionsHTML(w, "weir-out", []string{"now"}, entries, nil, to); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	ctx := browser(t)
	observed := listen(t, ctx)
	for _, width := range []int64{1400, 400} {
		do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(server.URL))
		if seen := ask[string](t, ctx, inSight); seen != "✓ passed" {
			t.Errorf("at %d px %q is seen where the verdict is", width, seen)
		}
	}
	do(t, ctx, chromedp.Navigate(server.URL), chromedp.Click(`input[value="one & only/results.json"]`),
		chromedp.Click(`input[value="three/results.json"]`), chromedp.Click("form button:not([type=button])"),
		chromedp.WaitReady("#asked"))
	next := func() *http.Request {
		t.Helper()
		select {
		case r := <-asked:
			return r
		case <-time.After(20 * time.Second):
			t.Fatal("the browser asks for nothing")
			return nil
		}
	}
	// the newest stands first
	if r := next(); r.URL.Path != "/compare" ||
		!slices.Equal(r.URL.Query()["session"], []string{"three/results.json", "one & only/results.json"}) {
		t.Errorf("the button asks for %s", r.URL)
	}
	do(t, ctx, chromedp.Navigate(server.URL), chromedp.Click(`a[href^="session?"]`))
	if r := next(); r.URL.Path != "/session" || r.URL.Query().Get("file") != "three/results.json" {
		t.Errorf("the first session leads to %s", r.URL)
	}
	if complaints, _ := observed.taken(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
}

// inSight is the text of the cell that is seen where the first verdict of the list is.
const inSight = `(() => {
	const verdict = document.querySelector('#sessions td.v');
	verdict.scrollIntoView({ block: 'center' });
	const r = verdict.getBoundingClientRect();
	const seen = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2);
	return seen ? seen.textContent.trim() : '';
})()`
