package results_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

func TestDefinitionsByWhichNothingCanBeJudgedAreRefused(t *testing.T) {
	good := results.Metric{Name: "x", Unit: "s", Better: results.Lower}
	table := func(run string, metrics ...results.Metric) results.MetricTable {
		return results.MetricTable{Workload: "w", Run: run, Definitions: metrics}
	}
	for want, tables := range map[string][]results.MetricTable{
		"":                         {table("", good), table("r", good)},
		"run \"r\" stand twice":    {table("r", good), table("r", good)},
		"metric \"x\" of workload": {table("", good, good)},
		"its unit is \"furlong\"":  {table("", results.Metric{Name: "x", Unit: "furlong", Better: results.Lower})},
		"it is better \"up\", not": {table("", results.Metric{Name: "x", Better: "up"})},

		"it follows from ranks by \"m\"": {table("", results.Metric{Name: "x", Better: results.Lower, FromRanks: "m"})},
	} {
		doc := &results.Document{Schema: results.Schema, Metrics: tables}
		path := filepath.Join(t.TempDir(), "results.json")
		text, err := doc.Encode()
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = results.Read(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A table that names no columns shows all metrics; the first that has a better direction
// stays longest and has an interval.
func TestColumnsOfATableThatNamesNone(t *testing.T) {
	table := results.MetricTable{Definitions: []results.Metric{
		{Name: "tokens", Better: results.Neither}, {Name: "ttft.p99", Unit: "s", Better: results.Lower},
		{Name: "rate", Unit: "1/s", Better: results.Higher},
	}}
	want := []results.MetricColumn{
		{Metric: "tokens", Head: "tokens\n", Drop: 1}, {Metric: "ttft.p99", Head: "ttft\np99", Interval: true},
		{Metric: "rate", Head: "rate\n", Drop: 3},
	}
	if diff := cmp.Diff(want, table.Shown()); diff != "" {
		t.Error(diff)
	}
}
