package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

// A server may keep an answer open after its end: it takes no more than a moment of the load.
func TestAnswersThatStayOpen(t *testing.T) {
	for name, c := range map[string]struct {
		stays time.Duration
		open  bool
	}{"for long": {2 * time.Second, true}, "for a moment": {10 * time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			rec := send(t, Config{Stream: true}, request(0), func(a *testserver.Answer) {
				a.Steady(2, 0, 0)
				time.Sleep(c.stays)
			})
			if rec.Outcome != load.OK || rec.Open != c.open || rec.Output != 2 || time.Since(begin) > 3*time.Second {
				t.Errorf("%+v after %v", rec, time.Since(begin))
			}
		})
	}
}

// Refusals tell where a redirection leads, and what a compressed answer says.
func TestRefusals(t *testing.T) {
	for want, script := range map[string]func(*testserver.Answer){
		"308 Permanent Redirect to https://gateway.example/v1, which is not followed: ": func(a *testserver.Answer) {
			a.Header("Location", "https://gateway.example/v1")
			a.Head(308, "text/plain")
		},
		"503 Service Unavailable: no healthy upstream": func(a *testserver.Answer) {
			a.Header("Content-Encoding", "gzip")
			a.Head(503, "text/plain")
			a.Raw(strings.Join(zipped("no healthy upstream"), ""))
		},
		"503 Service Unavailable with Content-Encoding br": func(a *testserver.Answer) {
			a.Header("Content-Encoding", "br")
			a.Head(503, "text/plain")
			a.Raw("\x0b\x02\x80")
		},
	} {
		rec := send(t, Config{Stream: true}, request(0), script)
		if rec.Outcome != load.Status || strings.TrimSpace(rec.Error) != strings.TrimSpace(want) {
			t.Errorf("%q, not %q", rec.Error, want)
		}
	}
}

// A tokenizer that finds no text counts nothing: the estimate stays.
func TestCount(t *testing.T) {
	for answer, want := range map[string]int{`{"tokens":[]}`: -1, `{"count":0}`: -1, `{"tokens":[1,2]}`: 2} {
		asked := make(chan string, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked <- string(body)
			_, _ = io.WriteString(w, answer)
		}))
		n, err := newClient(t, Config{URL: s.URL}).Count(t.Context(), "m", "some text")
		if (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("%s: %d, %v", answer, n, err)
		}
		if body := <-asked; strings.Count(body, "some text") != 2 { // as prompt and as content
			t.Errorf("it sent %s", body)
		}
		s.Close()
	}
}

// A gateway chooses the server by the header Host.
func TestHost(t *testing.T) {
	asked := make(chan string, 2)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	defer s.Close()
	c := newClient(t, Config{URL: s.URL, Headers: http.Header{"Host": {"model.example"}}})
	c.Send(t.Context(), request(0), nil)
	_, _ = c.Count(t.Context(), "m", "x")
	if first, second := <-asked, <-asked; first != "model.example" || second != first {
		t.Errorf("it asked %q and %q", first, second)
	}
}
