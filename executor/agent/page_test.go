package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A page of metrics without an end, and one that is elsewhere, is an error in its time.
func TestHostilePages(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "m 1\n")
	}))
	defer elsewhere.Close()
	forever := func(text string, pause time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, text); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(pause)
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"without end":       {forever(strings.Repeat("metric 1\n", 10_000), 0), "has more than 16 MiB"},
		"slow, without end": {forever("m 1\n", 10*time.Millisecond), context.DeadlineExceeded.Error()},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, context.DeadlineExceeded.Error()},
		"cut in its middle": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "m 1\n")
		}, "unexpected EOF"},
		"a redirect": {http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP, "answers 302 Found"},
		"an error":   {http.NotFound, "answers 404 Not Found"},
	} {
		s := httptest.NewServer(c.answer)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		begin := time.Now()
		_, err := Page(ctx, s.URL)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if took := time.Since(begin); took > pageTime {
			t.Errorf("%s: %v", name, took)
		}
		cancel()
		s.CloseClientConnections()
		s.Close()
	}
}
