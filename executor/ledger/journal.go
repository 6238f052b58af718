package ledger

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
)

// JournalName is the file of the journal in a session directory. Each launch is on disk before the next one begins,
// so a killed session loses at most one launch.
const JournalName = results.Journal

// Record is one line of a journal; exactly one field besides Time is set. Plan and records together determine the
// result document.
type Record struct {
	Time      time.Time          `json:"time"`
	Session   *SessionRecord     `json:"session,omitempty"`
	Check     *results.Check     `json:"check,omitempty"`
	Command   *results.Command   `json:"command,omitempty"`
	Service   *results.Service   `json:"service,omitempty"`   // ended
	Artifacts []results.Artifact `json:"artifacts,omitempty"` // of one name and node
	Launch    *LaunchRecord      `json:"launch,omitempty"`
	Case      *CaseRecord        `json:"case,omitempty"`
	End       *EndRecord         `json:"end,omitempty"`
}

// SessionRecord is the beginning of a session. The journal of a resumed session has several.
type SessionRecord struct {
	Schema      string              `json:"schema"`
	ID          string              `json:"id"`
	Started     time.Time           `json:"started"`
	Argv        []string            `json:"argv"`
	Weir        results.Version     `json:"weir"`
	PlanDigest  string              `json:"plan_digest"`
	Quantiles   *results.Quantiles  `json:"quantiles,omitempty"` // as in the document
	Environment results.Environment `json:"environment"`
	Resumed     string              `json:"resumed,omitempty"` // id of the resumed session
	Baseline    *results.Baseline   `json:"baseline,omitempty"`
}

// LaunchRecord is an ended launch.
type LaunchRecord struct {
	Group string         `json:"group"`
	Index int            `json:"index"`
	Cases []LaunchedCase `json:"cases"`
	// Background are the complete launches of its background load.
	Background []*LaunchRecord `json:"background,omitempty"`
}

// LaunchedCase is a case's entry of a launch.
type LaunchedCase struct {
	Key    string          `json:"key"`
	Launch *results.Launch `json:"launch"`
}

// CaseRecord is a decision about a case that does not follow from its launches.
type CaseRecord struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Kind   string `json:"kind,omitempty"` // of the failure, as in results.Failure
}

// EndRecord is the end of a session.
type EndRecord struct {
	Status   string `json:"status"`
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"reason,omitempty"`
}

// Record appends a record to the journal. The session must end if that fails.
func (l *Ledger) Record(r Record) error {
	if l.journal == nil {
		return nil
	}
	r.Time = l.At(time.Now())
	if err := event.WriteLine(l.journal, r); err != nil {
		return err
	}
	if r.Launch == nil && r.End == nil {
		return nil // the next launch's sync covers it
	}
	if err := l.journal.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", l.journal.Name(), err)
	}
	return nil
}

// ReadJournal reads a journal, without an incomplete last line.
func ReadJournal(path string) ([]Record, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	defer f.Close()
	all, _, err := readJournal(f)
	return all, err
}

// readJournal reads a journal of at most bounded.Result bytes and returns the size in bytes of its complete lines.
func readJournal(f *os.File) (all []Record, size int64, err error) {
	if at, err := f.Stat(); err == nil && !at.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("reading journal: %s is no regular file", f.Name())
	}
	content, err := bounded.Of(f, bounded.Result)
	if err != nil {
		return nil, 0, fmt.Errorf("reading journal: %w", err)
	}
	in := bufio.NewReader(content)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return all, size, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading journal: %w", err)
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, 0, fmt.Errorf("reading journal %s: line %d is cut short or damaged: start a new session, without --resume",
				f.Name(), n)
		}
		all = append(all, r)
		size += int64(len(line))
	}
}
