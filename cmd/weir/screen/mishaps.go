package screen

import (
	"fmt"
	"strings"

	"weir/executor/event"
	"weir/printable"
	"weir/results"
)

// mishaps are what a person must hear of when it happens. That cases are not run is told
// with what comes after it: where that is the end of the session, its reason says it.
type mishaps struct {
	told map[string]bool // reasons, services and lines
	held string          // a line to be told next
}

// first says whether something is told for the first time.
func (m *mishaps) first(what string) bool {
	if m.told == nil {
		m.told = map[string]bool{}
	}
	told := m.told[what]
	m.told[what] = true
	return !told
}

// text is what to say of an event, "" if nothing. Cases that are left out for
// one reason are many: the reason is told once, with the first of them.
func (m *mishaps) text(e event.Event) string {
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

func (m *mishaps) line(e event.Event) string {
	for _, said := range []*string{ // by agents too, on other hosts
		&e.Reason, &e.Status, &e.Node, &e.Check, &e.Command, &e.Stage, &e.Service, &e.Artifact, &e.Group, &e.Case,
	} {
		*said = printable.Text(*said)
	}
	switch {
	case e.Type == event.RequireMissing:
		text := "missing: " + e.Reason
		if !m.first(text) { // the first case that lacks it has said so
			return ""
		}
		return text
	case e.Type == event.CaseSkipped:
		if !m.first(e.Reason) {
			return ""
		}
		return fmt.Sprintf("%s from %s on: %s", e.Status, e.Case, e.Reason)
	case e.Type == event.EnvIgnored, e.Type == event.NodeChanged:
		return "warning: " + e.Reason
	case e.Type == event.NodeReady && e.Reason != "":
		return fmt.Sprintf("node %s: %s", e.Node, e.Reason)
	case e.Type == event.NodeLost:
		return fmt.Sprintf("warning: node %s is lost: %s", e.Node, e.Reason)
	case e.Type == event.CheckDone && e.Status != results.OK:
		return fmt.Sprintf("check %q on %s failed: %s", e.Check, e.Node, e.Reason)
	case e.Type == event.CommandDone && e.Status != results.OK:
		return fmt.Sprintf("%s %q on %s failed: %s", e.Stage, e.Command, e.Node, e.Reason)
	case e.Type == event.ServiceStarted && m.first("service "+e.Service):
		return fmt.Sprintf("service %s starts on %s", e.Service, e.Node)
	case e.Type == event.ServiceStarted && m.told["failed service "+e.Service]:
		delete(m.told, "failed service "+e.Service)
		return fmt.Sprintf("service %s, which failed, starts again on %s", e.Service, e.Node)
	case e.Type == event.ServiceWaits && m.first("service "+e.Service+" "+e.Reason):
		return fmt.Sprintf("service %s: %s", e.Service, e.Reason)
	case e.Type == event.ServiceEnded && e.Status != results.OK && e.Failure != nil:
		m.first("failed service " + e.Service)
		return m.once(fmt.Sprintf("service %s on %s failed: %s", e.Service, e.Node, printable.Text(e.Failure.Cause)))
	case e.Type == event.ArtifactKept && e.Status != results.OK:
		return fmt.Sprintf("artifact %q of %s is %s: %s", e.Artifact, e.Node, e.Status, e.Reason)
	case e.Type == event.LaunchFinished && e.Failure != nil:
		return m.failed(e.Group, e)
	case e.Type == event.CaseMeasured && e.Failure != nil && e.Failure.Phase == results.Evaluating && !e.Background:
		text := m.failed(e.Case, e) // that of a launch which itself did not fail
		if !m.first(results.LaunchName(*e.Launch) + e.Group + e.Failure.Cause) {
			return ""
		}
		return text
	}
	return ""
}

func (m *mishaps) failed(what string, e event.Event) string {
	return m.once(fmt.Sprintf("%s of %s failed: %s", results.LaunchName(*e.Launch), what,
		printable.Text(e.Failure.String())))
}

// once leaves out of a text the lines after its first that were told before, as those of a service
// that ended a launch.
func (m *mishaps) once(text string) string {
	sentence, lines, _ := strings.Cut(text, "\n")
	if lines != "" && !m.first("lines "+lines) {
		return sentence
	}
	return text
}
