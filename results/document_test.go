package results_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/results"
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
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
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
		{results.Observed{Value: 40.9104, Unit: "GB/s", CI: ci(40.2371, 41.5555), N: 5}, "40.91 GB/s (96% CI 40.2–41.6, n=5)"},
		{results.Observed{Value: 40.9104, Unit: "GB/s", N: 1}, "40.91 GB/s (n=1)"},
		{results.Observed{Value: 46.1, Unit: "GB/s", CI: ci(46.1, 46.1), N: 3}, "46.10 GB/s (96% CI 46.10–46.10, n=3)"},
		{results.Observed{Value: 3.1234, Unit: "GB/s", CI: ci(1.2, 8.1), N: 3}, "3.1 GB/s (96% CI 1.2–8.1, n=3)"},
		{results.Observed{Value: 0.5, Unit: "", CI: ci(0.01, 25), N: 2}, "0.50 (96% CI 0.010–25, n=2)"},
		{results.Observed{Value: 0.00144, Unit: "s", CI: ci(0.0014, 0.00149), N: 5}, "1.440 ms (96% CI 1.40–1.49, n=5)"},
		{results.Observed{Value: 123456, Unit: "1/s", CI: ci(121111, 125822), N: 5}, "123456 1/s (96% CI 121111–125822, n=5)"},
		{results.Observed{Value: 46.123456, Unit: "GB/s", CI: ci(46.1234, 46.1236), N: 5}, "46.123 GB/s (96% CI 46.123–46.124, n=5)"},
		{results.Observed{Value: 0, Unit: "GB/s", N: 1}, "0 GB/s (n=1)"},
		{results.Observed{Value: 130.12, Unit: "%", N: 1}, "130.1% (n=1)"},
		{results.Observed{Value: 2e12, Unit: "1/s", N: 1}, "2e+12 1/s (n=1)"},
	} {
		if got := c.o.String(); got != c.want {
			t.Errorf("%+v is written %q, want %q", c.o, got, c.want)
		}
	}
}

func TestExactNumbers(t *testing.T) {
	for v, want := range map[float64]string{41.832: "41.832", 10: "10", 0: "0", 0.9: "0.9", 1. / 3: "0.333333", 60000: "60000", -2.50: "-2.5", 1e-9: "1e-09", 123456789: "123456789"} {
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
	if got := f.String(); got != "rank 1, phase run: killed" {
		t.Error(got)
	}
	f.Rank = -1
	if got := f.String(); strings.Contains(got, "rank") {
		t.Error(got)
	}
}

func TestMetricValuesKeepWhatIsNotFinite(t *testing.T) {
	in := results.MetricValues{"a": math.NaN(), "b": math.Inf(1), "c": math.Inf(-1), "d": 0.1}
	b, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out results.MetricValues
	if err := out.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}
