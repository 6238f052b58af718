package results_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	want := full()
	if err := want.Write(filepath.Join(dir, "results.json")); err != nil {
		t.Fatal(err)
	}
	got, err := results.Read(dir) // a session directory
	if err != nil {
		t.Fatal(err)
	}
	// Sizes and counts come back as JSON has them; everything else as it was.
	got.Cases[0].Axes, want.Cases[0].Axes = nil, nil
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs(),
		cmp.AllowUnexported(results.Named[float64]{}, results.Named[results.MetricEstimate]{})); diff != "" {
		t.Error(diff)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("the directory holds %v, want only results.json (%v)", names, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another version": `{"schema": "weir.results/v9"}`,
		"no JSON":         `schema: x`,
		"a null metric":   `{"schema": "weir.results/v1", "cases": [{"launches": [{"metrics": {"bandwidth": null}}]}]}`,
		"a word metric":   `{"schema": "weir.results/v1", "cases": [{"launches": [{"metrics": {"bandwidth": "fast"}}]}]}`,
		"a null case":     `{"schema": "weir.results/v1", "cases": [null]}`,
		"two of one key":  `{"schema": "weir.results/v1", "cases": [{"key": "a"}, {"key": "b"}, {"key": "a"}]}`,
		"a null launch":   `{"schema": "weir.results/v1", "cases": [{"launches": [null]}]}`,
		"a null verdict":  `{"schema": "weir.results/v1", "cases": [{"assertions": [null]}]}`,
		"a null trend":    `{"schema": "weir.results/v1", "assertions": [null]}`,
		"a bad subject":   `{"schema": "weir.results/v1", "assertions": [{"subject": {"op": "min"}}]}`,
	} {
		path := filepath.Join(t.TempDir(), "r.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Read(path); err == nil {
			t.Errorf("read %s", name)
		}
	}
}

func TestWriteFileLeavesTheOldFileWhenItCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone", "results.json")
	if err := results.WriteFile(path, []byte("x")); err == nil {
		t.Error("wrote below a folder that does not exist")
	}
}

func TestEstimateDigits(t *testing.T) {
	ci := func(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }
	for _, c := range []struct {
		o    results.Observed
		want string
	}{
		{results.Observed{Value: 40.9104, Unit: "GB/s", CI: ci(40.2371, 41.5555), N: 5},
			"40.91 GB/s (96% CI 40.2–41.6, n=5)"},
		{results.Observed{Value: 40.9104, Unit: "GB/s", N: 1}, "40.91 GB/s (n=1)"},
		{results.Observed{Value: 46.1, Unit: "GB/s", CI: ci(46.1, 46.1), N: 3}, "46.10 GB/s (96% CI 46.10–46.10, n=3)"},
		{results.Observed{Value: 3.1234, Unit: "GB/s", CI: ci(1.2, 8.1), N: 3}, "3.1 GB/s (96% CI 1.2–8.1, n=3)"},
		{results.Observed{Value: 0.5, Unit: "", CI: ci(0.01, 25), N: 2}, "0.50 (96% CI 0.010–25, n=2)"},
		{results.Observed{Value: 0.36, Unit: "GB/s", CI: ci(1e-9, 1e12), N: 2},
			"0.36 GB/s (96% CI <0.000036–>3600, n=2)"},
		{results.Observed{Value: 0.5, Unit: "", CI: ci(0.01, 25), N: 12}, "0.50 (96% CI 0.010–25, n=12)"},
		{results.Observed{Value: 0.00144, Unit: "s", CI: ci(0.0014, 0.00149), N: 5},
			"1.440 ms (96% CI 1.40–1.49, n=5)"},
		{results.Observed{Value: 123456, Unit: "1/s", CI: ci(121111, 125822), N: 5},
			"123500 1/s (96% CI 121000–126000, n=5)"},
		{results.Observed{Value: 123456, Unit: "1/s", CI: &[2]float64{123456, 123456}, N: 5},
			"123456 1/s (96% CI 123456–123456, n=5)"},
		{results.Observed{Value: 123456, Unit: "1/s", N: 1}, "123456 1/s (n=1)"},
		{results.Observed{Value: 46.123456, Unit: "GB/s", CI: ci(46.1234, 46.1236), N: 5},
			"46.123 GB/s (96% CI 46.123–46.124, n=5)"},
		{results.Observed{Value: 0, Unit: "GB/s", N: 1}, "0 GB/s (n=1)"},
		{results.Observed{Value: 130.12, Unit: "%", N: 1}, "130.1% (n=1)"},
		{results.Observed{Value: 2e12, Unit: "1/s", N: 1}, "2e+12 1/s (n=1)"},
	} {
		if got := c.o.String(); got != c.want {
			t.Errorf("%+v is written %q, want %q", c.o, got, c.want)
		}
	}
}

// The end of a wide interval that decides is shown: exactly if a bound is as far, else as a limit.
func TestWideIntervalsShowTheEndThatDecides(t *testing.T) {
	o := results.Observed{Value: 0.36, Unit: "GB/s", CI: &[2]float64{2e-6, 6.1}, N: 3}
	for bound, want := range map[float64]string{
		0.01: "<0.000036–6.1", 1e-6: "0.0000020–6.1", 3e-6: "<0.0000030–6.1", 7: "<0.000036–6.1",
	} {
		if got := o.Beside(results.Scale{Unit: "GB/s", Factor: 1}, &bound); !strings.Contains(got, "CI "+want+",") {
			t.Errorf(">= %g: %s, want %s", bound, got, want)
		}
	}
}

func TestExactNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		41.832: "41.832", 10: "10", 0: "0", 0.9: "0.9", 1. / 3: "0.333333", 60000: "60000", -2.50: "-2.5",
		1e-9: "1e-09", 123456789: "123456789",
	} {
		if got := (results.Scale{Factor: 1}).Exact(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
	if got := results.ScaleFor(60e-6, "s").Exact(60e-6); got != "60" {
		t.Errorf("60 µs is written %q", got)
	}
}

func TestFailureInOneLine(t *testing.T) {
	f := &results.Failure{Rank: 1, Phase: "run", Cause: "killed"}
	if got := (&results.Failure{Rank: 1, Node: "n2", Phase: "run",
		Cause: "killed"}).String(); got != "rank 1 on n2, phase run: killed" {
		t.Errorf("got %q", got)
	}
	if got := (&results.Failure{Rank: -1, Node: "n2", Phase: "run",
		Cause: "the agent of n2 is gone"}).String(); got != "phase run: the agent of n2 is gone" {
		t.Errorf("got %q", got)
	}
	if got := f.String(); got != "rank 1, phase run: killed" {
		t.Error(got)
	}
	f.Rank = -1
	if got := f.String(); strings.Contains(got, "rank") {
		t.Error(got)
	}
}

func TestMetricValuesKeepWhatIsNotFinite(t *testing.T) {
	in := results.ValuesOf(map[string]float64{"a": math.NaN(), "b": math.Inf(1), "c": math.Inf(-1), "d": 0.1})
	b, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out results.MetricValues
	if err := out.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out, cmpopts.EquateNaNs(), cmp.AllowUnexported(results.Named[float64]{})); diff != "" {
		t.Error(diff)
	}
}

// What an assertion says must mean something, or a damaged document could pass.
func TestCheckOfAnAssertion(t *testing.T) {
	metric := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}
	part := assertion.Part{Subject: metric, Unit: "GB/s", Case: "c"}
	deep := metric
	for range 300 {
		deep = &assertion.Expr{Op: assertion.Min, Args: []*assertion.Expr{deep}}
	}
	wide := &assertion.Expr{Op: assertion.Max, Args: slices.Repeat([]*assertion.Expr{metric}, 30_000)}
	nan := math.NaN()
	for name, c := range map[string]struct {
		a     assertion.Assertion
		wrong string
	}{
		"a band": {assertion.Assertion{Subject: metric, Halo: 0.1, Multiple: "holm"}, ""},
		"parts":  {assertion.Assertion{Quantifier: "any", Parts: []assertion.Part{part}}, ""},
		"a decision": {assertion.Assertion{Subject: metric,
			Decide: &assertion.Decide{Confidence: 0.9, OnInconclusive: "pass"}}, ""},
		"an excuse":   {assertion.Assertion{Subject: metric, XFail: &assertion.XFail{Until: "2027-01-31"}}, ""},
		"nothing":     {assertion.Assertion{}, "no subject"},
		"no operands": {assertion.Assertion{Subject: &assertion.Expr{Op: assertion.Geomean}}, "0 operands"},
		"three operands": {assertion.Assertion{Subject: &assertion.Expr{Op: assertion.Add,
			Args: []*assertion.Expr{metric, metric, metric}}}, "3 operands"},
		"a leaf with leaves": {assertion.Assertion{Subject: &assertion.Expr{Op: assertion.Metric,

			Args: []*assertion.Expr{metric}}}, "1 operands"},
		"unknown operation": {assertion.Assertion{Subject: &assertion.Expr{Op: "^"}}, "unknown operation"},
		"too deep":          {assertion.Assertion{Subject: deep}, "nested"},
		"too wide":          {assertion.Assertion{Subject: wide}, "more than 20000 values"},
		"a bound of NaN": {assertion.Assertion{Subject: metric, Bounds: assertion.Bounds{Lower: &nan}},
			"a bound is NaN"},
		"parts of nothing": {assertion.Assertion{Quantifier: "all"}, "no parts"},
		"some of parts":    {assertion.Assertion{Quantifier: "some", Parts: []assertion.Part{part}}, "not all or any"},
		"parts for nobody": {assertion.Assertion{Subject: metric, Parts: []assertion.Part{part}},
			"neither all nor any"},
		"parts and subject": {assertion.Assertion{Quantifier: "all", Subject: metric, Parts: []assertion.Part{part}},
			"of its own"},
		"a part of no case": {assertion.Assertion{Quantifier: "all", Parts: []assertion.Part{{Subject: metric}}},
			"belongs to no case"},
		"an empty part": {assertion.Assertion{Quantifier: "all", Parts: []assertion.Part{{Case: "c"}}},
			"part 0: it has no subject"},
		"a negative halo": {assertion.Assertion{Subject: metric, Halo: -0.1}, "halo"},
		"a halo of NaN":   {assertion.Assertion{Subject: metric, Halo: nan}, "halo"},
		"a tolerance of NaN": {assertion.Assertion{Subject: metric, Trend: &assertion.Trend{Tolerance: nan}},
			"tolerance"},
		"certainty": {assertion.Assertion{Subject: metric, Decide: &assertion.Decide{Confidence: 1}},
			"confidence is 1"},
		"a coin": {assertion.Assertion{Subject: metric, Decide: &assertion.Decide{Confidence: 0.49}},
			"confidence is 0.49"},

		"a confidence of NaN": {assertion.Assertion{Subject: metric, Decide: &assertion.Decide{Confidence: nan}},
			"confidence"},
		"another stand-in": {assertion.Assertion{Subject: metric,
			Decide: &assertion.Decide{OnInconclusive: "shrug"}}, "shrug"},
		"an excuse for ever": {assertion.Assertion{Subject: metric, XFail: &assertion.XFail{Until: "never"}},
			"not a date"},
		"another family": {assertion.Assertion{Subject: metric, Multiple: "none"}, "not holm"},
	} {
		err := (&results.AssertionVerdict{Assertion: c.a}).Check()
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

// What was to be run and was not, and what was left out on purpose.
func TestUnreached(t *testing.T) {
	for reason, want := range map[string]bool{
		"not run": true, "not run: --fail-fast: x": true, "not run: needs a, which failed: b": true,
		"not running on Fridays": false, "not selected": false, "needs a, which was skipped: not run": false, "": false,
	} {
		if got := (&results.Case{Status: results.Skipped, Reason: reason}).NotReached(); got != want {
			t.Errorf("%q: %v", reason, got)
		}
		if (&results.Case{Status: results.Excluded, Reason: reason}).NotReached() {
			t.Errorf("excluded, %q: it was not to be run", reason)
		}
	}
}

func TestProvenance(t *testing.T) {
	d := &results.Document{Cases: []*results.Case{
		{Launches: []*results.Launch{{Retried: true}, {Resumed: true}, {Resumed: true}}},
		{Launches: []*results.Launch{{}}},
	}}
	d.Cases[0].Launches[0].Status, d.Cases[0].Launches[2].Status = results.OK, results.OK
	if got := d.Cases[0].Succeeded(); len(got) != 1 || got[0] != d.Cases[0].Launches[2] {
		t.Errorf("%d launches succeeded", len(got))
	}
	if d.Simulated() || d.Resumed() != 2 || d.Cases[0].Retried() != 1 || d.Cases[1].Retried() != 0 {
		t.Errorf("simulated %v, resumed %d, retried %d", d.Simulated(), d.Resumed(), d.Cases[0].Retried())
	}
	d.Cases[1].Launches[0].Simulated = true // whatever the session says of itself
	if !d.Simulated() || d.Cases[0].Simulated() || !d.Cases[1].Simulated() {
		t.Error("a simulated launch is not told of")
	}
}
