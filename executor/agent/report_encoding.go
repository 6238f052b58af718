package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// wireReport is the encoded form of a report. Times are encoded as ages, because clocks of hosts differ.
type wireReport struct {
	Report
	Address  bool             `json:"addresses,omitempty"`
	Running  *time.Duration   `json:"running_ago,omitempty"`
	Outcome  *wireOutcome     `json:"outcome,omitempty"`
	Clock    *int64           `json:"clock,omitempty"` // ns since 1970
	Observed *wireObservation `json:"observed,omitempty"`
}

type wireObservation struct {
	Observation
	At int64 `json:"at_ns"` // by the clock of the node
}

type wireOutcome struct {
	Outcome
	Ago  time.Duration `json:"ago"`
	Kind causeKind     `json:"kind"`
}

// Encode encodes a report as JSON and a body of bytes, which may be empty.
func (r Report) Encode() (head, body []byte, err error) {
	t := wireReport{Report: r}
	if r.Addresses != nil {
		t.Address, body = true, r.Addresses
	}
	if r.Running != nil {
		ago := time.Since(*r.Running)
		t.Running = &ago
	}
	if r.Result != nil {
		body = r.Result.Part.Samples
	}
	if o := r.Outcome; o != nil {
		t.Outcome = &wireOutcome{*o, time.Since(o.At), o.kind}
	}
	if r.Clock != nil {
		ns := r.Clock.UnixNano()
		t.Clock = &ns
	}
	if r.Artifact != nil {
		body = r.Artifact.Content
	}
	if r.Log != nil {
		body = r.Log.Text
	}
	if o := r.Observation; o != nil {
		t.Observed, body = &wireObservation{*o, o.At.UnixNano()}, o.Page
	}
	if head, err = json.Marshal(t); err != nil {
		return nil, nil, fmt.Errorf("encoding a report: %w", err)
	}
	return head, body, nil
}

// mostFailureLines bounds the log lines in a failure.
const mostFailureLines = 2 * logLines

// DecodeReport decodes a report of this node. It replaces the names of nodes in it.
func DecodeReport(node string, head, body []byte) (Report, error) {
	var t wireReport
	if err := json.Unmarshal(head, &t); err != nil {
		return Report{}, fmt.Errorf("reading a report of node %s: %w", node, err)
	}
	r := t.Report
	r.Node = node
	parts := 0
	for _, there := range []bool{
		t.Joined != nil, t.Address, t.Connected, t.Failing != "", t.Running != nil, t.Progress != nil, t.Result != nil,
		t.Outcome != nil, t.Check != nil, t.Command != nil,
		t.Secrets != nil, t.Clock != nil, t.Artifact != nil, t.Log != nil, t.Observed != nil,
	} {
		if there {
			parts++
		}
	}
	if parts != 1 {
		return Report{}, fmt.Errorf("reading a report of node %s: it has %d parts instead of one", node, parts)
	}
	if len(body) > 0 && !t.Address && t.Result == nil && t.Artifact == nil && t.Log == nil && t.Observed == nil {
		return Report{}, fmt.Errorf("reading a report of node %s: unexpected body of %d bytes", node, len(body))
	}
	var err error
	switch {
	case t.Joined != nil:
		r.Joined.Node.Name = node
	case t.Address:
		r.Addresses = body
	case t.Running != nil:
		r.Running, err = timeAgo(*t.Running)
	case t.Progress != nil && t.Progress.Case < 0:
		err = fmt.Errorf("progress in case %d", t.Progress.Case)
	case t.Result != nil:
		err = r.Result.setBody(body)
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
		if r.Artifact.Content = body; len(body) > maxArtifact {
			err = fmt.Errorf("an artifact of %d bytes", len(body))
		}
	case t.Log != nil:
		err = r.Log.setBody(body)
	case t.Observed != nil:
		r.Observation, err = t.Observed.decode(body)
	}
	if err != nil {
		return Report{}, fmt.Errorf("reading a report of node %s: %w", node, err)
	}
	return r, nil
}

func (t *wireObservation) decode(body []byte) (*Observation, error) {
	if len(body) > maxPage {
		return nil, fmt.Errorf("an observation with a page of %d bytes", len(body))
	}
	o := t.Observation
	o.Tail, o.Page, o.At = o.Tail[:min(len(o.Tail), tailLines)], body, time.Unix(0, t.At)
	return &o, nil
}

func timeAgo(d time.Duration) (*time.Time, error) {
	if d < 0 {
		return nil, fmt.Errorf("a time %v in the future", -d)
	}
	at := time.Now().Add(-d)
	return &at, nil
}

func (r *Result) setBody(samples []byte) error {
	if r.Part == nil {
		return errors.New("a result without its case")
	}
	if len(samples) > 0 {
		r.Part.Samples = samples
	}
	return nil
}

func (t *wireOutcome) decode(node string) (*Outcome, error) {
	if t.Kind < causeDied || t.Kind > causeCancelled {
		return nil, fmt.Errorf("an outcome of unknown kind %d", t.Kind)
	}
	at, err := timeAgo(t.Ago)
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
	o := t.Outcome
	o.At, o.kind = *at, t.Kind
	return &o, nil
}

func (l *Log) setBody(text []byte) error {
	if !filepath.IsLocal(l.Name) || filepath.Clean(l.Name) != l.Name {
		return fmt.Errorf("a log named %q", l.Name)
	}
	if l.From < 0 || l.From > maxOutput || len(text) > logPieceSize {
		return fmt.Errorf("log %s: a piece of %d bytes at offset %d", l.Name, len(text), l.From)
	}
	l.Text = text
	return nil
}
