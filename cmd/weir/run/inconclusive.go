package run

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Inconclusive are the flags for gates that stay inconclusive.
type Inconclusive struct{ Flags assertion.Inconclusive }

func (i *Inconclusive) Add(f *pflag.FlagSet) {
	f.StringVar(&i.Flags.As, "inconclusive", "",
		"count inconclusive gates as `fail|warn|pass`, unless the assertion sets it "+
			"(default: the scenario's, else exit code 3)")
	f.IntVar(&i.Flags.Streak, "inconclusive-streak", 0,
		"fail a gate at its `N`th inconclusive session in a row (default: the scenario's, else never)")
}

// Check validates the flags.
func (i *Inconclusive) Check(set *pflag.FlagSet) error {
	if as := i.Flags.As; as != "" && !slices.Contains([]string{"fail", "warn", "pass"}, as) {
		return exit.Usage("--inconclusive: %q is neither fail, warn nor pass", as)
	}
	if set.Changed("inconclusive-streak") && i.Flags.Streak < 2 {
		return exit.Usage("--inconclusive-streak: %d is less than 2; --inconclusive fail fails at once", i.Flags.Streak)
	}
	return nil
}

// openBefore returns a function that counts, for an assertion, the latest earlier sessions in a row in which it
// was inconclusive. The function is nil if no policy needs it.
func (f *flags) openBefore(p *planner.Plan, dir string) (func(string, assertion.Assertion) int, error) {
	if p.OpenGates(f.open.Flags).Streak == 0 {
		return nil, nil
	}
	paths, err := f.sessions(p.Scenario.Name, dir)
	if err != nil {
		return nil, err
	}
	nth := newestFirst(paths, p.Scenario.Name)
	return func(key string, a assertion.Assertion) int { return openInARow(nth, key, a) }, nil
}

// sessions are the paths of earlier documents: beside this session, and in the history.
func (f *flags) sessions(scenario, dir string) ([]string, error) {
	paths := besides(dir)
	store := cmp.Or(f.history, history.DefaultDir)
	if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
		return paths, nil // the first session creates it
	}
	entries, _, err := history.Store{Dir: store}.List()
	if err != nil {
		return nil, exit.Execution(err)
	}
	for _, e := range slices.Backward(entries) {
		if e.Scenario == scenario && len(paths) < 2*mostHeads {
			paths = append(paths, filepath.Join(store, e.File))
		}
	}
	return paths, nil
}

// newestFirst returns a function that reads the i-th document of a scenario, the newest first, nil after the last.
// Aborted sessions, duplicates and unreadable documents are left out.
func newestFirst(paths []string, scenario string) (nth func(i int) *results.Document) {
	type found struct {
		path    string
		started time.Time
	}
	var heads []found
	seen := map[string]bool{}
	for _, path := range paths {
		head, err := readHead(path)
		if err == nil && head.Scenario.Name == scenario && !seen[head.Session.ID] &&
			head.Session.Status != results.Aborted {
			seen[head.Session.ID] = true
			heads = append(heads, found{path, head.Session.Started})
		}
	}
	slices.SortStableFunc(heads, func(a, b found) int { return b.started.Compare(a.started) })
	var docs []*results.Document
	return func(i int) *results.Document {
		for len(docs) <= i && len(heads) > 0 {
			doc, err := stored.Read(heads[0].path, io.Discard)
			if heads = heads[1:]; err == nil {
				docs = append(docs, doc)
			}
		}
		if i < len(docs) {
			return docs[i]
		}
		return nil
	}
}

// openInARow counts the latest sessions in a row in which an assertion was inconclusive. Sessions that did
// not judge it are ignored.
func openInARow(nth func(i int) *results.Document, key string, a assertion.Assertion) (n int) {
	for i := 0; ; i++ {
		doc := nth(i)
		if doc == nil {
			return n
		}
		switch before := sameAssertion(doc, key, a); {
		case before == nil || before.Verdict == results.SkippedVerdict || before.Verdict == results.ErrorVerdict:
		case before.Open || before.Verdict == results.InconclusiveVerdict:
			n++
		default:
			return n
		}
	}
}

// sameAssertion is the assertion of the same text about the same case or cases; nil if there is none.
func sameAssertion(doc *results.Document, key string, a assertion.Assertion) *results.AssertionVerdict {
	list := doc.Assertions
	if key != "" {
		c := doc.Case(key)
		if c == nil {
			return nil
		}
		list = c.Assertions
	}
	for _, b := range list {
		if b.Name == a.Name && b.Text == a.Text && slices.Equal(b.Cases, a.Cases) {
			return b
		}
	}
	return nil
}

// remember adds a session to the history, unless it was ended early.
func (f *flags) remember(doc *results.Document, dir string) error {
	if f.history == "" || endedEarly(doc.Session.ExitCode) {
		return nil
	}
	_, _, err := history.Store{Dir: f.history}.Add(dir)
	return exit.Execution(err)
}
