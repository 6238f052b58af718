package run

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// pushTimeout is the time limit for a push gateway. Tests shorten it.
var pushTimeout = 10 * time.Second

// groupPath is in the URL of a group of metrics in a push gateway.
const groupPath = "/metrics/job/"

// pushURL parses the URL of --push; nil without the flag. Errors do not repeat the URL, which may have a secret.
func pushURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	return urlOf("--push", text, "http:// or https:// (a push gateway), or with otlp+http:// or otlp+https:// (OpenTelemetry)",
		"http", "https", otlpScheme+"http", otlpScheme+"https")
}

// urlOf parses the URL of a flag, which has one of some schemes.
func urlOf(flag, text, beginnings string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, exit.Usage("%s: the URL is not valid; it has the form http://HOST:PORT", flag)
	case !slices.Contains(schemes, u.Scheme):
		return nil, exit.Usage("%s: the URL must begin with %s", flag, beginnings)
	case u.Hostname() == "":
		return nil, exit.Usage("%s: the URL has no host", flag)
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
		return nil, exit.Usage("%s: %s is no port", flag, u.Port())
	}
	return u, nil
}

// redactedIn replaces a text that is repeated in a message.
func redactedIn(text, message string) string {
	return strings.ReplaceAll(message, text, redact.Redacted)
}

// shownURL is a URL without secrets: the password, or a user name without one, and the values of the query.
func shownURL(u *url.URL) string {
	shown := *u
	if user := u.User; user != nil {
		if _, has := user.Password(); has {
			shown.User = url.UserPassword(user.Username(), redact.Redacted)
		} else {
			shown.User = url.User(redact.Redacted)
		}
	}
	var query []string
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		query = append(query, url.QueryEscape(name)+"="+redact.Redacted)
	}
	shown.RawQuery, shown.ForceQuery = strings.Join(query, "&"), false
	shown.Fragment, shown.RawFragment = "", ""
	return strings.ReplaceAll(shown.String(), url.QueryEscape(redact.Redacted), redact.Redacted)
}

// groupURL is the URL of the group of metrics of a scenario: job and scenario are its labels, unless the URL names a
// group itself.
func groupURL(u *url.URL, scenario string) *url.URL {
	if strings.Contains(u.Path, groupPath) {
		return u
	}
	label := "scenario/" + url.PathEscape(scenario)
	if scenario == "" || strings.Contains(scenario, "/") { // as the gateway encodes what no path can have
		label = "scenario@base64/" + base64.URLEncoding.EncodeToString([]byte(scenario))
		if scenario == "" {
			label += "="
		}
	}
	return u.JoinPath(groupPath, "weir", label)
}

// push replaces the metrics of a scenario in a push gateway by those of a document; soFar only those that a running
// session has, so that exit code and verdicts of the last one stay.
func push(ctx context.Context, to *url.URL, doc *results.Document, soFar bool) error {
	write, method := reporters.OpenMetrics, http.MethodPut
	if soFar {
		write, method = reporters.OpenMetricsSoFar, http.MethodPost
	}
	var body bytes.Buffer
	if err := reporters.Guarded(&body, func(w io.Writer) error { return write(w, doc) }); err != nil {
		return err
	}
	_, err := send(ctx, to, method, http.Header{
		"Content-Type": {"text/plain; version=0.0.4; charset=utf-8"},
	}, body.Bytes())
	return err
}

// send makes a request and returns the beginning of the answer's body. An answer that is no success is an error.
func send(ctx context.Context, to *url.URL, method string, header http.Header, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pushTimeout, fmt.Errorf("no answer within %v", pushTimeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New(redactedIn(to.String(), err.Error()))
	}
	request.Header = header
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirected request may become a GET
	}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	const most = 4 << 10
	says, _ := io.ReadAll(io.LimitReader(answer.Body, most)) // the status is the error
	if answer.StatusCode/100 == 2 {
		return says, nil
	}
	text := "it answers " + answer.Status
	line, _, _ := strings.Cut(strings.TrimSpace(string(says)), "\n")
	if line = strings.TrimSpace(line); line != "" && utf8.ValidString(line) {
		text += ": " + printable.Line(line[:min(len(line), 300)])
	}
	return nil, errors.New(text)
}

// soFarTimeout is the time limit of a push while the session runs.
const soFarTimeout = 2 * time.Second

// pushEvery is the least time between such pushes. Tests shorten it.
var pushEvery = 15 * time.Second

// pushSoFar pushes what a running session has measured. It is called when the gate has judged, between launches. After
// a failure only the end is pushed, which says so.
func (s *session) pushSoFar(ctx context.Context, doc *results.Document) {
	if s.flags.pushTo == nil || s.pushFailed || time.Since(s.pushedAt) < pushEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, soFarTimeout)
	defer cancel()
	to, by := s.pushTarget(doc)
	s.pushFailed = by(ctx, to, doc, true) != nil
	s.pushedAt = time.Now()
}

// pushTarget returns where metrics go, and how.
func (s *session) pushTarget(doc *results.Document) (
	to *url.URL, by func(context.Context, *url.URL, *results.Document, bool) error,
) {
	if isOTLP(s.flags.pushTo) {
		return otlpURL(s.flags.pushTo), pushOTLP
	}
	return groupURL(s.flags.pushTo, doc.Scenario.Name), push
}

// pushed pushes the metrics of --push. A failure is a warning: it changes no verdict.
func (s *session) pushed(doc *results.Document) {
	if s.flags.pushTo == nil {
		return
	}
	ctx, stop := s.unlessKilled()
	defer stop()
	to, by := s.pushTarget(doc)
	if err := by(ctx, to, doc, false); err != nil {
		fmt.Fprintf(s.stderr, "weir: warning: --push %s: %s; the verdict is the same\n", shownURL(to),
			redactedIn(to.String(), err.Error()))
		return
	}
	if !s.flags.style.Quiet {
		fmt.Fprintf(s.stderr, "metrics pushed to %s\n", shownURL(to))
	}
}

// unlessKilled returns a context that ends with the second Ctrl-C.
func (s *session) unlessKilled() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case <-s.kill:
			cancel(errors.New("aborted"))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// shownArguments are the arguments of this command without the secrets of --push and --notify.
func (f *flags) shownArguments() []string {
	args := slices.Clone(os.Args)
	for i := range args {
		if f.pushTo != nil {
			args[i] = strings.ReplaceAll(args[i], f.push, shownURL(f.pushTo))
		}
		if f.notifyTo != nil && f.notify != "" {
			args[i] = strings.ReplaceAll(args[i], f.notify, webhook(f.notifyTo))
		}
	}
	return args
}
