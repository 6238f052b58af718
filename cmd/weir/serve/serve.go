// Package serve is the command weir serve: pages for the sessions of a folder, on the loopback interface.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/reporters"
)

// New is the command.
func New() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "show the sessions of a folder in a browser, also while they run",
		Long: `serve prints the address of a page that lists the sessions in DIR (default: weir-out):
the report of each, running ones as they proceed, the comparison of those that are picked,
and the trend of every metric of every case with its changes. The page is at a loopback
address, and its address has a token. Nothing is written but the index of the list.
Ctrl-C ends it.`,
		Example: `  weir serve
  weir serve /srv/weir-history --listen 127.0.0.1:8080`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "weir-out"
			if len(args) == 1 {
				dir = args[0]
			}
			if st, err := os.Stat(dir); err != nil || !st.IsDir() {
				return exit.Usage("%s is no folder of sessions: weir run writes them to weir-out", dir)
			}
			s, err := Start(history.Store{Dir: dir}, listen)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), s.Address(""))
			ctx, _, stop := exit.Abortable(cmd.Context(), 0)
			defer stop()
			<-ctx.Done()
			return s.Close()
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `ADDRESS:PORT`; port 0: a free one")
	return cmd
}

// Server serves the pages of a folder.
type Server struct {
	http     http.Server
	listener net.Listener
	token    string
	ended    chan error
	seen     atomic.Pointer[time.Time] // when a page was last read; nil: never
	reported atomic.Bool               // a report was read
}

// Start serves a folder at a loopback address.
func Start(of history.Store, listen string) (*Server, error) {
	address, err := netip.ParseAddrPort(listen)
	if err != nil || !address.Addr().IsLoopback() {
		return nil, exit.Usage("--listen %s: give a loopback address and a port, such as 127.0.0.1:8080; "+
			"for other hosts, use ssh -L", listen)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, exit.With(gate.ExitExecution, fmt.Errorf("--listen: %w", err))
	}
	s := &Server{listener: listener, token: rand.Text(), ended: make(chan error, 1)}
	s.http = http.Server{
		Handler:           tokenRequired(s.token, listener.Addr().String(), s.noting(pages(of))),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
	}
	go func() { s.ended <- s.http.Serve(listener) }()
	return s, nil
}

// Address is that of the list of sessions, or of a running session by the name of its folder, with the token.
func (s *Server) Address(session string) string {
	at := "http://" + s.listener.Addr().String() + "/"
	if session != "" {
		return at + "running?session=" + url.QueryEscape(session) + "&token=" + s.token
	}
	return at + "?token=" + s.token
}

// noting notes what a browser has read.
func (s *Server) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		now := time.Now()
		s.seen.Store(&now)
		if r.URL.Path == "/session" {
			s.reported.Store(true)
		}
	})
}

// Report waits until the browser that follows a session has read its report, a few refreshes at most. Without a browser
// it does not wait.
func (s *Server) Report(ctx context.Context) {
	const patience = 3 * reporters.RefreshSeconds * time.Second
	end := time.Now().Add(patience)
	for time.Now().Before(end) && !s.reported.Load() {
		if seen := s.seen.Load(); seen == nil || time.Since(*seen) >= patience {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Close ends the server; requests get a second to end.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if served := <-s.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return exit.With(gate.ExitExecution, err)
}

// cookieOf names the cookie that has the token after the first page, so that it is in no further address. Cookies of
// one address are the same for all its ports, and several servers may run.
func cookieOf(host string) string { return "weir-token-" + host[strings.LastIndexByte(host, ':')+1:] }

// tokenRequired answers only to browsers that have the token, under the server's own name: pages of other sites that
// resolve to this address get nothing.
func tokenRequired(token, host string, next http.Handler) http.Handler {
	cookie := cookieOf(host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		if r.Host != host || r.Method != http.MethodGet {
			http.Error(w, "weir serve answers GET at http://"+host, http.StatusForbidden)
			return
		}
		if given := r.URL.Query(); given.Get("token") == token {
			http.SetCookie(w, &http.Cookie{
				Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			given.Del("token")
			http.Redirect(w, r, r.URL.Path+"?"+given.Encode(), http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || c.Value != token {
			http.Error(w, "open the address that weir serve printed: it has a token", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// written sends a page with a status, or an error as text.
func written(w http.ResponseWriter, code int, write func(io.Writer) error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if code != http.StatusOK {
		w.WriteHeader(code)
	}
	if err := write(w); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
