// Package event defines the events of a session and writes them.
package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/results"
)

// Schema is the strict JSON Schema (draft 2020-12) of one event, a line of NDJSON.
//
//go:embed events.schema.json
var Schema []byte

// Type is the type of an event.
type Type string

// The event types, approximately in order of occurrence.
const (
	SessionStarted  Type = "session_started"
	NodeReady       Type = "node_ready"
	NodeLost        Type = "node_lost"    // later launches do not use it
	CaseSkipped     Type = "case_skipped" // without having run
	RequireMissing  Type = "require_missing"
	CheckDone       Type = "check_done"
	CommandDone     Type = "command_done" // a setup or teardown command on one node
	ServiceStarted  Type = "service_started"
	ServiceWaits    Type = "service_waits" // for Reason
	ServiceReady    Type = "service_ready"
	ServiceEnded    Type = "service_ended"  // Status: whether it failed
	ArtifactKept    Type = "artifact_kept"  // Status: whether it is missing
	LaunchResumed   Type = "launch_resumed" // taken over from the resumed session
	LaunchStarted   Type = "launch_started"
	CaseStarted     Type = "case_started"
	CaseProgress    Type = "case_progress" // of the slowest rank
	CaseFinished    Type = "case_finished" // all ranks have run it; not evaluated yet
	CaseMeasured    Type = "case_measured" // with the launch's metrics
	LaunchFinished  Type = "launch_finished"
	NodeChanged     Type = "node_changed" // a launch uses another node than earlier ones
	EnvIgnored      Type = "env_ignored"  // a variable that is set has no effect
	VerdictReached  Type = "verdict"      // first or changed
	CaseEnded       Type = "case_ended"   // nothing more is launched for it
	SessionFinished Type = "session_finished"
)

// Event is one event; fields that do not apply are absent.
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
	Of        string               `json:"of,omitempty"`    // the run or launch of a command
	Group     string               `json:"group,omitempty"`
	Launch    *int                 `json:"launch,omitempty"`   // index within the group
	Launches  int                  `json:"launches,omitempty"` // of the group until its next look
	Case      string               `json:"case,omitempty"`
	Cases     int                  `json:"cases,omitempty"` // number of cases
	Phase     string               `json:"phase,omitempty"`
	Done      uint64               `json:"done,omitempty"` // iterations of the phase
	Total     uint64               `json:"total,omitempty"`
	Rate      float64              `json:"rate,omitempty"` // bytes/s of all initiators, preliminary
	Seconds   float64              `json:"seconds,omitempty"`
	Status    string               `json:"status,omitempty"`
	Reason    string               `json:"reason,omitempty"`
	Metrics   results.MetricValues `json:"metrics,omitzero"` // of one launch
	Failure   *results.Failure     `json:"failure,omitempty"`
	Assertion string               `json:"assertion,omitempty"`
	Verdict   results.Verdict      `json:"verdict,omitempty"` // of an assertion, or of a case apart from its assertions
	// Background: the launch is background load of another one.
	Background bool `json:"background,omitempty"`
	// Discarded is why the launch does not count.
	Discarded string `json:"void,omitempty"`
	// Measured has all launches of a case that ended, also those of a resumed session; not in the stream of events.
	Measured *results.Case `json:"-"`
	// Retried: the launch failed and is retried.
	Retried bool `json:"retried,omitempty"`
}

// Stream writes events to a file and passes them on.
type Stream struct {
	Clock   steady.Clock
	File    *os.File    // nil: none yet
	OnEvent func(Event) // nil: none
	Err     error       // the first write error
}

// Emit sets the time of an event, writes it and passes it on.
func (s *Stream) Emit(e Event) {
	e.Time = s.Clock.Now()
	if s.File != nil {
		// only the journal must be complete
		if err := WriteLine(s.File, e); s.Err == nil {
			s.Err = err
		}
	}
	if s.OnEvent != nil {
		s.OnEvent(e)
	}
}

// WriteLine appends a value as a line of JSON, completely or not at all.
func WriteLine(f *os.File, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	if n, err := f.Write(append(b, '\n')); err != nil {
		if st, failed := f.Stat(); n > 0 && failed == nil {
			_ = f.Truncate(st.Size() - int64(n)) // remove the incomplete line
		}
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return nil
}
