package gate

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

// storedDocuments are those that the reporters are tested with.
func storedDocuments(t testing.TB) [][]byte {
	t.Helper()
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	var out [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// judgeFile reads and judges a document; one that is refused is not judged.
func judgeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := results.Read(path)
	if err != nil {
		return
	}
	Judge(doc)
	Undecided(doc)
	if _, err := doc.Encode(); err != nil && doc.Session.ExitCode == ExitPassed {
		t.Fatalf("a document that cannot be written passes: %v", err)
	}
	if c, err := Compare(doc, doc, CompareOptions{Margin: 0.03, All: true}); err == nil {
		if _, err := c.Encode(); err != nil {
			t.Fatalf("a comparison that cannot be written: %v", err)
		}
	}
}

// damage replaces or removes one value somewhere in a decoded document.
func damage(t *rapid.T, v any) any {
	if rapid.IntRange(0, 6).Draw(t, "here") == 0 {
		return rapid.SampledFrom([]any{nil, "", "x", -1., 0., 1e308, true, []any{}, []any{nil},
			map[string]any{}}).Draw(t, "value")
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return v
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
		if rapid.IntRange(0, 6).Draw(t, "remove") == 0 {
			delete(v, key)
			return v
		}
		v[key] = damage(t, v[key])
	case []any:
		if len(v) == 0 {
			return v
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
		if rapid.IntRange(0, 6).Draw(t, "remove") == 0 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = damage(t, v[i])
	}
	return v
}

// Whatever is damaged in a document, judging it ends with a verdict or it is refused.
func TestDamagedDocumentsAreRefusedOrJudged(t *testing.T) {
	docs := storedDocuments(t)
	path := filepath.Join(t.TempDir(), "results.json")
	rapid.Check(t, func(rt *rapid.T) {
		var v any
		if err := json.Unmarshal(rapid.SampledFrom(docs).Draw(rt, "document"), &v); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(rt, "damages") {
			v = damage(rt, v)
		}
		b, err := json.Marshal(v)
		if err != nil {
			rt.Fatal(err)
		}
		judgeFile(t, path, b)
	})
}

// FuzzJudge starts from small documents, which a fuzzer can take apart in its time.
func FuzzJudge(f *testing.F) {
	ratioOfTwo, _ := pair([]float64{2, 4, 8}, []float64{1, 4}, looks)
	stored, _ := regression([]float64{9, 10}, []float64{10})
	parts := docOf(caseOf("a", 1, 2))
	parts.Assertions = []*results.AssertionVerdict{quantified("any", p(1), looks, "a")}
	for _, doc := range []*results.Document{ratioOfTwo, stored, parts} {
		b, err := json.Marshal(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "results.json")
	f.Fuzz(func(t *testing.T, data []byte) { judgeFile(t, path, data) })
}

// Of documents as sessions write them, sequences of traffic among them: where a metric
// that an assertion is about, or a launch, is taken out, the assertion is an error and
// the document does not pass, even if its seals are made anew.
func TestNothingOfStoredDocumentsCanBeMissing(t *testing.T) {
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	for _, path := range paths {
		stored, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range stored.Cases {
			for j, a := range c.Assertions {
				if a.Verdict == results.ErrorVerdict || a.Verdict == results.SkippedVerdict || a.Subject == nil {
					continue
				}
				for i := range c.Succeeded() {
					for _, leaf := range a.Subject.Leaves() {
						if leaf.Baseline || leaf.Case != "" && leaf.Case != c.Key {
							continue
						}
						doc, err := results.Read(path)
						if err != nil {
							t.Fatal(err)
						}
						doc.Cases[k].Succeeded()[i].Metrics.Delete(leaf.Metric)
						Judge(doc)
						if got := doc.Cases[k].Assertions[j]; doc.Session.ExitCode == ExitPassed ||
							results.Verdict(got.Verdict) != results.ErrorVerdict {
							t.Errorf("%s: without %s in a launch of %s: %s, exit code %d", path, leaf.Metric, c.Key,
								got.Verdict, doc.Session.ExitCode)
						}
						tried[filepath.Base(path)]++
					}
				}
				for i := range c.Launches {
					doc, err := results.Read(path)
					if err != nil {
						t.Fatal(err)
					}
					it := doc.Cases[k]
					it.Made = len(it.Launches)
					it.Launches = slices.Delete(it.Launches, i, i+1)
					Judge(doc)
					if doc.Session.ExitCode == ExitPassed || it.Assertions[j].Verdict != results.ErrorVerdict {
						t.Errorf("%s: without a launch of %s: %s, exit code %d", path, c.Key, it.Assertions[j].Verdict,
							doc.Session.ExitCode)
					}
				}
			}
		}
	}
	for _, name := range []string{"passed.json", "failed.json", "sequence.json", "traffic.json"} {
		if tried[name] == 0 {
			t.Errorf("%s: nothing was taken out", name)
		}
	}
}
