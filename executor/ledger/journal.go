package ledger

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"weir/executor/event"
	"weir/results"
)

// JournalName is the file of a session directory in which each finished launch
// is on disk before the next begins: a session that is killed loses the launch
// that it was in, and nothing else.
const JournalName = "journal.ndjson"

// Record is one line of a journal. With the plan beside it, the records are all
// that a result document is made of; one of the pointers is set.
type Record struct {
	Time      time.Time          `json:"time"`
	Session   *SessionRecord     `json:"session,omitempty"`
	Check     *results.Check     `json:"check,omitempty"`
	Command   *results.Command   `json:"command,omitempty"`
	Service   *results.Service   `json:"service,omitempty"`   // that has ended
	Artifacts []results.Artifact `json:"artifacts,omitempty"` // of one name and node
	Launch    *LaunchRecord      `json:"launch,omitempty"`
	Case      *CaseRecord        `json:"case,omitempty"`
	End       *EndRecord         `json:"end,omitempty"`
}

// SessionRecord is how a session began. A journal has several if the session was
// resumed.
type SessionRecord struct {
	Schema      string              `json:"schema"`
	ID          string              `json:"id"`
	Started     time.Time           `json:"started"`
	Argv        []string            `json:"argv"`
	Weir        results.Version     `json:"weir"`
	PlanDigest  string              `json:"plan_digest"`
	Quantiles   *results.Quantiles  `json:"quantiles,omitempty"` // as in the document
	Environment results.Environment `json:"environment"`
	Resumed     string              `json:"resumed,omitempty"` // id of the session that this one goes on with
	Baseline    *results.Baseline   `json:"baseline,omitempty"`
}

// LaunchRecord is a finished launch: what each of its cases has of it.
type LaunchRecord struct {
	Group string         `json:"group"`
	Index int            `json:"index"`
	Cases []LaunchedCase `json:"cases"`
	// Background are the launches of its background load that were complete.
	Background []*LaunchRecord `json:"background,omitempty"`
}

// LaunchedCase is a case's part of a launch.
type LaunchedCase struct {
	Key    string          `json:"key"`
	Launch *results.Launch `json:"launch"`
}

// CaseRecord is a case that was decided without or beside a launch.
type CaseRecord struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Kind   string `json:"kind,omitempty"` // of the failure that was no launch's, as in results.Failure
}

// EndRecord is how a session ended.
type EndRecord struct {
	Status   string `json:"status"`
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"reason,omitempty"`
}

// Record appends to the journal. A session that cannot keep its results ends.
func (l *Ledger) Record(r Record) error {
	if l.journal == nil {
		return nil
	}
	r.Time = time.Now()
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

// ReadJournal reads a journal. A last line that was cut short by the end of the
// process is left out.
func ReadJournal(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	defer f.Close()
	all, _, err := readJournal(f)
	return all, err
}

// readJournal reads a journal from its beginning, and says how many bytes of it
// are whole records.
func readJournal(f *os.File) (all []Record, size int64, err error) {
	in := bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))
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
			return nil, 0, fmt.Errorf("reading journal %s: line %d is cut short or damaged: begin anew, without --resume",
				f.Name(), n)
		}
		all = append(all, r)
		size += int64(len(line))
	}
}
