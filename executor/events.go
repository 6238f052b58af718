package executor

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"weir/results"
)

// EventsSchema is the JSON Schema (draft 2020-12) of one event as a line of NDJSON. It is
// strict: a key that is not in it is a mistake of the writer.
//
//go:embed events.schema.json
var EventsSchema []byte

// EventType says what happened.
type EventType string

// The events, in about the order in which they come.
const (
	SessionStarted  EventType = "session_started"
	NodeReady       EventType = "node_ready"
	NodeLost        EventType = "node_lost"    // for Reason; what is launched from now on goes without it
	CaseSkipped     EventType = "case_skipped" // for Reason, without having run
	RequireMissing  EventType = "require_missing"
	CheckDone       EventType = "check_done"
	CommandDone     EventType = "command_done"   // a setup or teardown command on one node
	ArtifactKept    EventType = "artifact_kept"  // or, by its Status, not
	LaunchResumed   EventType = "launch_resumed" // taken over from the session that this one goes on with
	LaunchStarted   EventType = "launch_started"
	CaseStarted     EventType = "case_started"
	CaseProgress    EventType = "case_progress" // of the slowest rank
	CaseFinished    EventType = "case_finished" // all ranks have run it; its samples are not evaluated yet
	CaseMeasured    EventType = "case_measured" // with the launch's metrics
	LaunchFinished  EventType = "launch_finished"
	NodeChanged     EventType = "node_changed" // a launch has another node than those before it
	EnvIgnored      EventType = "env_ignored"  // a variable that is set has no effect
	VerdictReached  EventType = "verdict"      // a first verdict, or another one than before
	SessionFinished EventType = "session_finished"
)

// Event is one thing that happened; fields that do not apply are absent.
type Event struct {
	Time      time.Time            `json:"time"`
	Type      EventType            `json:"type"`
	Session   string               `json:"session,omitempty"`
	Node      string               `json:"node,omitempty"`
	Check     string               `json:"check,omitempty"`
	Command   string               `json:"command,omitempty"`
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
	// Retried says that the launch failed and is made again.
	Retried bool `json:"retried,omitempty"`
}

// emit passes an event on and keeps it in events.ndjson.
func (s *session) emit(e Event) {
	e.Time = time.Now()
	if s.events != nil {
		// the stream is for watching; the journal is what must not be lost
		s.eventErr = firstError(s.eventErr, writeLine(s.events, e))
	}
	if s.o.Events != nil {
		s.o.Events(e)
	}
}

func writeLine(f *os.File, v any) error {
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

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
