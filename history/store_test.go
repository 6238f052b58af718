package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
)

var day0 = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

// session is the document of day i with case c, which measured a bandwidth.
func session(i int, value float64) *results.Document {
	return &results.Document{
		Schema:   results.Schema,
		Session:  results.Session{ID: fmt.Sprintf("s%03d", i), Started: day0.AddDate(0, 0, i), Status: results.Passed},
		Weir:     results.Version{Version: "1.0", Commit: "aaaa"},
		Scenario: results.Scenario{Name: "nightly"},
		Plan:     results.Plan{Cases: 1},

		Environment: results.Environment{
			Fingerprint: "sha256:aa11", Nodes: []results.Node{
				{Name: "n1", Kernel: "6.1", NICs: []results.NIC{}, GPUs: []results.GPU{}},
			},
		},
		Cases: []*results.Case{{
			Key: "c", Run: "c", Workload: "transfer", Status: results.OK, Options: map[string]any{"batch": 1.},
			Launches: []*results.Launch{{Status: results.OK, Nodes: []string{"n1", "n1"}, Fabric: "tcp"}},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": {Unit: "GB/s", N: 1, Value: value, Median: value, Mean: value, Better: "higher"},
			}),
		}},
	}
}

// write puts a document into a file of its own.
func write(t *testing.T, path string, doc *results.Document) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := doc.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// stored is a store with a session for each value.
func stored(t *testing.T, values ...float64) Store {
	t.Helper()
	s := Store{Dir: filepath.Join(t.TempDir(), "h")}
	src := t.TempDir()
	for i, v := range values {
		if _, added, err := s.Add(write(t, filepath.Join(src, "results.json"), session(i, v))); err != nil || !added {
			t.Fatalf("added %v, %v", added, err)
		}
	}
	return s
}

func sessions(t *testing.T, s Store) []string {
	t.Helper()
	entries, _, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Session)
	}
	return out
}

func TestAddIsAppendOnly(t *testing.T) {
	s := stored(t, 1, 2)
	src := t.TempDir()
	path := write(t, filepath.Join(src, "results.json"), session(1, 2))
	if e, added, err := s.Add(src); err != nil || added || e.Session != "s001" {
		t.Errorf("the same document again: %v, added %v, %v", e, added, err)
	}
	before, err := os.ReadFile(filepath.Join(s.Dir, "s001.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, session(1, 3))
	if _, _, err := s.Add(path); err == nil || !strings.Contains(err.Error(), "a different document of session s001") {
		t.Errorf("another document of a session: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(s.Dir, "s001.json"))
	if err != nil || string(after) != string(before) {
		t.Errorf("it was changed: %v", err)
	}
	nameless := session(5, 1)
	nameless.Session.ID = ""
	incomplete := session(6, 1)
	incomplete.Plan.Cases = 2
	for _, doc := range []*results.Document{nameless, incomplete} {
		if _, _, err := s.Add(write(t, path, doc)); err == nil {
			t.Errorf("session %q was added", doc.Session.ID)
		}
	}
	if _, _, err := s.Add(filepath.Join(src, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if got := sessions(t, s); !slices.Equal(got, []string{"s000", "s001"}) {
		t.Errorf("the history has %v", got)
	}
}

// Whatever a session is called, its file is in the store and is not hidden.
func TestFileNames(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	src := filepath.Join(t.TempDir(), "r.json")
	for _, id := range []string{"../up", "..", "index", ".hidden", "a b/c", "日本", "a-b-c"} {
		doc := session(0, 1)
		doc.Session.ID = id
		e, added, err := s.Add(write(t, src, doc))
		if err != nil || !added || filepath.Base(e.File) != e.File || e.Session != id {
			t.Errorf("session %q: %+v, %v", id, e, err)
		}
	}
	if got := sessions(t, s); len(got) != 7 {
		t.Errorf("the history has %q", got)
	}
}

// Files may be deleted, and copied by hand under any name; the index follows, and is
// made anew when it is gone or spoilt.
func TestFilesAreTheHistory(t *testing.T) {
	s := stored(t, 1, 2, 3)
	if err := os.Remove(filepath.Join(s.Dir, "s001.json")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.Dir, "by hand.json"), session(7, 1))
	write(t, filepath.Join(s.Dir, "session", "results.json"), session(5, 1))
	write(t, filepath.Join(s.Dir, "copy.json"), session(7, 1))
	if err := os.WriteFile(filepath.Join(s.Dir, "broken.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"s000", "s002", "s005", "s007"}
	for _, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.Remove(filepath.Join(s.Dir, indexName)) },
		func() error { return os.WriteFile(filepath.Join(s.Dir, indexName), []byte(`{"schema":3}`), 0o644) },
		func() error {
			return os.WriteFile(filepath.Join(s.Dir, indexName), []byte(`{"schema":"weir.history/v2","files":{}}`),
				0o644)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		_, problems, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		if got := sessions(t, s); !slices.Equal(got, want) {
			t.Errorf("the history has %v, want %v", got, want)
		}
		if len(problems) != 2 || problems[0].File != "broken.json" ||
			problems[1] != (Problem{"copy.json", "session s007 is in by hand.json already"}) {
			t.Errorf("left out are %v", problems)
		}
		if b, err := os.ReadFile(filepath.Join(s.Dir, indexName)); err != nil ||
			!strings.Contains(string(b), `"s005"`) {
			t.Errorf("the index is not made again: %v", err)
		}
	}
	changed := session(2, 9)
	changed.Session.Status = results.Failed
	write(t, filepath.Join(s.Dir, "s002.json"), changed)
	entries, _, err := s.List()
	if err != nil || entries[1].Status != results.Failed {
		t.Errorf("a file that was replaced is still %v, %v", entries[1], err)
	}
	if _, _, err := (Store{Dir: filepath.Join(s.Dir, "nowhere")}).List(); err == nil {
		t.Error("there is a history where there is no directory")
	}
}

// Many add at once: each document is there once, whole, and readers never stumble.
func TestConcurrentAdds(t *testing.T) {
	dir, src := filepath.Join(t.TempDir(), "h"), t.TempDir()
	same := write(t, filepath.Join(src, "same.json"), session(99, 1))
	var wg sync.WaitGroup
	var mu sync.Mutex
	added := map[string]int{}
	for i := range 8 {
		own := write(t, filepath.Join(src, fmt.Sprintf("%d.json", i)), session(i, 1))
		wg.Go(func() {
			for _, path := range []string{own, same} {
				e, new, err := Store{Dir: dir}.Add(path)
				if err != nil {
					t.Error(err)
				}
				if new {
					mu.Lock()
					added[e.Session]++
					mu.Unlock()
				}
				if _, problems, err := (Store{Dir: dir}).List(); err != nil || len(problems) > 0 {
					t.Errorf("a reader sees %v, %v", problems, err)
				}
			}
		})
	}
	wg.Wait()
	if len(added) != 9 || added["s099"] != 1 {
		t.Errorf("added %v", added)
	}
	if got := sessions(t, Store{Dir: dir}); len(got) != 9 {
		t.Errorf("the history has %v", got)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"schema":"weir.history/v1","files":{"s000.json":{"size":1,"modified":"2026-01-01T00:00:00Z"}}}`))
	f.Add([]byte(`{"schema":"weir.history/v1","files":null}`))
	f.Add([]byte(`{"schema":"weir.history/v1","files":{"../x.json":{"entry":{"session":"x"}}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		s := stored(t, 1)
		want, _, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, indexName), content, 0o644); err != nil {
			t.Fatal(err)
		}
		got, problems, err := s.List()
		if err != nil || len(problems) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("with index %q the history is %v, %v, %v", content, got, problems, err)
		}
	})
}
