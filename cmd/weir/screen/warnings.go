package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
)

// warnings turns events into messages for the user. The message about cases that do not run is held back
// until the next event: at the end of the session, the session's reason replaces it.
type warnings struct {
	shown map[string]bool // reasons, services and lines
	held  string          // the message that is held back
	waits wait
}

// wait is a case whose endpoint is not ready.
type wait struct {
	of          string // case key
	since, told time.Time
}

// Times of a wait until it is told, and until it is told again.
const (
	firstTold = 10 * time.Second
	toldAgain = time.Minute
)

// text is the message of a case's progress: that it waits; "" if it does not, or was told lately.
func (w *wait) text(e event.Event) string {
	switch {
	case e.Phase != "ready":
		*w = wait{}
		return ""
	case w.of != e.Case:
		*w = wait{of: e.Case, since: e.Time, told: e.Time.Add(firstTold - toldAgain)}
	}
	if e.Time.Sub(w.told) < toldAgain {
		return ""
	}
	w.told = e.Time
	return fmt.Sprintf("%s: its endpoint is not ready after %s", e.Case, e.Time.Sub(w.since).Round(time.Second))
}

// first reports whether a text is shown for the first time.
func (m *warnings) first(text string) bool {
	if m.shown == nil {
		m.shown = map[string]bool{}
	}
	shown := m.shown[text]
	m.shown[text] = true
	return !shown
}

// text is the message for an event, or "". The reason of skipped cases is shown once, for the first case.
func (m *warnings) text(e event.Event) string {
	text := m.line(e)
	switch {
	case e.Type == event.CaseSkipped && strings.HasPrefix(e.Reason, results.NotRun+": "):
		if m.held == "" || text == "" {
			m.held += text
			return ""
		}
		m.held, text = text, m.held
	case e.Type == event.SessionFinished:
		m.held = ""
	case m.held != "":
		text = strings.TrimSuffix(m.held+"\n"+text, "\n")
		m.held = ""
	}
	return text
}

func (m *warnings) line(e event.Event) string {
	for _, text := range []*string{ // may come from other hosts
		&e.Reason, &e.Status, &e.Node, &e.Check, &e.Command, &e.Stage, &e.Service, &e.Artifact, &e.Group, &e.Case,
	} {
		*text = printable.Text(*text)
	}
	switch {
	case e.Type == event.RequireMissing:
		text := "missing: " + e.Reason
		if !m.first(text) {
			return ""
		}
		return text
	case e.Type == event.CaseSkipped:
		if !m.first(e.Reason) {
			return ""
		}
		return fmt.Sprintf("%s: %s: %s", e.Status, e.Case, e.Reason)
	case e.Type == event.EnvIgnored, e.Type == event.NodeChanged:
		return "warning: " + e.Reason
	case e.Type == event.NodeReady && e.Reason != "":
		return fmt.Sprintf("node %s: %s", e.Node, e.Reason)
	case e.Type == event.NodeLost:
		return fmt.Sprintf("warning: node %s is lost: %s", e.Node, e.Reason)
	case e.Type == event.CheckDone && e.Status != results.OK && e.Node == "":
		return fmt.Sprintf("check %q of the cluster failed: %s", e.Check, e.Reason)
	case e.Type == event.CheckDone && e.Status != results.OK:
		return fmt.Sprintf("check %q on %s failed: %s", e.Check, e.Node, e.Reason)
	case e.Type == event.CommandDone && e.Status != results.OK:
		return fmt.Sprintf("%s %q on %s failed: %s", e.Stage, e.Command, e.Node, e.Reason)
	case e.Type == event.ServiceStarted && m.first("service "+e.Service):
		return fmt.Sprintf("service %s starts on %s", e.Service, e.Node)
	case e.Type == event.ServiceStarted && m.shown["failed service "+e.Service]:
		delete(m.shown, "failed service "+e.Service)
		return fmt.Sprintf("service %s, which failed, starts again on %s", e.Service, e.Node)
	case e.Type == event.ServiceWaits && e.Service == "":
		return e.Reason
	case e.Type == event.ServiceWaits && m.first("service "+e.Service+" "+e.Reason):
		return fmt.Sprintf("service %s: %s", e.Service, e.Reason)
	case e.Type == event.ServiceEnded && e.Status != results.OK && e.Failure != nil:
		m.first("failed service " + e.Service)
		return m.once(fmt.Sprintf("service %s on %s failed: %s", e.Service, e.Node, printable.Text(e.Failure.Cause)))
	case e.Type == event.ArtifactKept && e.Status != results.OK:
		return fmt.Sprintf("artifact %q of %s is %s: %s", e.Artifact, e.Node, e.Status, e.Reason)
	case e.Type == event.CaseProgress && !e.Background:
		return m.waits.text(e)
	case e.Type == event.LaunchFinished && e.Failure != nil:
		return m.failed(e.Group, e)
	case e.Type == event.CaseMeasured && e.Failure != nil && e.Failure.Phase == results.Evaluating && !e.Background:
		text := m.failed(e.Case, e) // a case failed in a successful launch
		if !m.first(results.LaunchName(*e.Launch) + e.Group + e.Failure.Cause) {
			return ""
		}
		return text
	}
	return ""
}

func (m *warnings) failed(what string, e event.Event) string {
	return m.once(fmt.Sprintf("%s of %s failed: %s", results.LaunchName(*e.Launch), what,
		printable.Text(e.Failure.String())))
}

// once removes the lines after the first if they were shown before, such as the log of a failed service.
func (m *warnings) once(text string) string {
	sentence, lines, _ := strings.Cut(text, "\n")
	if lines != "" && !m.first("lines "+lines) {
		return sentence
	}
	return text
}
