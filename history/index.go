package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
)

// Entry is one session of a store.
type Entry struct {
	File        string         `json:"file"` // path in the store
	Session     string         `json:"session"`
	Started     time.Time      `json:"started"`
	Scenario    string         `json:"scenario"`
	Status      string         `json:"status"`
	ExitCode    int            `json:"exit_code"`
	Cases       map[string]int `json:"cases"` // number by status
	Weir        string         `json:"weir"`  // version and commit
	Nodes       []string       `json:"nodes"`
	Fingerprint string         `json:"fingerprint"` // of the environment
	Simulated   bool           `json:"simulated,omitempty"`
	// SealedEarlier says that an older version sealed it, so that its content cannot be verified.
	SealedEarlier bool `json:"sealed_earlier,omitempty"`
}

// Problem is a file that is not part of the history, and why.
type Problem struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

const (
	indexName   = "index.json"
	indexSchema = "weir.history/v1"
	resultsName = "results.json" // of a session directory that was copied as a whole
)

// index caches what was read from each file. It contains nothing else and is rebuilt if missing.
type index struct {
	Schema string             `json:"schema"`
	Files  map[string]indexed `json:"files"`
}

// indexed is the cached content of a file.
type indexed struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Entry    *Entry    `json:"entry,omitempty"`
	Reason   string    `json:"reason,omitempty"` // why it is no document
}

// List returns the store's sessions by start time, and the other files.
func (s Store) List() ([]Entry, []Problem, error) {
	if st, err := os.Stat(s.Dir); err != nil || !st.IsDir() {
		return nil, nil, fmt.Errorf("no history in %s: create one with weir history add RESULTS --dir %s", s.Dir,
			s.Dir)
	}
	return s.read()
}

// read updates the index from the files and returns its content.
func (s Store) read() ([]Entry, []Problem, error) {
	files, err := s.files()
	if err != nil {
		return nil, nil, &StoreError{"reading the history", err}
	}
	old := s.index()
	now := index{Schema: indexSchema, Files: map[string]indexed{}}
	changed := len(old.Files) != len(files)
	for name, st := range files {
		f, known := old.Files[name]
		if !known || f.Size != st.Size() || !f.Modified.Equal(st.ModTime()) {
			f = s.readFile(name, st)
			changed = true
		}
		now.Files[name] = f
	}
	if changed && !s.Unindexed {
		s.keep(now)
	}
	list, problems := now.sorted()
	return list, problems, nil
}

// files returns all candidate documents by their path in the store.
func (s Store) files() (map[string]fs.FileInfo, error) {
	list, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	out := map[string]fs.FileInfo{}
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == indexName {
			continue
		}
		st, err := os.Stat(filepath.Join(s.Dir, name))
		if err == nil && st.IsDir() {
			name = filepath.Join(name, resultsName)
			st, err = os.Stat(filepath.Join(s.Dir, name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile, or an unrelated folder
		}
		if err != nil {
			return nil, err
		}
		if st.Mode().IsRegular() && filepath.Ext(name) == ".json" {
			out[name] = st
		}
	}
	return out, nil
}

// index loads the stored index; an unusable one counts as empty.
func (s Store) index() index {
	b, err := bounded.ReadFile(filepath.Join(s.Dir, indexName), bounded.Result)
	if err != nil {
		return index{}
	}
	var x index
	if err := json.Unmarshal(b, &x); err != nil || x.Schema != indexSchema {
		return index{}
	}
	return x
}

// keep stores the index. Readers without write permission go without it.
func (s Store) keep(x index) {
	b, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		panic(err) // texts and numbers only
	}
	_ = results.WriteFile(filepath.Join(s.Dir, indexName), append(b, '\n'))
}

// readFile reads one file into an index entry.
func (s Store) readFile(name string, st fs.FileInfo) indexed {
	f := indexed{Size: st.Size(), Modified: st.ModTime()}
	doc, err := results.Read(filepath.Join(s.Dir, name))
	if err == nil && doc.Session.ID == "" {
		err = errors.New("it does not name its session")
	}
	if err != nil {
		f.Reason = err.Error()
		return f
	}
	doc.Summarize()
	e := &Entry{
		File: name, Session: doc.Session.ID, Started: doc.Session.Started, Scenario: doc.Scenario.Name,
		Status: doc.Session.Status, ExitCode: doc.Session.ExitCode,
		Cases: doc.Summary.Cases, Weir: strings.TrimSpace(doc.Weir.Version + " " + doc.Weir.Commit), Nodes: []string{},
		Fingerprint: doc.Environment.Fingerprint, Simulated: doc.Simulated(), SealedEarlier: doc.SealedEarlier(),
	}
	for _, n := range doc.Environment.Nodes {
		e.Nodes = append(e.Nodes, n.Name)
	}
	f.Entry = e
	return f
}

// sorted splits the files into sessions by time and problems: invalid documents and duplicates. The first
// duplicate by name counts.
func (x index) sorted() ([]Entry, []Problem) {
	entries, problems := []Entry{}, []Problem{}
	has := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(x.Files)) {
		f := x.Files[name]
		switch {
		case f.Entry == nil:
			problems = append(problems, Problem{name, f.Reason})
		case has[f.Entry.Session] != "":
			problems = append(problems, Problem{
				name, fmt.Sprintf("session %s is in %s already", f.Entry.Session, has[f.Entry.Session]),
			})
		default:
			has[f.Entry.Session] = name
			entries = append(entries, *f.Entry)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Session, b.Session))
	})
	return entries, problems
}
