package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"golang.org/x/sys/unix"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/input"
	"weir/cmd/weir/program"
	"weir/cmd/weir/reports"
	"weir/cmd/weir/screen"
	"weir/cmd/weir/stored"
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
	flags          *flags
	input          string // what of the command line the plan is of
	plan           *planner.Plan
	baseline       baseline
	kill           <-chan struct{} // closed when nothing may be waited for any more
	reports        []reports.Report
	stream         *eventStream
	stdout, stderr io.Writer
	several        bool // other scenarios run in the same command
}

// run runs the session and writes what it gave, whole or partial. The exit code
// is the document's; an error beside it is about writing.
func (s *session) run(ctx context.Context) (int, error) {
	id := stored.SessionID(time.Now(), s.plan.Scenario.Name)
	dir := s.dir(id)
	if _, err := os.Stat(filepath.Join(dir, ledger.JournalName)); err == nil && s.flags.resume == "" {
		return gate.ExitUsage, exit.Usage("%s holds a session already: give another --out, or go on with it by --resume %s",
			dir, dir)
	}
	self, err := program.Processes()
	if err != nil {
		return gate.ExitExecution, exit.With(gate.ExitExecution, err)
	}
	fleet, err := s.flags.fleet.Fleet(ctx, s.flags.etcd, s.flags.access, s.plan, s.stderr)
	if err != nil {
		return gate.ExitPassed, exit.Execution(err) // the error has the exit code
	}
	if !s.flags.style.Quiet {
		for _, d := range input.Doubts(s.plan, s.flags.noise) {
			fmt.Fprintf(s.stderr, "weir: %s\n", input.DoubtLine(d))
		}
	}
	openBefore, err := s.flags.openBefore(s.plan, dir)
	if err != nil {
		return gate.ExitPassed, err
	}
	show := screen.NewProgress(s.stderr, s.plan, s.flags.style)
	doc, runErr := executor.Run(ctx, s.plan, executor.Options{
		Options: ledger.Options{
			Dir: dir, Resume: s.flags.resume != "", SessionID: id, Argv: os.Args, Again: s.again(),
			Version:  s.flags.version,
			Site:     s.flags.site.Document(),
			FailFast: s.flags.failFast, Baseline: s.baseline.doc, BaselineFile: s.baseline.file,
			Noise:        s.flags.noise,
			Inconclusive: s.flags.open.Flags, OpenBefore: openBefore,
			SkipMissing: s.baseline.skip,
			Judge:       gate.Judge, Undecided: gate.Undecided,
			Events: func(e event.Event) {
				s.stream.write(e)
				show.See(e)
			},
		},
		Etcd: s.flags.etcd, Fleet: fleet, Shell: s.flags.shell, RankCommand: self.Rank, ProbeCommand: self.Probe,
		GuardCommand: self.Guard,
		Disturbed:    s.flags.disturbed, Kill: s.kill, When: Admits, Fabrics: AsksFor,
	})
	show.Close()
	if r, refused := errors.AsType[*ledger.Refusal](runErr); refused {
		return r.Code, exit.With(r.Code, r) // what the directory holds stays as it is
	}
	if _, aborted := errors.AsType[*exit.Abort](runErr); aborted {
		fmt.Fprintf(s.stderr, "weir: %v; writing what was measured until now\n", runErr)
		runErr = nil // it is the document's exit code
	}
	failed := s.write(doc, dir)
	if err := s.flags.remember(doc, dir); err != nil {
		doc.Session.ExitCode = reports.Code(doc.Session.ExitCode, err)
		failed = errors.Join(failed, err)
	}
	if err := errors.Join(runErr, s.stream.err); err != nil {
		return doc.Session.ExitCode, exit.With(gate.ExitExecution, told(dir, errors.Join(err, failed)))
	}
	return doc.Session.ExitCode, exit.With(doc.Session.ExitCode, told(dir, failed))
}

// write writes the document and the reports, and tells the person what came of the session
// and where they are. What cannot be written keeps nothing else from being told.
func (s *session) write(doc *results.Document, dir string) error {
	s.sinceEarlier(doc, dir)
	kept, err := s.keep(doc, dir)
	doc.Session.ExitCode = reports.Code(doc.Session.ExitCode, err)
	if s.flags.style.Quiet {
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
	if reports.ToStdout(s.reports) || s.flags.events == "-" {
		w = s.stderr // stdout belongs to a program
	}
	failed := reports.Print(w, "printing the table", func(to io.Writer) error {
		return reporters.Table(to, doc, s.flags.style.Color(w), screen.Width(w))
	})
	if failed != nil && !errors.Is(failed, unix.EPIPE) { // who reads no further has seen enough
		err = errors.Join(err, failed)
		doc.Session.ExitCode = reports.Code(doc.Session.ExitCode, failed)
	}
	if kept {
		fmt.Fprintf(s.stderr, "results in %s\n", dir)
		if endedEarly(doc.Session.ExitCode) {
			fmt.Fprintf(s.stderr, "what was measured is kept; go on with: weir run --resume %s\n", dir)
		}
	}
	return err
}

// endedEarly says whether a session was ended by a signal or its time before it was done.
func endedEarly(code int) bool {
	return code == gate.ExitInterrupted || code == gate.ExitTerminated || code == gate.ExitTimeout
}

// keep writes the document, and the reports that were asked for or are always made. The document
// is kept even where a report is not.
func (s *session) keep(doc *results.Document, dir string) (kept bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("making the session directory: %w", err)
	}
	if err := ledger.NoLinks(dir); err != nil {
		return false, err
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
		all = append(all, reports.Report{Reporter: r})
	}
	return failed == nil, errors.Join(failed, reports.Write(all, doc, dir, s.stdout))
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

// ofOneSession are the flags that choose what of a scenario runs, say where results go
// or end a session early: who runs some cases again wants others of these, or none.
var ofOneSession = []string{
	"only", "skip", "out", "report", "events", "resume", "quiet", "no-color", "fail-fast", "timeout", "previous",
}

// again is a command that runs all of the session's scenario again, in the same way and
// at the same place.
func (s *session) again() []string {
	command := []string{"weir", "run", s.input}
	s.flags.set.Visit(func(f *pflag.Flag) {
		if slices.Contains(ofOneSession, f.Name) {
			return
		}
		list, ok := f.Value.(pflag.SliceValue)
		switch {
		case ok:
			for _, v := range list.GetSlice() {
				command = append(command, "--"+f.Name, v)
			}
		case f.NoOptDefVal != "": // the value of a switch would be read as a file
			command = append(command, "--"+f.Name+"="+f.Value.String())
		default:
			command = append(command, "--"+f.Name, f.Value.String())
		}
	})
	return command
}
