package readiness

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A server whose answers do not end, or lead elsewhere, is not ready, and takes neither time nor memory.
func TestHostileAnswersAreNotReady(t *testing.T) {
	ready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer ready.Close()
	forever := func(write func(http.ResponseWriter) error, pause time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for write(w) == nil && r.Context().Err() == nil {
				_ = http.NewResponseController(w).Flush()
				time.Sleep(pause)
			}
		}
	}
	body := func(n int) func(http.ResponseWriter) error {
		return func(w http.ResponseWriter) error { _, err := w.Write(make([]byte, n)); return err }
	}
	raw := func(again string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			for text := "HTTP/1.1 103 Early Hints\r\n" + again; err == nil; text = again {
				_, err = conn.Write([]byte(text))
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a body without end":          {forever(body(1<<20), 0), `its answer does not contain "ok"`},
		"a slow body without end":     {forever(body(1), 10*time.Millisecond), "not within 500ms: "},
		"a head without end":          {raw("X-Field: " + strings.Repeat("x", 1000) + "\r\n"), "not within 500ms: "},
		"interim answers without end": {raw("\r\nHTTP/1.1 103 Early Hints\r\n"), "not within 500ms: "},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "not within 500ms: "},
		"a redirect to a server that is ready": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, ready.URL, http.StatusTemporaryRedirect)
		}, `it answers 307 Temporary Redirect to "` + ready.URL + `", which is not followed`},
		"a redirect to itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		}, `it answers 302 Found to "/"`},
	} {
		s := httptest.NewServer(c.answer)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		err := Check{HTTP: s.URL, Contains: "ok", Within: 500 * time.Millisecond}.Wait(t.Context(), Subject{})
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		s.CloseClientConnections()
		s.Close()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if most := 10 * time.Second; took > most || after.Sys-before.Sys > 100<<20 {
			t.Errorf("%s: %v, %d MB", name, took, (after.Sys-before.Sys)/1e6)
		}
	}
}
