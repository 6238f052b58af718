package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
)

// noPrevious is the value of --previous for no comparison.
const noPrevious = "none"

// Limits of the search for an earlier session: number of documents, bytes that are read of each to find
// its scenario, and bytes of a document that is read in full.
const (
	mostHeads    = 100
	headLimit    = 1 << 20
	unaskedLimit = 64 << 20
)

// earlier is the document for the changes in reports: that of --previous, else the baseline, else the
// newest of the same scenario beside this session with some of the same cases (found is then true).
func (s *session) earlier(doc *results.Document, dir string) (earlier *results.Document, file string, found bool) {
	switch f := s.flags; {
	case f.previous == noPrevious:
		return nil, "", false
	case f.earlier != nil:
		return f.earlier, f.previous, false
	case s.baseline.doc != nil:
		return s.baseline.doc, s.baseline.file, false
	}
	for _, path := range besides(dir) {
		if !precedes(path, doc) {
			continue
		}
		one, err := stored.Read(path, io.Discard)
		if err != nil {
			continue // damaged
		}
		if slices.ContainsFunc(doc.Cases, measuredIn(one, doc)) {
			return one, filepath.Dir(path), true
		}
	}
	return nil, "", false
}

// measuredIn reports whether an earlier session has measured a case: one with the same content or, if only
// the values of the scenario's variables differ, with the same key. The name of a scenario is not enough:
// imported scenarios share theirs.
func measuredIn(earlier, now *results.Document) func(*results.Case) bool {
	before := map[string]*results.Case{}
	for _, c := range earlier.Cases {
		before[c.Key] = c
	}
	a, b := earlier.Scenario.Variables, now.Scenario.Variables
	varied := !maps.Equal(a, b) && slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
	return func(c *results.Case) bool {
		was := before[c.Key]
		return was != nil && (varied || content(was) == content(c))
	}
}

// content identifies what a case measures; unlike its ID, it does not depend on assertions.
func content(c *results.Case) string {
	text, err := json.Marshal([]any{c.Workload, c.Axes, c.Options, c.Env})
	if err != nil {
		return c.ID
	}
	return string(text)
}

// mostEdited is how many settings that differ are named.
const mostEdited = 3

// edited says what of the content of a case differs from an earlier one of the same key: "env BASE differs". Values
// are not shown: they may be secrets.
func edited(was, now *results.Case) string {
	var names []string
	if was.Workload != now.Workload {
		names = append(names, "the workload")
	}
	names = append(names, unequal("axis ", was.Axes, now.Axes)...)
	names = append(names, unequal("option ", was.Options, now.Options)...)
	names = append(names, unequal("env ", was.Env, now.Env)...)
	verb := "differs"
	if len(names) > 1 {
		verb = "differ"
	}
	text := strings.Join(names[:min(len(names), mostEdited)], ", ")
	if more := len(names) - mostEdited; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " " + verb
}

// unequal lists the keys with values that differ in JSON, as content compares them.
func unequal[V any](kind string, a, b map[string]V) (names []string) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		was, before := a[key]
		is, still := b[key]
		old, _ := json.Marshal(was)
		text, _ := json.Marshal(is)
		if before != still || string(old) != string(text) {
			names = append(names, kind+key)
		}
	}
	return names
}

// sinceEarlier adds the changes since the earlier session to the document.
func (s *session) sinceEarlier(doc *results.Document, dir string) {
	if !doc.Ran() {
		return
	}
	one, file, found := s.earlier(doc, dir)
	if one == nil {
		return
	}
	doc.Previous = gate.Since(one, doc)
	doc.Previous.File = file
	if !found {
		return
	}
	measured := measuredIn(one, doc)
	doc.Previous.Since = slices.DeleteFunc(doc.Previous.Since, func(s *results.Since) bool {
		c := doc.Case(s.Case)
		if measured(c) {
			return false
		}
		doc.Previous.NotCompared = append(doc.Previous.NotCompared,
			results.NotCompared{Case: s.Case, Metric: s.Metric, Reason: edited(one.Case(s.Case), c)})
		return true
	})
}

// besides are the documents of the sessions in the same folder, the newest first.
func besides(dir string) []string {
	own := filepath.Join(dir, "results.json")
	all, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Clean(dir)), "*", "results.json"))
	if err != nil {
		return nil // the name of the folder is no valid pattern
	}
	written := map[string]int64{}
	all = slices.DeleteFunc(all, func(path string) bool {
		st, err := os.Stat(path)
		if err != nil || path == own || !st.Mode().IsRegular() || st.Size() > unaskedLimit {
			return true
		}
		written[path] = st.ModTime().UnixNano()
		return false
	})
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(written[b], written[a]), cmp.Compare(b, a))
	})
	return all[:min(len(all), mostHeads)]
}

// precedes reports whether a document is of an earlier, completed session of the same scenario.
func precedes(path string, doc *results.Document) bool {
	head, err := readHead(path)
	if err != nil || head.Session.ID == doc.Session.ID || head.Scenario.Name != doc.Scenario.Name ||
		head.Session.Simulated != doc.Simulated() {
		return false
	}
	switch head.Session.Status {
	case results.Passed, results.Failed, results.Inconclusive:
		return head.Session.Started.Before(doc.Session.Started)
	}
	return false
}

// readHead reads a document up to its session and scenario.
func readHead(path string) (head results.Document, err error) {
	file, err := bounded.Open(path, bounded.Result)
	if err != nil {
		return head, fmt.Errorf("looking for an earlier session: %w", err)
	}
	defer file.Close()
	in := json.NewDecoder(io.LimitReader(file, headLimit))
	if _, err := in.Token(); err != nil {
		return head, fmt.Errorf("reading %s: %w", path, err)
	}
	for head.Scenario.Name == "" || head.Session.ID == "" {
		name, err := in.Token()
		if err != nil {
			return head, fmt.Errorf("reading %s: %w", path, err)
		}
		var skipped json.RawMessage
		var into any = &skipped
		switch name {
		case "session":
			into = &head.Session
		case "scenario":
			into = &head.Scenario
		}
		if err := in.Decode(into); err != nil {
			return head, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return head, nil
}
