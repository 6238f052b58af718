package gate

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

type ruling struct {
	Verdict  results.Verdict
	Observed *results.Observed
	Message  string
}

// verdictsOf are all verdicts of a document, by case and text.
func verdictsOf(doc *results.Document) map[string]ruling {
	out := map[string]ruling{}
	for _, m := range itemsOf(doc) {
		c, a := m.c, m.a
		key := a.Name + " " + a.Text
		if c != nil {
			key = c.Key + " " + key
		}
		for i := 0; ; i++ { // the same text may stand twice
			if k := fmt.Sprint(key, i); out[k] == (ruling{}) {
				out[k] = ruling{a.Verdict, a.Observed, a.Message}
				break
			}
		}
	}
	return out
}

// Verdicts of documents as sessions write them are the same bit for bit in whatever
// order cases, launches and samples are stored, on one processor and on eight.
func TestOrderAndProcessorsChangeNoVerdict(t *testing.T) {
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range paths {
		stored, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		want := verdictsOf(stored)
		for seed := range uint64(20) {
			doc, err := results.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(seed, 1))
			random.Shuffle(len(doc.Cases), func(i, j int) { doc.Cases[i], doc.Cases[j] = doc.Cases[j], doc.Cases[i] })
			for _, c := range doc.Cases {
				random.Shuffle(len(c.Launches), func(i, j int) {
					c.Launches[i], c.Launches[j] = c.Launches[j], c.Launches[i]
				})
				for _, l := range c.Launches {
					random.Shuffle(len(l.Samples), func(i, j int) {
						l.Samples[i], l.Samples[j] = l.Samples[j], l.Samples[i]
					})
				}
			}
			before := runtime.GOMAXPROCS(1 + 7*int(seed%2))
			Judge(doc)
			runtime.GOMAXPROCS(before)
			if diff := cmp.Diff(want, verdictsOf(doc)); diff != "" {
				t.Fatalf("%s, seed %d: %s", path, seed, diff)
			}
		}
	}
}
