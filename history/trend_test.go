package history

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

var ask = Query{Case: "c", Metric: "bandwidth", Significance: 0.01}

// The Nile, told as sessions: the change is between those of 1898 and 1899, by as much
// as the means say, and what was different there is named.
func TestTrendFindsTheChangeAndWhatDiffers(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for i, v := range nile {
		doc := session(i, v)
		n := &doc.Environment.Nodes[0]
		n.ClockOffset.Value = v // momentary
		if i >= 28 {
			n.Kernel = "6.2"
			doc.Cases[0].Options["batch"] = 2.
		}
		if i >= 50 {
			doc.Weir.Commit = "bbbb"
		}
		write(t, filepath.Join(s.Dir, doc.Session.ID+".json"), doc)
	}
	got, err := s.Trend(ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Points) != 100 || len(got.Changes) != 1 || len(got.Levels) != 2 || len(got.LeftOut) != 0 {
		t.Fatalf("%d points, changes %v, levels %v, left out %v", len(got.Points), got.Changes, got.Levels, got.LeftOut)
	}
	c := got.Changes[0]
	if c.At != 28 || c.Before != "s027" || c.After != "s028" || c.Effect != "worse" || c.P > 0.01 {
		t.Errorf("the change is %+v", c)
	}
	if r := *c.Ratio; r < 0.76 || r > 0.79 { // 1098 -> 850 as arithmetic means
		t.Errorf("the levels have a ratio of %v", r)
	}
	want := []results.Difference{
		{What: "kernel", Base: "6.1", New: "6.2", Of: []string{"n1"}}, {What: "option batch", Base: "1", New: "2"},
	}
	if diff := cmp.Diff(want, c.Differ); diff != "" {
		t.Error(diff)
	}
	for _, l := range got.Levels {
		if l.CI == nil || l.CI[0] >= l.Value || l.CI[1] <= l.Value {
			t.Errorf("level %+v", l)
		}
	}

	// the same documents give the same trend, in whatever files and order they are
	if err := os.Remove(filepath.Join(s.Dir, indexName)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.Dir, "s000.json"), filepath.Join(s.Dir, "z.json")); err != nil {
		t.Fatal(err)
	}
	again, err := s.Trend(ask)
	if err != nil {
		t.Fatal(err)
	}
	again.Points[0].File = "s000.json"
	if a, b := asJSON(t, got), asJSON(t, again); a != b {
		t.Errorf("the same sessions give\n%s\nand\n%s", a, b)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What has no value is left out with its reason and moves nothing.
func TestTrendLeavesOut(t *testing.T) {
	s := stored(t, 1, 2, 3)
	put := func(i int, change func(*results.Document)) {
		doc := session(i, 4)
		change(doc)
		write(t, filepath.Join(s.Dir, doc.Session.ID+".json"), doc)
	}
	put(10, func(d *results.Document) { d.Cases[0].Status, d.Cases[0].Reason = results.Error, "rank 1 died" })
	put(11, func(d *results.Document) { d.Cases[0].Invalid = "not verified" })
	put(12, func(d *results.Document) { d.Cases[0].Metrics.Delete("bandwidth") })
	put(13, func(d *results.Document) {
		d.Cases[0].Metrics.Set("bandwidth", results.MetricEstimate{Unit: "MB/s", Value: 4})
	})
	put(14, func(d *results.Document) { d.Cases[0].Key = "other" })
	put(15, func(d *results.Document) { d.Environment.Fingerprint = "sha256:bb22" })
	got, err := s.Trend(ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Points) != 4 {
		t.Errorf("points %v", got.Points)
	}
	want := []Problem{
		{"s010.json", "the case is error: rank 1 died"}, {"s011.json", "the case is invalid: not verified"},
		{"s012.json", "the case has no metric bandwidth"}, {"s013.json", "bandwidth is in MB/s there, not in GB/s"},
	}
	if !slices.Equal(got.LeftOut, want) {
		t.Errorf("left out are %v, want %v", got.LeftOut, want)
	}
	q := ask
	q.Environment = "bb"
	if got, err := s.Trend(q); err != nil || len(got.Points) != 1 || got.Points[0].Session != "s015" {
		t.Errorf("of the other environment are %v, %v", got, err)
	}
}

func TestTrendRefuses(t *testing.T) {
	s := stored(t, 1, 2)
	var missing *MissingError
	q := ask
	q.Case = "d"
	if _, err := s.Trend(q); !errors.As(err, &missing) || missing.CaseKnown ||
		!slices.Equal(missing.Cases, []string{"c"}) {
		t.Errorf("a case that is not there: %v", err)
	}
	q = ask
	q.Metric = "bandwith"
	if _, err := s.Trend(q); !errors.As(err, &missing) || !missing.CaseKnown ||
		!slices.Equal(missing.Metrics, []string{"bandwidth"}) {
		t.Errorf("a metric that is not there: %v", err)
	}
	other := session(9, 1)
	other.Scenario.Name = "weekly"
	write(t, filepath.Join(s.Dir, "s009.json"), other)
	var ambiguous *AmbiguousError
	if _, err := s.Trend(ask); !errors.As(err, &ambiguous) ||
		!slices.Equal(ambiguous.Scenarios, []string{"nightly", "weekly"}) {
		t.Errorf("a case of two scenarios: %v", err)
	}
	q = ask
	q.Scenario = "weekly"
	if got, err := s.Trend(q); err != nil || len(got.Points) != 1 || got.Scenario != "weekly" {
		t.Errorf("the case of one scenario: %v, %v", got, err)
	}
}

// Where values are not all positive, levels are arithmetic means and have no ratio.
func TestTrendOfValuesThatMayBeZero(t *testing.T) {
	s := stored(t, coal...)
	got, err := s.Trend(ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Changes) == 0 || got.Changes[0].Ratio != nil || got.Changes[0].Effect != "worse" {
		t.Fatalf("changes %+v", got.Changes)
	}
	at := got.Changes[0].At
	sum := 0.
	for _, v := range coal[:at] {
		sum += v
	}
	if mean := sum / float64(at); got.Levels[0].Value-mean > 1e-9 || mean-got.Levels[0].Value > 1e-9 {
		t.Errorf("the level is %v, the mean %v", got.Levels[0].Value, mean)
	}
}
