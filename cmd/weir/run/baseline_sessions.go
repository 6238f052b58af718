package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/results"
)

// mostSessions are kept beside a recorded baseline, the newest, to tell how much sessions differ.
const mostSessions = 20

// sessionsBeside is the folder of the sessions that are kept beside a baseline, given by its file or folder.
func sessionsBeside(baseline string) string {
	if info, err := os.Stat(baseline); err != nil || !info.IsDir() {
		baseline = filepath.Dir(baseline)
	}
	return filepath.Join(baseline, "sessions")
}

// keptSessions returns how the sessions vary that are kept beside a baseline, of its scenario and environment.
func keptSessions(file string, baseline *results.Document, notes io.Writer) ([]results.CaseNoise, error) {
	store := history.Store{Dir: sessionsBeside(file), Unindexed: true}
	entries, err := listed(store)
	if err != nil {
		return nil, err
	}
	var docs []*results.Document
	for _, e := range entries {
		if !alike(e, baseline) {
			continue
		}
		doc, err := stored.Read(filepath.Join(store.Dir, e.File), notes)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	vary, err := gate.SessionsOf(docs)
	if err != nil {
		return nil, fmt.Errorf("reading the sessions in %s: %w", store.Dir, err)
	}
	return vary, nil
}

// listed lists the sessions of a store, the oldest first; none if there is no store.
func listed(store history.Store) ([]history.Entry, error) {
	if _, err := os.Stat(store.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries, _, err := store.List()
	return entries, exit.Execution(err)
}

// keepSession copies a session that did not fail to those beside the baseline, and removes the oldest of its scenario
// and environment that are too many. A new baseline begins with itself: what changed before is no noise. Sessions of
// other scenarios, which have their baselines in the same folder, stay.
func keepSession(baseline, dir string, doc *results.Document, anew bool) error {
	store := history.Store{Dir: sessionsBeside(baseline), Unindexed: true}
	if anew {
		if err := removeSessions(store, doc, 0); err != nil {
			return fmt.Errorf("removing the sessions of the baseline before: %w", err)
		}
	}
	if _, _, err := store.Add(dir); err != nil {
		return err
	}
	return removeSessions(store, doc, mostSessions)
}

// removeSessions removes the sessions of a document's scenario and environment but the newest.
func removeSessions(store history.Store, doc *results.Document, newest int) error {
	entries, err := listed(store)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e history.Entry) bool { return !alike(e, doc) })
	for _, e := range entries[:max(0, len(entries)-newest)] {
		if err := os.Remove(filepath.Join(store.Dir, e.File)); err != nil {
			return fmt.Errorf("removing an old session: %w", err)
		}
	}
	return nil
}

// alike reports whether a session is of the scenario and the environment of a document.
func alike(e history.Entry, doc *results.Document) bool {
	return e.Scenario == doc.Scenario.Name && e.Fingerprint == doc.Environment.Fingerprint
}

// keepable reports whether a session tells how sessions differ: no assertion failed in it.
func keepable(doc *results.Document) bool {
	return slices.Contains([]int{gate.ExitPassed, gate.ExitInconclusive}, doc.Session.ExitCode)
}

// miss returns the text of an assertion that only unknown differences between sessions keep from failing; "" if there
// is none. Kept as such a difference, a decline would excuse itself and all later ones.
func miss(doc *results.Document) string {
	for _, a := range doc.AllAssertions() {
		if slices.ContainsFunc(a.Reasons, func(r results.Reason) bool {
			return r.Kind == results.SessionsUnknown || r.Kind == results.SessionsFew
		}) {
			return a.Text
		}
	}
	return ""
}
