// Package event says what happens in a session while it happens.
package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"weir/results"
)

// Schema is the JSON Schema (draft 2020-12) of one event as a line of NDJSON. It is
// strict: a key that is not in it is a mistake of the writer.
//
//go:embed events.schema.json
var Schema []byte

// Type says what happened.
type Type string

// The events, in about the order in which they come.
const (
	SessionStarted  Type = "session_started"
	NodeReady       Type = "node_ready"
	NodeLost        Type = "node_lost"    // for Reason; what is launched from now on goes without it
	CaseSkipped     Type = "case_skipped" // for Reason, without having run
	RequireMissing  Type = "require_missing"
	CheckDone       Type = "check_done"
	CommandDone     Type = "command_done" // a setup or teardown command on one node
	ServiceStarted  Type = "service_started"
	ServiceWaits    Type = "service_waits" // for what its Reason says
	ServiceReady    Type = "service_ready"
	ServiceEnded    Type = "service_ended"  // by its Status, because it was told to or not
	ArtifactKept    Type = "artifact_kept"  // or, by its Status, not
	LaunchResumed   Type = "launch_resumed" // taken over from the session that this one goes on with
	LaunchStarted   Type = "launch_started"
	CaseStarted     Type = "case_started"
	CaseProgress    Type = "case_progress" // of the slowest rank
	CaseFinished    Type = "case_finished" // all ranks have run it; its samples are not evaluated yet
	CaseMeasured    Type = "case_measured" // with the launch's metrics
	LaunchFinished  Type = "launch_finished"
	NodeChanged     Type = "node_changed" // a launch has another node than those before it
	EnvIgnored      Type = "env_ignored"  // a variable that is set has no effect
	VerdictReached  Type = "verdict"      // a first verdict, or another one than before
	SessionFinished Type = "session_finished"
)

// Event is one thing that happened; fields that do not apply are absent.
type Event struct {
	Time      time.Time            `json:"time"`
	Type      Type                 `json:"type"`
	Session   string               `json:"session,omitempty"`
	Node      string               `json:"node,omitempty"`
	Check     string               `json:"check,omitempty"`
	Command   string               `json:"command,omitempty"`
	Service   string               `json:"service,omitempty"`
	Artifact  string               `json:"artifact,omitempty"`
	File      string               `json:"file,omitempty"`  // of an artifact, below the session directory
	Stage     string               `json:"stage,omitempty"` // setup | teardown
	Scope     string               `json:"scope,omitempty"` // session | run | launch
	Of        string               `json:"of,omitempty"`    // the run or launch that a command is of
	Group     string               `json:"group,omitempty"`
	Launch    *int                 `json:"launch,omitempty"`   // index within the group
	Launches  int                  `json:"launches,omitempty"` // how many of the group the next look needs
	Case      string               `json:"case,omitempty"`
	Cases     int                  `json:"cases,omitempty"` // how many
	Phase     string               `json:"phase,omitempty"`
	Done      uint64               `json:"done,omitempty"` // iterations of the phase
	Total     uint64               `json:"total,omitempty"`
	Rate      float64              `json:"rate,omitempty"` // bytes/s of all initiators, as they see it; a first idea
	Seconds   float64              `json:"seconds,omitempty"`
	Status    string               `json:"status,omitempty"`
	Reason    string               `json:"reason,omitempty"`
	Metrics   results.MetricValues `json:"metrics,omitzero"` // of one launch
	Failure   *results.Failure     `json:"failure,omitempty"`
	Assertion string               `json:"assertion,omitempty"`
	Verdict   results.Verdict      `json:"verdict,omitempty"`
	// Background says that the launch runs as load beside another one.
	Background bool `json:"background,omitempty"`
	// Void says why the launch does not count and is made again.
	Void string `json:"void,omitempty"`
	// Retried says that the launch failed and is made again.
	Retried bool `json:"retried,omitempty"`
}

// Stream keeps events in a file and passes them on.
type Stream struct {
	File *os.File    // nil: none yet
	Hear func(Event) // nil: nobody
	Err  error       // the first of writing
}

// Emit passes an event on and keeps it.
func (s *Stream) Emit(e Event) {
	e.Time = time.Now()
	if s.File != nil {
		// the stream is for watching; the journal is what must not be lost
		if err := WriteLine(s.File, e); s.Err == nil {
			s.Err = err
		}
	}
	if s.Hear != nil {
		s.Hear(e)
	}
}

// WriteLine appends a value as a line of JSON, or nothing.
func WriteLine(f *os.File, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	if n, err := f.Write(append(b, '\n')); err != nil {
		if st, failed := f.Stat(); n > 0 && failed == nil {
			_ = f.Truncate(st.Size() - int64(n)) // what comes next must begin a line
		}
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return nil
}
