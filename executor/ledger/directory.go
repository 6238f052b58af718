package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"weir/results"
)

// Refusal is an error before anything was run or written: the session directory
// is as it was.
type Refusal struct {
	Code int // exit code
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// ExitCode is what the program ends with.
func (r *Refusal) ExitCode() int { return r.Code }

// Refuse is a Refusal.
func Refuse(code int, format string, args ...any) error {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// PlanName is the file of a session directory that has the plan.
const PlanName = "plan.json"

// Open makes the session directory, or opens that of the session to go on
// with, and the files that grow with the session.
func (l *Ledger) Open() error {
	if !l.o.Resume { // a resumed session may have one
		if err := l.takeBaseline(); err != nil {
			return err
		}
	}
	open := l.newDir
	if l.o.Resume {
		open = l.formerDir
	}
	if err := noLinks(l.o.Dir); err != nil {
		return Refuse(ExitUsage, "%w", err)
	}
	if err := open(); err != nil {
		return err
	}
	var err error
	l.Events.File, err = os.OpenFile(filepath.Join(l.o.Dir, "events.ndjson"),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return fmt.Errorf("making the event file: %w", err)
	}
	return nil
}

// noLinks refuses a session directory in which a link would lead what is written elsewhere, to
// files of whoever runs the session.
func noLinks(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case path != dir && d.Type()&fs.ModeSymlink != 0:
			return linkError(path)
		}
		return nil
	})
}

// NoLinks is what must hold before the files of a session's end are written into its directory.
func NoLinks(dir string) error {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if err == nil && f.Type()&fs.ModeSymlink != 0 {
			err = linkError(filepath.Join(dir, f.Name()))
		}
	}
	return err
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link: a session writes through none", path)
}

func (l *Ledger) newDir() error {
	if err := os.MkdirAll(l.o.Dir, 0o755); err != nil {
		return fmt.Errorf("making the session directory: %w", err)
	}
	b, err := l.Plan.Encode()
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	// complete before the journal, which says that there is a session to go on with
	early := filepath.Join(l.o.Dir, PlanName+"."+l.o.SessionID)
	if err := results.WriteFile(early, b); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	defer os.Remove(early) // where it is still there, there is another session
	l.journal, err = os.OpenFile(l.journalPath(), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s holds a session already", l.o.Dir)
	}
	if err != nil {
		return fmt.Errorf("making the journal: %w", err)
	}
	if err := l.lock(); err != nil {
		return err
	}
	if err := os.Rename(early, filepath.Join(l.o.Dir, PlanName)); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// formerDir opens the directory of the session to go on with and reads what it
// did. The journal's last line may be cut short; it goes.
func (l *Ledger) formerDir() error {
	var err error
	l.journal, err = os.OpenFile(l.journalPath(), os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return Refuse(ExitUsage, "%s holds no session to go on with: %w", l.o.Dir, err)
	}
	if err := l.lock(); err != nil {
		return err
	}
	records, size, err := readJournal(l.journal)
	if err != nil {
		return Refuse(ExitUsage, "%w", err)
	}
	if l.former, err = readPast(records, l.Plan); err != nil {
		return err
	}
	if err := l.journal.Truncate(size); err != nil {
		return fmt.Errorf("repairing the journal: %w", err)
	}
	l.former.restore(l)
	return l.takeBaseline()
}

func (l *Ledger) journalPath() string { return filepath.Join(l.o.Dir, JournalName) }

// lock keeps the directory to this process for as long as it has the journal open.
func (l *Ledger) lock() error {
	err := unix.Flock(int(l.journal.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return Refuse(ExitUsage, "a session is running in %s", l.o.Dir)
	}
	if err != nil {
		return fmt.Errorf("locking the journal: %w", err)
	}
	return nil
}

// Begin writes to the journal how the session began.
func (l *Ledger) Begin() error {
	d := l.Doc
	return l.Record(Record{Session: &SessionRecord{
		Schema: results.Schema, ID: l.o.SessionID, Started: d.Session.Started, Argv: l.o.Argv, Weir: l.o.Version,
		Quantiles:  d.Quantiles,
		PlanDigest: l.Plan.Digest, Environment: d.Environment, Resumed: d.Session.Resumed, Baseline: d.Baseline,
	}})
}
