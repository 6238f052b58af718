package scenarios_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// The scenarios of make gpu can be planned where there is no GPU.
func TestEveryGPUScenarioPlans(t *testing.T) {
	files, err := filepath.Glob("../test/gpu/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if p := planOfFile(t, file); len(p.Cases) == 0 {
			t.Errorf("%s has no cases", file)
		}
	}
}

// Kept results of GPUs have the cases of the scenario that they are compared with.
func TestKeptResultsOfGPUs(t *testing.T) {
	var want []string
	for _, c := range planOfFile(t, "../test/gpu/kept.yaml").Cases {
		want = append(want, c.Key)
	}
	files, err := filepath.Glob("../test/gpu/kept/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		doc, err := results.ReadVerified(file)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, c := range doc.Cases {
			have = append(have, c.Key)
			if _, ok := c.Metrics.Get("latency.p50"); !ok || len(c.Launches) < 3 {
				t.Errorf("%s: %s has %d launches and no latency.p50", file, c.Key, len(c.Launches))
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s has the cases %q, kept.yaml %q", file, have, want)
		}
	}
}

// planOfFile is the plan of a scenario's file.
func planOfFile(t *testing.T, file string) *planner.Plan {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return planOf(t, file, src, nil)
}
