package run

import (
	"cmp"
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

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/program"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/serve"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/executor"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// session runs one plan through executor, gate and reporters.
type session struct {
	flags          *flags
	input          string // argument of the plan
	plan           *planner.Plan
	baseline       baseline
	kill           <-chan struct{} // closed by the second signal: wait for nothing
	reports        []reports.Report
	stream         *eventStream
	stdout, stderr io.Writer
	several        bool   // other scenarios run in the same command
	status, wrote  string // after run: of the document, and its directory
	noPage         bool   // the HTML page could not be written
	told           bool   // the reader of stderr has read the table

	stored     bool // the document was written, with storedCode: errors after that raise its exit code
	storedCode int

	pushedAt   time.Time // when metrics were pushed last, or the session began
	pushFailed bool
}

// run runs the session and writes its results, even if they are partial. It returns the exit code of the
// document; the error is about the session or about writing.
func (s *session) run(ctx context.Context) (int, error) {
	id := stored.SessionID(time.Now(), s.plan.Scenario.Name)
	dir := s.dir(id)
	if _, err := os.Stat(filepath.Join(dir, ledger.JournalName)); err == nil && s.flags.resume == "" {
		return gate.ExitUsage, exit.Usage("%s has a session already: give another --out, or continue it with --resume %s",
			dir, dir)
	}
	self, err := program.Processes()
	if err != nil {
		return gate.ExitExecution, exit.With(gate.ExitExecution, err)
	}
	fleet, err := s.flags.fleet.Fleet(ctx, s.flags.etcd, s.plan, s.stderr)
	if err != nil {
		return gate.ExitPassed, exit.Execution(err) // the error has the exit code
	}
	if !s.flags.style.Quiet {
		for _, d := range input.Doubts(s.plan, s.flags.noise) {
			screen.Say(s.stderr, "weir: "+input.DoubtLine(d))
		}
	}
	openBefore, err := s.flags.openBefore(s.plan, dir)
	if err != nil {
		return gate.ExitPassed, err
	}
	if s.flags.live {
		page, err := serve.Start(history.Store{Dir: filepath.Dir(dir), Unindexed: true}, "127.0.0.1:0")
		if err != nil {
			return gate.ExitExecution, err
		}
		defer func() {
			page.Report(ctx)
			_ = page.Close() // the session is what counts
		}()
		fmt.Fprintf(s.stderr, "live: %s\n", page.Address(filepath.Base(dir)))
	}
	s.pushedAt = time.Now()
	show := screen.NewProgress(s.stderr, s.plan, s.flags.style)
	doc, runErr := executor.Run(ctx, s.plan, executor.Options{
		Options: ledger.Options{
			Dir: dir, Resume: s.flags.resume != "", SessionID: id, Argv: s.flags.shownArguments(), Again: s.again(),
			Version:  s.flags.version,
			Site:     s.flags.site.Document(),
			FailFast: s.flags.failFast, Baseline: s.baseline.doc, BaselineFile: s.baseline.file,
			BaselineSessions: s.baseline.sessions,
			Noise:            s.flags.noise,
			Inconclusive:     s.flags.open.Flags, OpenBefore: openBefore,
			SkipMissing: s.baseline.skip,
			Judge: func(doc *results.Document) {
				gate.Judge(doc)
				s.pushSoFar(ctx, doc)
			},
			Undecided: gate.Undecided,
			Events: func(e event.Event) {
				s.stream.write(e)
				show.OnEvent(e)
			},
		},
		Etcd: s.flags.etcd, Fleet: fleet, Shell: s.flags.shell, RankCommand: self.Rank, ProbeCommand: self.Probe,
		GuardCommand: self.Guard,
		Disturbed:    s.flags.disturbed, Kill: s.kill, When: Admits, Fabrics: AsksFor,
		Launcher: s.flags.fleet.Used(), Inspect: s.flags.fleet.Inspect,
	})
	show.Close()
	if r, refused := errors.AsType[*ledger.Refusal](runErr); refused {
		return r.Code, exit.With(r.Code, r) // the directory is not changed
	}
	if _, aborted := errors.AsType[*exit.Abort](runErr); aborted {
		screen.Say(s.stderr, fmt.Sprintf("weir: %v; writing the results so far", runErr))
		runErr = nil // the document has its exit code
	}
	failed := s.write(doc, dir)
	s.noteOtherOptions(doc)
	s.pushed(doc)
	if err := errors.Join(s.record(doc, dir), s.flags.remember(doc, dir)); err != nil {
		unwritten(doc, err)
		failed = errors.Join(failed, err)
	}
	if s.stored && doc.Session.ExitCode != s.storedCode && ledger.NoLinks(dir) == nil {
		failed = errors.Join(failed, doc.Write(filepath.Join(dir, "results.json")))
	}
	s.notified(doc)
	s.status, s.wrote = doc.Session.Status, dir
	if runErr != nil && s.told && runErr.Error() == doc.Session.Reason {
		runErr = nil // the table has it
	}
	if err := errors.Join(runErr, s.stream.err); err != nil {
		return doc.Session.ExitCode, exit.With(gate.ExitExecution, reportFullOnce(dir, errors.Join(err, failed)))
	}
	return doc.Session.ExitCode, exit.With(doc.Session.ExitCode, reportFullOnce(dir, failed))
}

// write writes the document and the reports, and prints the outcome and their place. It joins the errors
// of writing.
func (s *session) write(doc *results.Document, dir string) error {
	s.sinceEarlier(doc, dir)
	kept, err := s.keep(doc, dir)
	unwritten(doc, err)
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
	w := s.flags.tables(s.stdout, s.stderr, s.reports)
	failed := s.flags.reports.Table(w, doc, s.flags.style.Color(w), screen.Width(w))
	s.told = failed == nil && screen.SameFile(w, s.stderr)
	if failed != nil && !errors.Is(failed, unix.EPIPE) {
		err = errors.Join(err, failed)
		unwritten(doc, failed)
	}
	if kept {
		screen.Say(s.stderr, fmt.Sprintf("results in %s%s", dir, s.page(dir)))
		if endedEarly(doc.Session.ExitCode) {
			fmt.Fprintf(s.stderr, "the measurements are kept; continue with: weir run --resume %s\n", dir)
		}
	}
	return err
}

// unwritten gives a session the exit code for errors of writing, and the word for it.
func unwritten(doc *results.Document, err error) {
	if code := reports.Code(doc.Session.ExitCode, err); code != doc.Session.ExitCode {
		doc.Session.ExitCode, doc.Session.Status = code, results.Errored
	}
}

// page says where the HTML page of the results is, or how to write it; nothing if it could not be written.
func (s *session) page(dir string) string {
	if s.noPage {
		return ""
	}
	for _, r := range s.reports {
		if r.Name == "html" && r.Path != reporters.Stdout {
			return "; page: " + cmp.Or(r.PathOf(s.plan.Scenario.Name), filepath.Join(dir, r.DefaultFile))
		}
	}
	return "; for a page: weir report " + dir + " --report html"
}

// endedEarly reports whether a signal or the timeout ended a session.
func endedEarly(code int) bool {
	return code == gate.ExitInterrupted || code == gate.ExitTerminated || code == gate.ExitTimeout
}

// keep writes the document, the reports of --report and those that are always written. kept reports
// whether the document was written.
func (s *session) keep(doc *results.Document, dir string) (kept bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("making the session directory: %w", err)
	}
	if err := ledger.NoLinks(dir); err != nil {
		return false, err
	}
	failed := doc.Write(filepath.Join(dir, "results.json"))
	s.stored, s.storedCode = failed == nil, doc.Session.ExitCode
	if failed != nil {
		failed = fmt.Errorf("writing results: %w", failed)
	}
	all := s.reports
	for _, format := range []string{"markdown", "junit"} { // always written
		r, ok := reporters.Lookup(format)
		if !ok {
			panic("no reporter " + format)
		}
		all = append(all, reports.Report{Reporter: r})
	}
	file := s.flags.baseline
	if _, err := os.Stat(file); err != nil {
		file = "" // skip allows that it does not exist
	}
	err = reports.Compare(all, doc, dir, file, stored.Read, s.stderr)
	for _, r := range all {
		fault := reports.Write([]reports.Report{r}, doc, dir, s.stdout)
		s.noPage = s.noPage || fault != nil && r.Name == "html"
		err = errors.Join(err, fault)
	}
	return failed == nil, errors.Join(failed, err)
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

// ofOneSession are the flags that again leaves out: selection of cases, paths of results, and early ends.
var ofOneSession = []string{
	"only", "skip", "out", "report", "events", "resume", "quiet", "no-color", "fail-fast", "timeout", "previous",
	"columns", "wide", "push", "notify", "live",
}

// again is the command that runs the session's whole scenario again, with the same settings.
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
		case f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal:
			command = append(command, "--"+f.Name)
		case f.NoOptDefVal != "": // a separate value would be parsed as an argument
			command = append(command, "--"+f.Name+"="+f.Value.String())
		default:
			command = append(command, "--"+f.Name, f.Value.String())
		}
	})
	return command
}
