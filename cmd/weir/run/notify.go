package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// notifyVariable is the environment variable with the URL of --notify.
const notifyVariable = "WEIR_NOTIFY"

// notifyURL parses the URL of --notify, or that of the environment; nil without one.
func (f *flags) notifyURL() (*url.URL, error) {
	text, from := f.notify, "--notify"
	if text == "" {
		text, from = os.Getenv(notifyVariable), "$"+notifyVariable
	}
	if text == "" {
		return nil, nil
	}
	return urlOf(from, text, "http:// or https://", "http", "https")
}

// webhook is what messages say of a webhook: its path is often the secret.
func webhook(u *url.URL) string { return u.Scheme + "://" + u.Host + "/" + redact.Redacted }

// notice is the message of a webhook. Slack, Mattermost, Google Chat and Discord's endpoint /slack show the text.
type notice struct {
	Text     string `json:"text"`
	Scenario string `json:"scenario"`
	Session  string `json:"session"`
	Status   string `json:"status"`
	ExitCode int    `json:"exit_code"`
}

// notified posts the outcome of a session that did not pass to the webhook of --notify. A failure is a warning: it
// changes no verdict.
func (s *session) notified(doc *results.Document) {
	to := s.flags.notifyTo
	if to == nil || doc.Session.ExitCode == gate.ExitPassed {
		return
	}
	body, err := json.Marshal(notice{
		Text: reporters.Notice(doc, os.Getenv(reports.PageVariable)), Scenario: doc.Scenario.Name,
		Session: doc.Session.ID, Status: doc.Session.Status, ExitCode: doc.Session.ExitCode,
	})
	if err == nil {
		ctx, stop := s.unlessKilled()
		defer stop()
		_, err = send(ctx, to, http.MethodPost, http.Header{"Content-Type": {"application/json"}}, body)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "weir: warning: --notify %s: %s; the verdict is the same\n", webhook(to),
			redactedIn(to.String(), err.Error()))
	}
}
