package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/results"
)

// Refusal is an error before the session has run or written anything.
type Refusal struct {
	Code int // exit code
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// ExitCode is the exit code of the program.
func (r *Refusal) ExitCode() int { return r.Code }

// Refuse is a Refusal.
func Refuse(code int, format string, args ...any) error {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// The files of the plan and of the events in a session directory.
const (
	PlanName   = "plan.json"
	EventsName = "events.ndjson"
)

// Open creates the session directory, or opens it to resume its session, and opens journal and event file.
func (l *Ledger) Open() error {
	if !l.o.Resume { // a resumed session may have one
		if err := l.loadBaseline(); err != nil {
			return err
		}
	}
	open := l.createDir
	if l.o.Resume {
		open = l.openDir
	}
	if err := noLinks(l.o.Dir); err != nil {
		return Refuse(ExitUsage, "%w", err)
	}
	if err := open(); err != nil {
		return err
	}
	var err error
	l.Events.File, err = os.OpenFile(filepath.Join(l.o.Dir, EventsName),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return fmt.Errorf("making the event file: %w", err)
	}
	return nil
}

// noLinks refuses a session directory with symbolic links: files written through them could replace others.
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

// NoLinks refuses a session directory with symbolic links at its top, before reports are written into it.
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

func (l *Ledger) createDir() error {
	if err := os.MkdirAll(l.o.Dir, 0o755); err != nil {
		return fmt.Errorf("making the session directory: %w", err)
	}
	b, err := l.Plan.Encode()
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	// written before the journal, which marks a session that can be resumed
	early := filepath.Join(l.o.Dir, PlanName+"."+l.o.SessionID)
	if err := results.WriteFile(early, b); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	defer os.Remove(early) // renamed below unless there is another session
	l.journal, err = os.OpenFile(l.journalPath(), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s already has a session", l.o.Dir)
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

// openDir opens the directory of the session to resume and reads its journal, without an incomplete last line.
func (l *Ledger) openDir() error {
	var err error
	l.journal, err = os.OpenFile(l.journalPath(), os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return Refuse(ExitUsage, "%s has no session to resume: %w", l.o.Dir, err)
	}
	if err := l.lock(); err != nil {
		return err
	}
	records, size, err := readJournal(l.journal)
	if err != nil {
		return Refuse(ExitUsage, "%w", err)
	}
	if l.past, err = readRecords(records, l.Plan); err != nil {
		return err
	}
	l.goOnAfter(records)
	if err := l.journal.Truncate(size); err != nil {
		return fmt.Errorf("repairing the journal: %w", err)
	}
	l.past.restore(l)
	return l.loadBaseline()
}

// goOnAfter sets the clock of a resumed session behind what is recorded, even if that of the host was set back since.
func (l *Ledger) goOnAfter(records []Record) {
	if n := len(records); n > 0 {
		l.Events.Clock = steady.New(records[n-1].Time)
		l.Doc.Session.Started = l.At(time.Now())
	}
}

func (l *Ledger) journalPath() string { return filepath.Join(l.o.Dir, JournalName) }

// lock locks the directory while this process has the journal open.
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

// Begin writes the session's record into the journal.
func (l *Ledger) Begin() error {
	d := l.Doc
	return l.Record(Record{Session: &SessionRecord{
		Schema: results.Schema, ID: l.o.SessionID, Started: d.Session.Started, Argv: l.o.Argv, Weir: l.o.Version,
		Quantiles:  d.Quantiles,
		PlanDigest: l.Plan.Digest, Environment: d.Environment, Resumed: d.Session.Resumed, Baseline: d.Baseline,
	}})
}

// DirNames gives each key a unique directory name, also in file systems that ignore case.
func DirNames(keys []string) map[string]string {
	names := make(map[string]string, len(keys))
	taken := map[string]bool{}
	for _, key := range keys {
		base := DirName(key)
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s~%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		names[key] = name
	}
	return names
}

const maxDirName = 120

// DirName is a name for files without characters special to shells: bandwidth[block_size=64MiB,op=read] becomes
// bandwidth.block_size=64MiB,op=read.
func DirName(key string) string {
	key = strings.TrimSuffix(key, "]")
	var b strings.Builder
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_=,+-.", r):
			b.WriteRune(r)
		case r == '[':
			b.WriteByte('.')
		default:
			b.WriteByte('_')
		}
	}
	name := strings.TrimLeft(b.String(), ".-") // no hidden file, no option
	if len(name) > maxDirName {
		name = name[:maxDirName]
	}
	if name == "" {
		return "_"
	}
	return name
}
