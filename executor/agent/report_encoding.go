package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"
)

// Moment is a time that is encoded as its age, because clocks of hosts differ.
type Moment time.Time

// MarshalJSON is called by the encoder.
func (m Moment) MarshalJSON() ([]byte, error) { return json.Marshal(time.Since(time.Time(m))) }

// UnmarshalJSON is called by the decoder.
func (m *Moment) UnmarshalJSON(text []byte) error {
	var ago time.Duration
	if err := json.Unmarshal(text, &ago); err != nil {
		return err
	}
	if ago < 0 {
		return fmt.Errorf("a time %v in the future", -ago)
	}
	*m = Moment(time.Now().Add(-ago))
	return nil
}

// Blob is a field with bytes that follow the JSON of its report or order, which only says that they are there.
type Blob []byte

// MarshalJSON is called by the encoder.
func (Blob) MarshalJSON() ([]byte, error) { return []byte("true"), nil }

// UnmarshalJSON is called by the decoder.
func (b *Blob) UnmarshalJSON([]byte) error { *b = Blob{}; return nil }

// partsOf counts the fields of a report or order that are set, besides some.
func partsOf(v any, besides ...string) (n int) {
	of := reflect.ValueOf(v)
	for i := range of.NumField() {
		if !of.Field(i).IsZero() && !slices.Contains(besides, of.Type().Field(i).Name) {
			n++
		}
	}
	return n
}

// body is the field with the bytes of a report; nil: it has none.
func (r *Report) body() *[]byte {
	switch {
	case r.Addresses != nil:
		return (*[]byte)(&r.Addresses)
	case r.Result != nil:
		return &r.Result.Part.Samples
	case r.Artifact != nil:
		return &r.Artifact.Content
	case r.Log != nil:
		return &r.Log.Text
	case r.Observation != nil:
		return &r.Observation.Page
	}
	return nil
}

// Encode encodes a report as JSON and a body of bytes, which may be empty.
func (r Report) Encode() (head, body []byte, err error) {
	if head, err = json.Marshal(r); err != nil {
		return nil, nil, fmt.Errorf("encoding a report: %w", err)
	}
	if b := r.body(); b != nil {
		body = *b
	}
	return head, body, nil
}

// mostFailureLines bounds the log lines in a failure.
const mostFailureLines = 2 * logLines

// DecodeReport decodes a report of this node. It replaces the names of nodes in it.
func DecodeReport(node string, head, body []byte) (r Report, err error) {
	if err = json.Unmarshal(head, &r); err == nil {
		r.Node = node
		err = r.complete(body)
	}
	if err != nil {
		return Report{}, fmt.Errorf("reading a report of node %s: %w", node, err)
	}
	return r, nil
}

// complete adds the body to a decoded report, sets the names of nodes and checks it.
func (r *Report) complete(body []byte) error {
	if n := partsOf(*r, "Node", "Task"); n != 1 {
		return fmt.Errorf("it has %d parts instead of one", n)
	}
	if r.Result != nil && r.Result.Part == nil {
		return errors.New("a result without its case")
	}
	if len(body) > 0 {
		b := r.body()
		if b == nil {
			return fmt.Errorf("unexpected body of %d bytes", len(body))
		}
		*b = body
	}
	switch {
	case r.Joined != nil:
		r.Joined.Node.Name = r.Node
	case r.Progress != nil && r.Progress.Case < 0:
		return fmt.Errorf("progress in case %d", r.Progress.Case)
	case r.Outcome != nil:
		return r.Outcome.complete(r.Node)
	case r.Check != nil:
		r.Check.Node = r.Node
	case r.Command != nil:
		r.Command.Node = r.Node
	case r.Artifact != nil && len(body) > maxArtifact:
		return fmt.Errorf("an artifact of %d bytes", len(body))
	case r.Log != nil:
		return r.Log.check()
	case r.Observation != nil:
		r.Observation.Tail = r.Observation.Tail[:min(len(r.Observation.Tail), tailLines)]
		if len(body) > maxPage {
			return fmt.Errorf("an observation with a page of %d bytes", len(body))
		}
	}
	return nil
}

func (o *Outcome) complete(node string) error {
	if o.Kind < causeDied || o.Kind > causeCancelled {
		return fmt.Errorf("an outcome of unknown kind %d", o.Kind)
	}
	if f := o.Failure; f != nil {
		f.Node = node
		f.Log = f.Log[:min(len(f.Log), mostFailureLines)]
	}
	for i := range o.Counters {
		o.Counters[i].Node = node
	}
	if o.Load != nil {
		o.Load.Node = node
	}
	for _, v := range o.Variables {
		if !v.Known() {
			return fmt.Errorf("a variable from %.80q", v.From)
		}
	}
	return nil
}

func (l *Log) check() error {
	if !filepath.IsLocal(l.Name) || filepath.Clean(l.Name) != l.Name {
		return fmt.Errorf("a log named %q", l.Name)
	}
	if l.From < 0 || l.From > maxOutput || len(l.Text) > logPieceSize {
		return fmt.Errorf("log %s: a piece of %d bytes at offset %d", l.Name, len(l.Text), l.From)
	}
	return nil
}
