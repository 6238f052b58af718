package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"weir/logwatch"
	"weir/results"
	"weir/workload"
)

// travelling is a report on its way to a coordinator elsewhere. Hosts have clocks of
// their own, so times travel as ages.
type travelling struct {
	Task     string           `json:"task"`
	Running  *time.Duration   `json:"running_ago,omitempty"`
	Progress *Progress        `json:"progress,omitempty"`
	Result   *result          `json:"result,omitempty"`
	Outcome  *outcome         `json:"outcome,omitempty"`
	Check    *results.Check   `json:"check,omitempty"`
	Command  *results.Command `json:"command,omitempty"`
	Secrets  *SecretsReport   `json:"secrets,omitempty"`
	Clock    *int64           `json:"clock,omitempty"` // ns since 1970
	Artifact *artifact        `json:"artifact,omitempty"`
	Log      *logPiece        `json:"log,omitempty"`
	Observed *seen            `json:"observed,omitempty"`
}

// seen is an observation without its page.
type seen struct {
	At      int64            `json:"at_ns"` // by the clock of the node
	Matches []logwatch.Match `json:"matches,omitempty"`
	Tail    []string         `json:"tail,omitempty"`
	File    string           `json:"unproven,omitempty"`
	Error   string           `json:"error,omitempty"`
}

type result struct {
	Part *workload.Part `json:"case"`
	Rate float64        `json:"rate"`
}

type outcome struct {
	Failure   *results.Failure   `json:"failure,omitempty"`
	Ignored   []results.Ignored  `json:"ignored,omitempty"`
	Variables []results.Variable `json:"variables,omitempty"`
	Counters  []results.Counter  `json:"counters,omitempty"`
	Load      *results.NodeLoad  `json:"load,omitempty"`
	Ago       time.Duration      `json:"ago"`
	Kind      kind               `json:"kind"`
}

type artifact struct {
	Source string `json:"source"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Last   bool   `json:"last"`
}

type logPiece struct {
	Name string `json:"name"`
	From int64  `json:"from"`
}

// ReportKind is what messages that are reports are called on their way.
const ReportKind = "report"

// Encode gives a report the form in which it travels: what it says, and the bytes that
// it brings, if any.
func (r Report) Encode() (head, body []byte, err error) {
	t := travelling{Task: r.Task, Progress: r.Progress, Check: r.Check, Command: r.Command, Secrets: r.Secrets}
	if r.Running != nil {
		ago := time.Since(*r.Running)
		t.Running = &ago
	}
	if r.Result != nil {
		t.Result, body = &result{r.Result.Part, r.Result.Rate}, r.Result.Part.Samples
	}
	if o := r.Outcome; o != nil {
		t.Outcome = &outcome{o.Failure, o.Ignored, o.Variables, o.Counters, o.Load, time.Since(o.At), o.kind}
	}
	if r.Clock != nil {
		ns := r.Clock.UnixNano()
		t.Clock = &ns
	}
	if a := r.Artifact; a != nil {
		t.Artifact, body = &artifact{a.Source, a.Status, a.Reason, a.Last}, a.Content
	}
	if r.Log != nil {
		t.Log, body = &logPiece{r.Log.Name, r.Log.From}, r.Log.Text
	}
	if o := r.Observation; o != nil {
		t.Observed, body = &seen{o.At.UnixNano(), o.Matches, o.Tail, o.Unproven, o.Error}, o.Page
	}
	if head, err = json.Marshal(t); err != nil {
		return nil, nil, fmt.Errorf("encoding a report: %w", err)
	}
	return head, body, nil
}

// mostFailureLines bounds what is kept of the log lines in a failure.
const mostFailureLines = 2 * logLines

// DecodeReport reads what Encode has written, of a node of that name. Nothing that it
// says of another node is believed.
func DecodeReport(node string, head, body []byte) (Report, error) {
	var t travelling
	if err := json.Unmarshal(head, &t); err != nil {
		return Report{}, fmt.Errorf("reading a report of node %s: %w", node, err)
	}
	r := Report{Node: node, Task: t.Task, Progress: t.Progress, Check: t.Check, Command: t.Command, Secrets: t.Secrets}
	parts := 0
	for _, there := range []bool{
		t.Running != nil, t.Progress != nil, t.Result != nil, t.Outcome != nil, t.Check != nil, t.Command != nil,
		t.Secrets != nil, t.Clock != nil, t.Artifact != nil, t.Log != nil, t.Observed != nil,
	} {
		if there {
			parts++
		}
	}
	if parts != 1 {
		return Report{}, fmt.Errorf("reading a report of node %s: it says %d things and not one", node, parts)
	}
	if len(body) > 0 && t.Result == nil && t.Artifact == nil && t.Log == nil && t.Observed == nil {
		return Report{}, fmt.Errorf("reading a report of node %s: it brings %d bytes that belong to nothing", node,
			len(body))
	}
	var err error
	switch {
	case t.Running != nil:
		r.Running, err = ago(*t.Running)
	case t.Progress != nil && t.Progress.Case < 0:
		err = fmt.Errorf("progress in case %d", t.Progress.Case)
	case t.Result != nil:
		r.Result, err = t.Result.decode(body)
	case t.Outcome != nil:
		r.Outcome, err = t.Outcome.decode(node)
	case t.Check != nil:
		r.Check.Node = node
	case t.Command != nil:
		r.Command.Node = node
	case t.Clock != nil:
		at := time.Unix(0, *t.Clock)
		r.Clock = &at
	case t.Artifact != nil:
		a := t.Artifact
		if len(body) > maxArtifact {
			err = fmt.Errorf("an artifact of %d bytes", len(body))
		}
		r.Artifact = &ArtifactReport{Source: a.Source, Content: body, Status: a.Status, Reason: a.Reason, Last: a.Last}
	case t.Log != nil:
		r.Log, err = t.Log.decode(body)
	case t.Observed != nil:
		r.Observation, err = t.Observed.decode(body)
	}
	if err != nil {
		return Report{}, fmt.Errorf("reading a report of node %s: %w", node, err)
	}
	return r, nil
}

func (t *seen) decode(body []byte) (*Observation, error) {
	if len(body) > maxPage {
		return nil, fmt.Errorf("an observation with a page of %d bytes", len(body))
	}
	return &Observation{
		Matches: t.Matches, Tail: t.Tail[:min(len(t.Tail), tailLines)], Page: body, Unproven: t.File,
		Error: t.Error, At: time.Unix(0, t.At),
	}, nil
}

// ago is a time that is so long past.
func ago(d time.Duration) (*time.Time, error) {
	if d < 0 {
		return nil, fmt.Errorf("something happened %v from now", -d)
	}
	at := time.Now().Add(-d)
	return &at, nil
}

func (t *result) decode(samples []byte) (*Result, error) {
	if t.Part == nil {
		return nil, errors.New("a result without its case")
	}
	if len(samples) > 0 {
		t.Part.Samples = samples
	}
	return &Result{Part: t.Part, Rate: t.Rate}, nil
}

func (t *outcome) decode(node string) (*Outcome, error) {
	if t.Kind < kindDied || t.Kind > kindTold {
		return nil, fmt.Errorf("an outcome of unknown kind %d", t.Kind)
	}
	at, err := ago(t.Ago)
	if err != nil {
		return nil, err
	}
	if f := t.Failure; f != nil {
		f.Node = node
		f.Log = f.Log[:min(len(f.Log), mostFailureLines)]
	}
	for i := range t.Counters {
		t.Counters[i].Node = node
	}
	if t.Load != nil {
		t.Load.Node = node
	}
	for _, v := range t.Variables {
		if !v.Known() {
			return nil, fmt.Errorf("a variable from %.80q", v.From)
		}
	}
	return &Outcome{Failure: t.Failure, Ignored: t.Ignored, Variables: t.Variables, Counters: t.Counters, Load: t.Load,
		At: *at, kind: t.Kind}, nil
}

func (t *logPiece) decode(text []byte) (*Log, error) {
	if !filepath.IsLocal(t.Name) || filepath.Clean(t.Name) != t.Name {
		return nil, fmt.Errorf("a log named %q", t.Name)
	}
	if t.From < 0 || t.From > maxOutput || len(text) > logPieceSize {
		return nil, fmt.Errorf("log %s goes on at byte %d with %d", t.Name, t.From, len(text))
	}
	return &Log{Name: t.Name, From: t.From, Text: text}, nil
}
