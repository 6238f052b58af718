package results

import (
	"math"
	"testing"
)

// The mean of a doubling and a halving is no change; amounts and single cases have no mean of ratios.
func TestGeomeans(t *testing.T) {
	effect := func(metric string, change float64, additive bool) *Effect {
		return &Effect{Metric: metric, Change: &Change{Value: change}, Additive: additive}
	}
	got := Geomeans([]*Effect{
		effect("a", 2, false), effect("b", 1.5, false), effect("a", 0.5, false), effect("c", 1, true),
		effect("c", 2, true),
		effect("d", 1.1, false), {Metric: "d"}, effect("d", 1.21, false), effect("d", 1.331, false),
	}, 0.02)
	if len(got) != 2 || got[0].Metric != "a" || got[0].Cases != 2 || math.Abs(got[0].Change-1) > 1e-12 ||
		got[1].Metric != "d" || got[1].Cases != 3 || math.Abs(got[1].Change-1.21) > 1e-12 {
		t.Errorf("%+v", got)
	}
}

// The interval is as wide as those of the cases on average; what it says of the margin is the verdict.
func TestGeomeansAreJudged(t *testing.T) {
	for name, test := range map[string]struct {
		better string
		cis    []*[2]float64
		low    float64
		want   EffectVerdict
	}{
		"worse":       {"higher", []*[2]float64{{0.8, 0.9}, {0.7, 0.8}}, math.Sqrt(0.56), Regression},
		"a drift":     {"higher", []*[2]float64{{0.8, 0.9}, {0.7, 0.8}}, math.Sqrt(0.56), Unclear},
		"slower":      {"lower", []*[2]float64{{1.1, 1.2}, {1.2, 1.3}}, math.Sqrt(1.32), Regression},
		"crosses":     {"higher", []*[2]float64{{0.9, 1.1}, {0.95, 1.05}}, math.Sqrt(0.855), Unclear},
		"alike":       {"lower", []*[2]float64{{0.99, 1.01}, {0.99, 1.01}}, 0.99, NoRegression},
		"better":      {"higher", []*[2]float64{{1.1, 1.2}, {1.01, 1.02}}, math.Sqrt(1.111), Improved},
		"no interval": {"higher", []*[2]float64{{1.1, 1.2}, nil}, 0, Unclear},
		"no better":   {"none", []*[2]float64{{1.1, 1.2}, {1.1, 1.2}}, 1.1, Reported},
	} {
		var effects []*Effect
		for _, ci := range test.cis {
			change := &Change{Value: 1, CI: ci, Found: name != "a drift"}
			effects = append(effects, &Effect{Metric: "m", Better: test.better, Change: change})
		}
		got := Geomeans(effects, 0.02)
		if len(got) != 1 || got[0].Verdict != test.want || (got[0].CI == nil) != (test.low == 0) ||
			test.low > 0 && math.Abs(got[0].CI[0]-test.low) > 1e-9 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Bins hold every value once, between the least and the largest.
func TestBins(t *testing.T) {
	l := NewLatencies(map[int]int64{100: 3, 1000: 4, 5000: 2})
	var sum int64
	all := l.Bins(10)
	for i, b := range all {
		sum += b.Count
		if b.High <= b.Low || i > 0 && b.Low != all[i-1].High {
			t.Errorf("bin %d is %v", i, b)
		}
	}
	if sum != 9 || all[0].Count != 3 || all[9].Count != 2 {
		t.Errorf("%v", all)
	}
	if got := BinsOf([]float64{5, 5}, 8); len(got) != 1 || got[0].Count != 2 {
		t.Errorf("equal values are in %v", got)
	}
	got := BinsOf([]float64{-1, 0, math.NaN(), 1}, 2)
	if len(got) != 2 || got[0] != (Bin{-1, 0, 1}) || got[1] != (Bin{0, 1, 2}) {
		t.Errorf("on a linear axis %v", got)
	}
	if BinsOf(nil, 4) != nil {
		t.Error("nothing has bins")
	}
}
