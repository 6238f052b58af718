package executor

import (
	"errors"
	"fmt"
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

func refuse(code int, format string, args ...any) error {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// PlanName is the file of a session directory that has the plan.
const PlanName = "plan.json"

// openDir makes the session directory, or opens that of the session to go on
// with, and the files that grow with the session.
func (s *session) openDir() error {
	open := s.newDir
	if s.o.Resume {
		open = s.formerDir
	}
	if err := open(); err != nil {
		return err
	}
	var err error
	s.events, err = os.OpenFile(filepath.Join(s.o.Dir, "events.ndjson"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("making the event file: %w", err)
	}
	return nil
}

func (s *session) newDir() error {
	if err := os.MkdirAll(s.o.Dir, 0o755); err != nil {
		return fmt.Errorf("making the session directory: %w", err)
	}
	b, err := s.plan.Encode()
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	// complete before the journal, which says that there is a session to go on with
	early := filepath.Join(s.o.Dir, PlanName+"."+s.o.SessionID)
	if err := results.WriteFile(early, b); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	defer os.Remove(early) // where it is still there, there is another session
	s.journal, err = os.OpenFile(s.journalPath(), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s holds a session already", s.o.Dir)
	}
	if err != nil {
		return fmt.Errorf("making the journal: %w", err)
	}
	if err := s.lock(); err != nil {
		return err
	}
	if err := os.Rename(early, filepath.Join(s.o.Dir, PlanName)); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// formerDir opens the directory of the session to go on with and reads what it
// did. The journal's last line may be cut short; it goes.
func (s *session) formerDir() error {
	var err error
	s.journal, err = os.OpenFile(s.journalPath(), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return refuse(exitUsage, "%s holds no session to go on with: %w", s.o.Dir, err)
	}
	if err := s.lock(); err != nil {
		return err
	}
	records, size, err := readJournal(s.journal)
	if err != nil {
		return refuse(exitUsage, "%w", err)
	}
	if s.past, err = readPast(records, s.plan); err != nil {
		return err
	}
	if err := s.journal.Truncate(size); err != nil {
		return fmt.Errorf("repairing the journal: %w", err)
	}
	s.past.restore(s)
	return s.takeBaseline()
}

func (s *session) journalPath() string { return filepath.Join(s.o.Dir, JournalName) }

// lock keeps the directory to this process for as long as it has the journal open.
func (s *session) lock() error {
	err := unix.Flock(int(s.journal.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return refuse(exitUsage, "a session is running in %s", s.o.Dir)
	}
	if err != nil {
		return fmt.Errorf("locking the journal: %w", err)
	}
	return nil
}
