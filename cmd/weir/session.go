package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "weir/engine/command"
	_ "weir/engine/sim"
	"weir/executor"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/gate"
	"weir/planner"
	"weir/reporters"
	"weir/results"
)

// session is one plan's way through executor, gate and reporters.
type session struct {
	flags          *runFlags
	input          string // what of the command line the plan is of
	plan           *planner.Plan
	baseline       baseline
	kill           <-chan struct{} // closed when nothing may be waited for any more
	reports        []report
	stream         *eventStream
	stdout, stderr io.Writer
	several        bool // other scenarios run in the same command
}

// run runs the session and writes what it gave, whole or partial. The exit code
// is the document's; an error beside it is about writing.
func (s *session) run(ctx context.Context) (int, error) {
	id := sessionID(time.Now(), s.plan.Scenario.Name)
	dir := s.dir(id)
	if _, err := os.Stat(filepath.Join(dir, ledger.JournalName)); err == nil && s.flags.resume == "" {
		return gate.ExitUsage, wrongUsage("%s holds a session already: give another --out, or go on with it by --resume %s", dir, dir)
	}
	self, err := processes()
	if err != nil {
		return gate.ExitExecution, withCode(gate.ExitExecution, err)
	}
	fleet, err := s.flags.fleet.fleet(ctx, s.flags.etcd, s.flags.access, s.plan, s.stderr)
	if err != nil {
		return gate.ExitPassed, asExecution(err) // the error has the exit code
	}
	show := newProgress(s.stderr, s.plan, s.flags.style)
	doc, runErr := executor.Run(ctx, s.plan, executor.Options{
		Options: ledger.Options{
			Dir: dir, Resume: s.flags.resume != "", SessionID: id, Argv: os.Args, Again: s.again(), Version: buildVersion(),
			Site:     s.flags.site.document(),
			FailFast: s.flags.failFast, Baseline: s.baseline.doc, BaselineFile: s.baseline.file,
			Judge: gate.Judge, Undecided: gate.Undecided,
			Events: func(e event.Event) {
				s.stream.write(e)
				show.see(e)
			},
		},
		Etcd: s.flags.etcd, Fleet: fleet, Shell: s.flags.shell, RankCommand: self.rank, ProbeCommand: self.probe,
		Kill: s.kill, When: admits, Fabrics: asksFor,
	})
	show.close()
	if r, refused := errors.AsType[*ledger.Refusal](runErr); refused {
		return r.Code, withCode(r.Code, r) // what the directory holds stays as it is
	}
	if _, aborted := errors.AsType[*abort](runErr); aborted {
		fmt.Fprintf(s.stderr, "weir: %v; writing what was measured until now\n", runErr)
		runErr = nil // it is the document's exit code
	}
	return doc.Session.ExitCode, withCode(gate.ExitExecution, told(dir, errors.Join(runErr, s.write(doc, dir), s.stream.err)))
}

// write writes the document and the reports, and tells the person what came of the session
// and where they are. What cannot be written keeps nothing else from being told.
func (s *session) write(doc *results.Document, dir string) error {
	s.sinceEarlier(doc, dir)
	err := s.keep(doc, dir)
	kept := err == nil
	if !kept {
		doc.Session.ExitCode = gate.Worst(doc.Session.ExitCode, gate.ExitExecution)
	}
	if s.flags.style.quiet {
		if code := doc.Session.ExitCode; code != gate.ExitPassed {
			why := doc.Session.Reason
			if why == "" {
				why = "see " + filepath.Join(dir, "report.md")
			}
			fmt.Fprintf(s.stderr, "weir: %s: %s, exit code %d: %s\n", doc.Scenario.Name, doc.Session.Status, code, why)
		}
		return err
	}
	w := s.stdout
	if toStdout(s.reports) || s.flags.events == "-" {
		w = s.stderr // stdout belongs to a program
	}
	if failed := reporters.Table(w, doc, s.flags.style.color(w), width(w)); failed != nil {
		err = errors.Join(err, fmt.Errorf("printing the table: %w", failed))
	}
	if kept {
		fmt.Fprintf(s.stderr, "results in %s\n", dir)
	}
	return err
}

// keep writes the document, and the reports that were asked for or are always made.
func (s *session) keep(doc *results.Document, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the session directory: %w", err)
	}
	failed := doc.Write(filepath.Join(dir, "results.json"))
	if failed != nil {
		failed = fmt.Errorf("writing results: %w", failed)
	}
	all := s.reports
	for _, format := range []string{"markdown", "junit"} { // what people and CI systems look for first
		r, ok := reporters.Lookup(format)
		if !ok {
			panic("no reporter " + format)
		}
		all = append(all, report{r, ""})
	}
	return errors.Join(failed, write(all, doc, dir, s.stdout))
}

func (s *session) dir(id string) string {
	switch {
	case s.flags.resume != "":
		return s.flags.resume
	case s.flags.out == "":
		return filepath.Join("weir-out", id)
	case s.several:
		return filepath.Join(s.flags.out, id)
	}
	return s.flags.out
}

// sessionID is unique, sorts by time, and says what ran.
func sessionID(now time.Time, scenario string) string {
	unique := make([]byte, 2)
	rand.Read(unique)
	return now.UTC().Format("20060102-150405") + "-" + slug(scenario) + "-" + hex.EncodeToString(unique)
}

// slug keeps of a name what is harmless in paths and keys.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
}
