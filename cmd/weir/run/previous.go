package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/cmd/weir/stored"
	"weir/gate"
	"weir/results"
)

// noPrevious is the value of --previous that asks for no comparison.
const noPrevious = "none"

// Looking for an earlier session costs little: of so many documents the beginning is
// read, and a large one is read whole only if it was asked for.
const (
	mostHeads    = 100
	headLimit    = 1 << 20
	unaskedLimit = 64 << 20
)

// earlier is the document that reports say the change since: the one that was given,
// else the baseline, else the newest of the same scenario that lies beside this session.
func (s *session) earlier(doc *results.Document, dir string) (*results.Document, string) {
	switch f := s.flags; {
	case f.previous == noPrevious:
		return nil, ""
	case f.earlier != nil:
		return f.earlier, f.previous
	case s.baseline.doc != nil:
		return s.baseline.doc, s.baseline.file
	}
	for _, path := range besides(dir) {
		if !precedes(path, doc) {
			continue
		}
		if one, err := stored.Read(path, io.Discard); err == nil { // a damaged one is not what was measured last
			return one, filepath.Dir(path)
		}
	}
	return nil, ""
}

// sinceEarlier puts into the document what has changed since the earlier session.
func (s *session) sinceEarlier(doc *results.Document, dir string) {
	if !doc.Ran() {
		return
	}
	if one, file := s.earlier(doc, dir); one != nil {
		doc.Previous = gate.Since(one, doc)
		doc.Previous.File = file
	}
}

// besides are the documents of the sessions in the same folder, the newest first.
func besides(dir string) []string {
	own := filepath.Join(dir, "results.json")
	all, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Clean(dir)), "*", "results.json"))
	if err != nil {
		return nil // a folder whose name is a pattern
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

// precedes says whether a document is of an earlier session of the same scenario that
// measured what it was to.
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

// readHead reads a document up to its scenario.
func readHead(path string) (head results.Document, err error) {
	file, err := os.Open(path)
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
