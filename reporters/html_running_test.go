package reporters

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/results"
)

// The page of a running session has its cases with their verdicts, what does not count and why, and is read again.
func TestRunningSession(t *testing.T) {
	var b strings.Builder
	if err := RunningHTML(&b, Running{
		Scenario: "s", Step: []string{"a n=1", "1 of 3 launches"},
		Cases: []RunningCase{
			{Name: "a n=1", Last: "bandwidth 9 GB/s", Launches: 2, Discarded: 1, Verdict: results.Fail},
			{Name: "a n=2"},
		},
		Troubles: []Trouble{
			{Where: "node n", What: "ready", Why: "load 16"},
			{Where: "a[n=1]", Launch: "launch 1", What: "discarded", Why: "not scheduled"},
		},
	}, "./"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`http-equiv="refresh" content="2"`, "1 of 3 launches",
		"<tr class=bad><td>a n=1<td>2<td>1<td>bandwidth 9 GB/s<td class=v>✗ fail",
		"<tr><td>a n=2<td>0<td>0<td><td class=v>-", `<a href="./">`,
		"<tr><td>a[n=1]<td>launch 1<td>discarded<td>not scheduled\n<tr><td>node n<td>-<td>ready<td>load 16\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q", want)
		}
	}
}

// While a session runs, its page gets the newest state without losing the filter that was typed and the order that was
// chosen; once the session has results, the browser goes to its report.
func TestRunningPageKeepsTheFilter(t *testing.T) {
	var read atomic.Int64
	var ended atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/report" {
			fmt.Fprint(w, `<link rel="icon" href="data:,"><title>report</title><p id=report>`)
			return
		}
		if ended.Load() {
			http.Redirect(w, r, "/report", http.StatusSeeOther)
			return
		}
		n := int(read.Add(1))
		of := Running{Scenario: "s", Step: []string{fmt.Sprintf("state %d", n)}}
		for i := range 10 {
			of.Cases = append(of.Cases, RunningCase{Name: fmt.Sprintf("a n=%d", i), Launches: n})
		}
		if n > 1 {
			of.Troubles = []Trouble{{Where: "a n=1", What: "discarded", Why: "too busy"}}
		}
		if err := RunningHTML(w, of, "./"); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	ctx := browser(t)
	observed := listen(t, ctx)
	do(t, ctx, chromedp.Navigate(server.URL), chromedp.SendKeys("#cases input", "n=1"),
		chromedp.Click("#cases th:nth-child(1) button"), chromedp.WaitReady("#troubles td"))
	type state struct{ Filter, Rows, Head, Order string }
	got := ask[state](t, ctx, `({
		Filter: document.querySelector('#cases input').value, Head: document.querySelector('.headline').textContent,
		Rows: Array.from(document.querySelectorAll('#cases tbody tr:not([hidden])'), (r) => r.innerText).join('|'),
		Order: document.querySelector('#cases th').getAttribute('aria-sort'),
	})`)
	n := strings.TrimPrefix(got.Head, "state ")
	if want := (state{"n=1", "a n=1\t" + n + "\t0\t\t-", "state " + n, "ascending"}); got != want || n == "1" {
		t.Errorf("%q, want %q", got, want)
	}
	ended.Store(true)
	do(t, ctx, chromedp.WaitReady("#report"))
	if complaints, _ := observed.taken(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
}
