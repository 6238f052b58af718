package expression

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload"
)

// percentNames are of a run with metrics in percent, in ms and without a unit.
func percentNames() *Names {
	kind := &workload.Kind{Name: "command", DeclaresMetrics: true}
	n := &Names{Kind: kind, Run: "r", Metrics: []workload.Metric{
		{Name: "pc", Unit: "%", Better: workload.Higher}, {Name: "other.pc", Unit: "%", Better: workload.Higher},
		{Name: "lat", Unit: "ms", Better: workload.Lower}, {Name: "share", Better: workload.Higher},
	}}
	n.Runs = map[string]*Names{"r": n}
	return n
}

// A bare number beside a metric is in the unit of the metric: in percent as in ms.
func TestBareNumbersAreInTheUnitOfTheMetric(t *testing.T) {
	for text, want := range map[string]string{
		"lat <= 100":            "lat in (-∞, 100] ms",
		"lat <= 100 ms":         "lat in (-∞, 100] ms",
		"pc >= 90":              "pc in [90, ∞) %",
		"pc >= 90%":             "pc in [90, ∞) %",
		"90 <= pc":              "pc in [90, ∞) %",
		"pc >= 45 * 2":          "pc in [90, ∞) %",
		"pc between 90 and 95%": "pc in [90, 95] %",
		"pc within 10% of 50":   "pc in [45, 55] %",
		"pc >= 0.9":             "pc in [0.9, ∞) %",
		"2 * pc >= 90":          "2 * pc in [90, ∞) %",
		"pc - 5% >= 90":         "pc - 0.0500000 in [90, ∞) %",
		"pc + other.pc <= 150":  "pc + other.pc in (-∞, 150] %",
		"share >= 0.9":          "share in [0.9, ∞)",
		"share >= 90%":          "share in [0.9, ∞)",
		"ratio(lat, lat) <= 5":  "lat / lat in (-∞, 5]",
		"pc >= 0.9 * other.pc":  "pc / other.pc in [0.9, ∞)",
	} {
		a, err := percentNames().Assertion(text)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		out, err := a.Lower(Scope{Key: "r"})
		if err != nil || out.Lowered != want {
			t.Errorf("%s: %q, %v; want %q", text, out.Lowered, err, want)
		}
	}
	a, err := percentNames().Assertion("ratio(pc, other.pc) >= 2")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := a.Lower(Scope{Key: "r"}); err != nil || *out.Bounds.Lower != 2 && *out.Bounds.Lower != 200 ||
		out.Unit == "" && *out.Bounds.Lower != 2 {
		t.Errorf("a ratio of percentages: %+v, %v", out, err)
	}
	_, err = percentNames().Assertion("pc - 5 >= 90")
	if err == nil || !strings.Contains(err.Error(), "write 5%") {
		t.Errorf("a bare number in a sum: %v", err)
	}
}

// What could be a share or a percentage is doubted.
func TestBoundsThatCouldBeSharesAreDoubted(t *testing.T) {
	for text, doubts := range map[string]string{
		"pc >= 0.9": "write 0.9%, or 90%", "pc <= 1": "write 1%, or 100%", "pc between 0.5 and 3": "write 0.5%, or 50%",
		"1 >= pc": "write 1%", "pc >= 90": "", "pc >= 0.9%": "", "pc >= 0": "", "share >= 0.9": "", "lat <= 1": "",
		"pc >= 0.9 * other.pc": "", "pc within 0.1 of 90": "",
	} {
		a, err := percentNames().Assertion(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		all := a.Doubts()
		doubted := len(all) == 1 && strings.Contains(all[0].Error(), doubts)
		if doubted != (doubts != "") || !doubted && len(all) > 0 {
			t.Errorf("%s: %v", text, all)
		}
	}
}
