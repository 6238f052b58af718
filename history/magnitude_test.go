package history

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/results"
)

// steps are sessions at levels that noise hardly hides, ten at each.
func steps(levels ...float64) []float64 {
	var out []float64
	for k, l := range levels {
		for i := range 10 {
			out = append(out, l*(1+0.0002*float64((7*i+3*k)%5)))
		}
	}
	return out
}

func TestSmallChangesAreNotReported(t *testing.T) {
	for name, test := range map[string]struct {
		values    []float64
		magnitude float64
		at        []int
		smaller   int
	}{
		"all are asked for":               {steps(10, 9.8), 0, []int{10}, 0},
		"one of 2%":                       {steps(10, 9.8), 0.03, nil, 1},
		"one of 5%":                       {steps(10, 9.5), 0.03, []int{10}, 0},
		"up as down":                      {steps(9.8, 10), 0.03, nil, 1},
		"a small one beside a large one":  {steps(10, 9.8, 8), 0.03, []int{20}, 1},
		"small ones that add up":          {steps(10, 9.8, 9.6, 9.4), 0.03, []int{20}, 2},
		"exactly as much is a change":     {steps(10.3, 10), 0.02999, []int{10}, 0},
		"from none to some, which may be": {append(make([]float64, 10), steps(1e-6)...), 0.03, []int{10}, 0},
	} {
		s := stored(t, test.values...)
		q := ask
		q.Magnitude = test.magnitude
		got, err := s.Trend(q)
		if err != nil {
			t.Fatal(err)
		}
		var at []int
		for _, c := range got.Changes {
			at = append(at, c.At)
		}
		if len(at) != len(test.at) || len(at) > 0 && at[0] != test.at[0] || got.Smaller != test.smaller ||
			got.Magnitude != test.magnitude || len(got.Levels) != len(at)+1 {
			t.Errorf("%s: changes at %v and %d smaller, want %v and %d; levels %+v", name, at, got.Smaller, test.at,
				test.smaller, got.Levels)
		}
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{10, 9.5, 0.5 / 9.5}, {9.5, 10, 0.5 / 9.5}, {0, 0, 0}, {0, 2, 1}, {-1, 1, 2}, {-2, -1, 1},
	} {
		if got := relativeDistance(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// What is wrong with the directory is told from what is wrong with a document.
func TestWhoseFaultAnErrorIs(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "results.json"), session(1, 10))
	if err := os.WriteFile(filepath.Join(dir, "taken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "notes")
	if err := os.WriteFile(notes, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "locked")
	if err := os.MkdirAll(filepath.Join(locked, lockName), 0o755); err != nil { // a folder cannot be locked for writing
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		dir, add string
		store    bool
	}{
		"a file where the store should be": {filepath.Join(dir, "taken"), file, true},
		"below a file":                     {filepath.Join(dir, "taken", "store"), file, true},
		"no lock":                          {locked, file, true},
		"no such document":                 {filepath.Join(dir, "s"), filepath.Join(dir, "missing.json"), false},
		"no document":                      {filepath.Join(dir, "s"), notes, false},
	} {
		_, added, err := Store{Dir: test.dir}.Add(test.add)
		if _, is := errors.AsType[*StoreError](err); err == nil || added || is != test.store {
			t.Errorf("%s: %v", name, err)
		}
	}
	doc := session(2, 10)
	path := write(t, filepath.Join(dir, "edited.json"), doc)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(content, []byte(`"kernel": "6.1"`), []byte(`"kernel": "6.9"`), 1)
	if err := os.WriteFile(path, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (Store{Dir: filepath.Join(dir, "s")}).Add(path); !errors.Is(err, results.ErrChanged) {
		t.Errorf("an edited document: %v", err)
	}
}
