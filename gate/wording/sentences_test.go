package wording

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Each kind has the sentences that testdata/sentences.json has of it.
func TestSentences(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Says   string
		Reason results.Reason
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	seen := map[results.ReasonKind]bool{}
	for _, c := range all {
		seen[c.Reason.Kind] = true
		if got := Sentence(c.Reason); got != c.Says {
			t.Errorf("%s:\n%s\nwant\n%s", c.Reason.Kind, got, c.Says)
		}
	}
	for _, k := range results.ReasonKinds {
		if !seen[k.Kind] {
			t.Errorf("no sentence of %s", k.Kind)
		}
	}
}

// A leading sentence and the one behind it are one; others are parted by semicolons.
func TestMessage(t *testing.T) {
	got := Message([]results.Reason{
		results.Because(results.StandsIn, results.Text("verdict", "warn")), results.Because(results.NoLaunch).In("c"),
		results.Because(results.OneLaunch),
	})
	const want = "inconclusive, which counts as warn: c: nothing was measured: the case had no launch; " +
		"one launch shows no noise"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
