package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
)

// The stages and scopes of commands, as results.Command has them.
const (
	Setup    = "setup"
	Teardown = "teardown"

	OfSession = "session"
	OfRun     = "run"
	OfLaunch  = "launch"
)

// CommandError is the error of a failed setup or teardown command.
type CommandError struct{ results.Command }

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s %q failed on node %s: %s", e.Stage, e.Name, e.Node, e.Reason)
}

// EnterCommand puts an ended command into document and journal.
func (l *Ledger) EnterCommand(r results.Command) {
	l.Doc.Commands = append(l.Doc.Commands, r)
	l.Events.Emit(event.Event{
		Type: event.CommandDone, Command: r.Name, Stage: r.Stage, Scope: r.Scope, Of: r.Of, Node: r.Node,
		Status: r.Status, Reason: r.Reason, Seconds: r.Duration,
	})
	l.Err = cmp.Or(l.Err, l.Record(Record{Command: &r}))
}

// EnterService puts an ended service into document and journal.
func (l *Ledger) EnterService(r results.Service) {
	l.Doc.Services = append(l.Doc.Services, r)
	l.Err = cmp.Or(l.Err, l.Record(Record{Service: &r}))
}

// restore puts what does not follow from the schedule into the document.
func (f *pastSessions) restore(l *Ledger) {
	l.Doc.Checks = append(l.Doc.Checks, f.checks...)
	for _, c := range f.commands {
		l.restoreCommand(c)
	}
	l.Doc.Services = slices.Clone(f.services)
	l.Doc.Artifacts = slices.Clone(f.artifacts)
	if len(f.sessions) == 0 {
		return
	}
	l.Doc.Session.Started = f.sessions[0].Started
	l.Doc.Session.Resumed = f.sessions[len(f.sessions)-1].ID
	l.Doc.Baseline = f.sessions[0].Baseline
}

func (l *Ledger) restoreCommand(c results.Command) {
	l.Doc.Commands = append(l.Doc.Commands, c)
	if c.Stage == Teardown && c.Status != results.OK {
		l.TeardownFailures = append(l.TeardownFailures, (&CommandError{c}).Error())
	}
}

// ForgetPast removes what a resumed session repeats: checks, and failed commands of the session's scope.
func (l *Ledger) ForgetPast() {
	if !l.o.Resume {
		return
	}
	l.Doc.Checks = []results.Check{}
	l.Doc.Commands, l.TeardownFailures = nil, nil
	for _, c := range l.past.commands {
		if c.Scope != OfSession || c.Status == results.OK {
			l.restoreCommand(c)
		}
	}
}

// EnterArtifacts puts the files of one artifact of one node into document and journal.
func (l *Ledger) EnterArtifacts(list []results.Artifact) {
	l.Doc.Artifacts = withArtifacts(l.Doc.Artifacts, list)
	for _, a := range list {
		l.Events.Emit(event.Event{
			Type: event.ArtifactKept, Artifact: a.Name, Node: a.Node, Status: a.Status, Reason: a.Reason, File: a.File,
		})
	}
	l.Err = cmp.Or(l.Err, l.Record(Record{Artifacts: list}))
}

// withArtifacts adds artifacts in place of those with the same name and node.
func withArtifacts(all, list []results.Artifact) []results.Artifact {
	all = slices.DeleteFunc(slices.Clone(all), func(a results.Artifact) bool {
		return slices.ContainsFunc(list, func(b results.Artifact) bool { return a.Name == b.Name && a.Node == b.Node })
	})
	return append(all, list...)
}

// lacksArtifacts names required artifacts that are missing; "": none.
func (l *Ledger) lacksArtifacts() string {
	var all []string
	for _, a := range l.Doc.Artifacts {
		if a.FailsSession() {
			all = append(all, fmt.Sprintf("artifact %q of node %s is %s: %s", a.Name, a.Node, a.Status, a.Reason))
		}
	}
	return strings.Join(all, "; ")
}
