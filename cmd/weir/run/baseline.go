package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// recordMissing is the value of --baseline-missing that skips assertions as dsl.SkipMissing does, and makes a session
// that passed the baseline of later ones where it had none to compare with.
const recordMissing = "record"

// baseline is the document of baseline.METRIC.
type baseline struct {
	doc      *results.Document // nil: there is none, which skip allows
	file     string
	skip     bool                // skip assertions about values that the document lacks
	sessions []results.CaseNoise // how those vary that are kept beside it
}

// baselines reads the baseline of each plan that mentions one, and that of the flag in any case. A
// resumed session has its own.
func (f *flags) baselines(plans []*planner.Plan, notes io.Writer) ([]baseline, error) {
	if !slices.Contains([]string{"", "error", dsl.SkipMissing, recordMissing}, f.baselineMissing) {
		return nil, exit.Usage("--baseline-missing is error, skip or record, not %q", f.baselineMissing)
	}
	if f.baselineMissing == recordMissing && f.baseline != "" && len(plans) > 1 {
		return nil, exit.Usage("--baseline-missing record: %d scenarios would have the same baseline %s", len(plans),
			f.baseline)
	}
	given, err := f.readBaseline(f.baseline, !slices.ContainsFunc(plans, f.needsBaseline), notes)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	all := make([]baseline, len(plans))
	used := false
	for i, p := range plans {
		if p == nil {
			continue
		}
		text := ledger.UsesBaseline(p)
		if text == "" {
			continue
		}
		used = true
		if f.resume != "" {
			continue
		}
		skip := f.skipsMissing(p)
		doc, file := given, f.baseline
		if f.baseline == "" {
			file = p.Baseline
			if file == "" && (!skip || f.baselineMissing == recordMissing) {
				return nil, exit.Usage("%s: the assertion %q needs a baseline; give one with --baseline FILE or the key baseline, or skip such assertions with --baseline-missing skip",
					p.Scenario.File, text)
			}
			if doc, err = f.readBaseline(file, skip, notes); err != nil {
				return nil, fmt.Errorf("the baseline of %s: %w", p.Scenario.File, err)
			}
		}
		if doc == nil {
			fmt.Fprintf(notes, "note: there is no baseline%s: the assertions of %s that mention it are skipped;"+
				" with --launches %d this session is a better baseline\n",
				strings.TrimSuffix(" "+file, " "), p.Scenario.File, assertion.EnoughToPass)
		} else if doc.Scenario.Name != p.Scenario.Name {
			fmt.Fprintf(notes, "note: the baseline %s is of scenario %s, not of %s; cases are compared by their keys\n",
				file, doc.Scenario.Name, p.Scenario.Name)
		}
		if doc != nil && doc.Session.Status != "" && doc.Session.Status != results.Passed {
			fmt.Fprintf(notes, "note: the session of the baseline %s did not pass, its status is %s\n", file,
				doc.Session.Status)
		}
		all[i] = baseline{doc: doc, file: file, skip: skip}
		if doc != nil {
			if all[i].sessions, err = keptSessions(file, doc, notes); err != nil {
				return nil, err
			}
		}
	}
	if given != nil && !used {
		fmt.Fprintf(notes, "note: --baseline %s: no assertion mentions the baseline, so it changes no verdict; reports show the changes since\n",
			f.baseline)
		if f.previous == "" {
			f.previous, f.earlier = f.baseline, given
		}
	}
	return all, nil
}

// skipsMissing reports whether assertions of a plan about a baseline that is not there are skipped.
func (f *flags) skipsMissing(p *planner.Plan) bool {
	return f.baselineMissing == dsl.SkipMissing || f.baselineMissing == recordMissing ||
		f.baselineMissing == "" && p.BaselineMissing == dsl.SkipMissing
}

// needsBaseline reports whether a plan cannot run without its baseline. One that mentions none changes nothing, but
// reports shall show the changes since.
func (f *flags) needsBaseline(p *planner.Plan) bool { return p != nil && !f.skipsMissing(p) }

// readBaseline reads a document; nil if file is "", or if it is missing and skip allows that.
func (f *flags) readBaseline(file string, skip bool, notes io.Writer) (*results.Document, error) {
	if file == "" {
		return nil, nil
	}
	doc, err := stored.Read(file, notes)
	if skip && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return doc, err
}

// openByBaseline reports whether a session is inconclusive for its baseline alone, which has disturbed launches only.
func openByBaseline(doc *results.Document) bool {
	if doc.Session.ExitCode != gate.ExitInconclusive {
		return false
	}
	for _, a := range doc.AllAssertions() {
		unusable := func(r results.Reason) bool { return r.Kind == results.BaselineDisturbed }
		if a.Verdict == results.InconclusiveVerdict && !slices.ContainsFunc(a.Reasons, unusable) {
			return false
		}
	}
	return true
}

// record writes the document as the baseline of later sessions, if --baseline-missing asks for that and the session
// passed without a usable one. One that was usable stays, so that a decline in small steps adds up and fails. Sessions
// that did not fail are kept beside it.
func (s *session) record(doc *results.Document, dir string) error {
	if s.flags.baselineMissing != recordMissing || doc.Baseline == nil || !keepable(doc) {
		return nil
	}
	file := cmp.Or(s.flags.baseline, doc.Baseline.File) // a resumed session has its own
	if file == "" {
		return exit.Usage("--baseline-missing record: give the file with --baseline FILE")
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "results.json")
	}
	why := ledger.Unusable(s.plan, doc)
	if why != "" {
		if doc.Session.ExitCode != gate.ExitPassed && !openByBaseline(doc) {
			return nil
		}
		if not := ledger.Unrecordable(s.plan, doc); not != "" {
			fmt.Fprintf(s.stderr, "not recorded as the baseline %s: %s\n", file, not)
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return exit.With(gate.ExitExecution, fmt.Errorf("recording the baseline: %w", err))
		}
		if err := doc.Write(file); err != nil {
			return exit.With(gate.ExitExecution, fmt.Errorf("recording the baseline: %w", err))
		}
		fmt.Fprintf(s.stderr, "recorded the baseline %s: %s\n", file, why)
	}
	if text := miss(doc); text != "" {
		fmt.Fprintf(s.stderr, "not kept beside the baseline: %q misses its bound, unless sessions differ by that much: "+
			"run it again, or renew the baseline if the change is meant\n", text)
		return nil
	}
	if err := keepSession(file, dir, doc, why != ""); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("keeping the session beside the baseline: %w", err))
	}
	return nil
}

// noteOtherOptions says which cases have other options than in the baseline: verdicts show that only if they fail.
func (s *session) noteOtherOptions(doc *results.Document) {
	if doc.Baseline == nil {
		return
	}
	for _, d := range doc.Baseline.Differences {
		if name, ok := strings.CutPrefix(d.What, results.OptionDiffers); ok {
			of := d.Of[0]
			if more := len(d.Of) - 1; more > 0 {
				of = fmt.Sprintf("%s and %d more", of, more)
			}
			screen.Say(s.stderr, fmt.Sprintf("note: %s is compared with a baseline of another %s: %s, now %s", of, name,
				cmp.Or(d.Base, "none"), cmp.Or(d.New, "none")))
		}
	}
}
