package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// driftSeeds is how many pairs of equal runs stand behind the promise about them.
const driftSeeds = 1000

// TestEqualRunsUnderDrift checks the error rate of the gate for full sessions: two equal runs on a machine
// with a random walk of its speed of 2 % per launch are called different in at most 5 % of the sessions,
// and never improved or a regression.
func TestEqualRunsUnderDrift(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	var seeds []string
	for i := range driftSeeds {
		seeds = append(seeds, fmt.Sprint(i+1))
	}
	axis := "sweep: {sim_seed: [" + strings.Join(seeds, ", ") + "]}"
	dir := t.TempDir()
	file, out := filepath.Join(dir, "equal.yaml"), filepath.Join(dir, "out")
	text := `scenario: equal
defaults: {launches: 8, options: {transfer: {fabric: sim, block_size: 64KiB, sim_noise: 1%, sim_drift: 2%}}}
runs:
  old: {workload: transfer, ` + axis + `}
  new: {workload: transfer, ` + axis + `, assert: ['bandwidth >= 0.97 * run("old").bandwidth']}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := execute([]string{"run", "--quiet", "--out", out, file}, &stderr, &stderr); code != gate.ExitPassed &&
		code != gate.ExitInconclusive {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	doc, err := results.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gate.CompareRuns(doc, "old", "new", gate.CompareOptions{Metrics: []string{"bandwidth"}, Margin: 0.03})
	if err != nil {
		t.Fatal(err)
	}
	different, verdicts := 0, map[results.EffectVerdict]int{}
	for _, e := range c.Effects {
		verdicts[e.Verdict]++
		if *e.Change.P <= 1-results.Confidence {
			different++
		}
		if e.Pairs != 8 {
			t.Fatalf("%s: %d pairs, %s", e.Case, e.Pairs, e.Method)
		}
	}
	t.Logf("%d of %d called different, verdicts %v", different, len(c.Effects), verdicts)
	if len(c.Effects) != driftSeeds || different > driftSeeds*5/100 ||
		verdicts[results.Improved]+verdicts[results.Regression] > 0 {
		t.Errorf("%d of %d called different, verdicts %v", different, len(c.Effects), verdicts)
	}
}
