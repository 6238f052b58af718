package results_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// everything is the name of the document in which every field is set.
const everything = "everything"

// sealedFile is a stored document as this weir writes it.
func sealedFile(t *testing.T, name string) (path string, content any) {
	t.Helper()
	doc := full()
	if name != everything {
		var err error
		if doc, err = results.Read(filepath.Join("..", "reporters", "testdata", name+".json")); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "results.json")
	if err := doc.Write(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &content); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func readBack(t *testing.T, path string, content any) error {
	t.Helper()
	b, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = results.ReadVerified(path)
	return err
}

// says tells whether a value says something that its absence does not.
func says(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case float64:
		return v != 0
	case bool:
		return v
	case []any:
		return len(v) > 0
	case map[string]any:
		for _, inner := range v {
			if says(inner) {
				return true
			}
		}
		return false
	}
	return true
}

// changes are all ways to take one thing out of a value or to change one thing in it.
// Each is done, looked at, and undone.
func changes(path string, v any, set func(any), look func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := v[name]
			if says(inner) {
				delete(v, name)
				look(path + "." + name + " is gone")
				v[name] = inner
			}
			changes(path+"."+name, inner, func(x any) { v[name] = x }, look)
		}
	case []any:
		for i, inner := range v {
			set(slices.Delete(slices.Clone(v), i, i+1))
			look(fmt.Sprintf("%s[%d] is gone", path, i))
			set(v)
			changes(fmt.Sprintf("%s[%d]", path, i), inner, func(x any) { v[i] = x }, look)
		}
	case float64:
		set(math.Nextafter(v, math.Inf(1)))
		look(path + " is a little more")
		set(v)
	case string:
		set(v + "x")
		look(path + " is another text")
		set(v)
	case bool:
		set(!v)
		look(path + " is the opposite")
		set(v)
	}
}

// Nothing can be changed in a document, or taken out of it, unseen.
func TestEveryChangeIsSeen(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for _, name := range []string{"failed", "traffic", "sequence", everything} {
		path, content := sealedFile(t, name)
		if err := readBack(t, path, content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n, step := 0, 1
		if phase.Short() {
			step = 7
		}
		changes("", content, nil, func(what string) {
			if n++; n%step == 0 && readBack(t, path, content) == nil {
				t.Errorf("%s: %s, and nobody sees it", name, what)
			}
		})
		if n < 500 {
			t.Errorf("%s: only %d changes", name, n)
		}
	}
}

func TestAChangeNamesItsCase(t *testing.T) {
	path, content := sealedFile(t, "failed")
	c := content.(map[string]any)["cases"].([]any)[0].(map[string]any)
	c["launches"].([]any)[0].(map[string]any)["duration_s"] = 99.
	err := readBack(t, path, content)
	if !errors.Is(err, results.ErrChanged) || !strings.Contains(err.Error(), c["key"].(string)) {
		t.Errorf("%v", err)
	}
}

// The order of cases and of members says nothing, nor does the spelling of numbers.
func TestOrderIsNoChange(t *testing.T) {
	for _, name := range []string{"passed", "failed", "traffic", "several", "retried"} {
		path, content := sealedFile(t, name)
		random := rand.New(rand.NewPCG(1, 2))
		cases := content.(map[string]any)["cases"].([]any)
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		for _, processors := range []int{1, 8} {
			before := runtime.GOMAXPROCS(processors)
			err := readBack(t, path, content) // members are sorted
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A member that this version does not know is sealed too.
func TestUnknownMembersAreSealed(t *testing.T) {
	path, content := sealedFile(t, "failed")
	content.(map[string]any)["cases"].([]any)[0].(map[string]any)["launches"].([]any)[0].(map[string]any)["later"] = 1.
	if err := readBack(t, path, content); !errors.Is(err, results.ErrChanged) {
		t.Errorf("added to a launch: %v", err)
	}
	path, content = sealedFile(t, "failed")
	content.(map[string]any)["session"].(map[string]any)["later"] = 1.
	if err := readBack(t, path, content); !errors.Is(err, results.ErrChanged) {
		t.Errorf("added to the session: %v", err)
	}
}

// A document that an older version sealed is read, and said to be one. One with a seal of
// this version is none of them, whatever the others look like.
func TestDocumentsSealedEarlier(t *testing.T) {
	const old = "sha256:00"
	path, content := sealedFile(t, "failed")
	doc := content.(map[string]any)
	doc["seal"] = old
	if err := readBack(t, path, content); !errors.Is(err, results.ErrChanged) {
		t.Errorf("with new seals of cases: %v", err)
	}
	for _, c := range doc["cases"].([]any) {
		c.(map[string]any)["seal"] = old
	}
	if err := readBack(t, path, content); err != nil {
		t.Error(err)
	}
	if d, err := results.Read(path); err != nil || !d.SealedEarlier() {
		t.Errorf("it is not sealed earlier, %v", err)
	}
	doc["cases"] = doc["cases"].([]any)[1:]
	if err := readBack(t, path, content); !errors.Is(err, results.ErrChanged) {
		t.Errorf("without a case: %v", err)
	}
	if d, err := results.ReadVerified("../reporters/testdata/failed.json"); err != nil || d.SealedEarlier() {
		t.Errorf("a new document is sealed earlier, %v", err)
	}
}

// What older versions wrote has no seals.
func TestUnsealedDocumentsAreRead(t *testing.T) {
	path, content := sealedFile(t, "failed")
	doc := content.(map[string]any)
	delete(doc, "seal")
	for _, c := range doc["cases"].([]any) {
		delete(c.(map[string]any), "seal")
	}
	doc["quantiles"] = map[string]any{"definition": results.NearestRankRule} // as versions write that seal
	if err := readBack(t, path, content); !errors.Is(err, results.ErrChanged) {
		t.Errorf("a document without seals of a version that seals: %v", err)
	}
	delete(doc, "quantiles")
	if err := readBack(t, path, content); err != nil {
		t.Error(err)
	}
	if d, err := results.Read(path); err != nil || !d.Unsealed() {
		t.Errorf("%v: nobody is told that it has no seal", err)
	}
}

func TestSamplesHaveADigest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "one", "b": "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := results.DigestSamples(dir, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := results.DigestSamples(dir, []string{"b", "a"}); err != nil || again != first {
		t.Errorf("another order gives %s, not %s (%v)", again, first, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("twO"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := results.DigestSamples(dir, []string{"a", "b"}); err != nil || other == first {
		t.Errorf("another content gives the same digest (%v)", err)
	}
	for _, name := range []string{"../a", "/etc/passwd", "c"} {
		if _, err := results.DigestSamples(dir, []string{name}); err == nil {
			t.Errorf("read %s", name)
		}
	}
}
