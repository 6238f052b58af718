package gate

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/results"
)

func TestTrendRule(t *testing.T) {
	rising := [][]float64{{10, 10.1, 10.2}, {20, 20.1, 20.2}, {40, 40.1, 40.2}}
	for _, c := range []struct {
		name      string
		direction string
		tolerance float64
		at        []int
		lists     [][]float64
		want      results.Verdict
		undecided int
		says      string
	}{
		{"rises", "increases", 0, looks, rising, results.Pass, 0, "trend-holds steps=2"},
		{"does not fall", "decreases", 0, looks, rising, results.Fail, 0, "trend-broken from=c0 to=c1"},
		{"falls", "decreases", 0, looks, [][]float64{{4, 4.1, 4.05}, {2, 2.1, 2.05}}, results.Pass, 0,
			"trend-holds direction=decreases axis=block_size"},
		{"one step falls", "increases", 0, looks, [][]float64{{3.1, 3.2, 3.3}, {2.8, 2.9, 3}, {9, 9, 9}}, results.Fail,
			0, "trend-broken from=c0 to=c1 change=-0.09381"},
		{"small step down is tolerated", "increases", 0.1, looks, [][]float64{{10, 10, 10}, {9.5, 9.5, 9.5}},
			results.Pass, 0, "trend-holds tolerance=0.1 from_value=10 from_low=10 from_high=10"},
		{"exactly the tolerance", "increases", 0.1, looks, [][]float64{{10, 10, 10}, {9, 9, 9}}, results.Pass, 0, ""},
		{"more than the tolerance", "increases", 0.1, looks, [][]float64{{10, 10, 10}, {8.9, 8.9, 8.9}}, results.Fail,
			0, ""},
		{"small step up is tolerated", "decreases", 0.1, looks, [][]float64{{10, 10, 10}, {10.9, 10.9, 10.9}},
			results.Pass, 0, ""},
		{"level is not an increase", "increases", 0, looks, [][]float64{{10, 10, 10}, {10, 10, 10}}, results.Fail, 0,
			""},
		{"noisy", "increases", 0, looks, [][]float64{{10, 12, 11}, {12, 10, 13}}, results.InconclusiveVerdict, 2,
			"next-look next=5"},
		{"noisy at the last look", "increases", 0, []int{3}, [][]float64{{10, 12, 11}, {12, 10, 13}},
			results.InconclusiveVerdict, 0, "last-look"},
		{"noise that both share cancels in pairs", "increases", 0, looks, [][]float64{{10, 20, 30}, {10.5, 21.1, 31.4}},
			results.Pass, 0, ""},
		{"one launch", "increases", 0, []int{1}, [][]float64{{10}, {11}}, results.Pass, 0,
			"one-launch"},
		{"one launch, wrong way", "increases", 0, []int{1}, [][]float64{{10}, {9}}, results.Fail, 0, ""},
		{"too few launches yet", "increases", 0, looks, [][]float64{{10}, {11}}, results.InconclusiveVerdict, 2, ""},
		{"a case without launches", "increases", 0, looks, [][]float64{{10, 10, 10}, nil}, results.ErrorVerdict, 0,
			"no-launch case=c1"},
		{"zero", "increases", 0, looks, [][]float64{{10, 10, 10}, {0, 11, 11}}, results.ErrorVerdict, 0,
			"not-above-zero case=c1 launch=1"},
		{"one case", "increases", 0, looks, [][]float64{{10, 10, 10}}, results.ErrorVerdict, 0, "invalid-assertion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, keys := series(c.lists...)
			a := trend(c.direction, c.tolerance, c.at, keys...)
			doc := docOf(cases...)
			doc.Assertions = []*results.AssertionVerdict{a}
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !has(a.Reasons, c.says) {
				t.Errorf("message %q has not %q", a.Message, c.says)
			}
			if got := Undecided(doc); c.name != "a case without launches" && len(got) != c.undecided {
				t.Errorf("undecided %v, want %d cases", got, c.undecided)
			}
		})
	}
}

// Launches of different numbers cannot be pairs: the steps are judged by Welch's interval.
func TestTrendWithoutPairs(t *testing.T) {
	cases, keys := series([]float64{10, 10.2, 10.1}, []float64{11, 11.2, 11.1, 11.3, 11})
	a := trend("increases", 0, looks, keys...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	wantVerdict(t, a, results.Pass)
	cases[1].Launches = cases[1].Launches[:1]
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
}

func TestTrendOverUnusableCases(t *testing.T) {
	for _, c := range []struct {
		name   string
		status []string
		want   results.Verdict
	}{
		{"all there", []string{results.OK, results.OK, results.OK}, results.Pass},
		{"all skipped", []string{results.Skipped, results.Skipped, results.Skipped}, results.SkippedVerdict},
		{"one skipped", []string{results.OK, results.Skipped, results.OK}, results.Pass},
		{"all but one skipped", []string{results.OK, results.Skipped, results.Skipped}, results.SkippedVerdict},
		{"one in error", []string{results.OK, results.Error, results.Skipped}, results.ErrorVerdict},
		{"one left out by its author", []string{results.OK, results.Excluded, results.OK}, results.Pass},
		{"all but one left out", []string{results.OK, results.Excluded, results.Excluded}, results.SkippedVerdict},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, keys := series([]float64{1, 1, 1}, []float64{2, 2, 2}, []float64{3, 3, 3})
			for i, s := range c.status {
				cases[i].Status = s
			}
			a := trend("increases", 0, looks, keys...)
			doc := docOf(cases...)
			doc.Assertions = []*results.AssertionVerdict{a}
			Judge(doc)
			wantVerdict(t, a, c.want)
		})
	}
	t.Run("missing", func(t *testing.T) {
		cases, keys := series([]float64{1, 1, 1}, []float64{2, 2, 2})
		a := trend("increases", 0, looks, append(keys, "gone")...)
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		wantVerdict(t, a, results.ErrorVerdict)
	})
}

// A pass that rests on one odd launch is not one.
func TestTrendOutlier(t *testing.T) {
	level := []float64{10, 10.02, 9.98, 10.01, 9.99}
	cases, keys := series(level, []float64{10.01, 10, 9.99, 10.02, 30})
	a := trend("increases", 0, []int{5}, keys...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
}

// The steps of a metric of which 0 is a measurement are differences where a value is 0: nothing of it is an
// error, and a tolerance is a share of the value before.
func TestTrendsOfWhatMayBeZero(t *testing.T) {
	for _, c := range []struct {
		name      string
		direction string
		tolerance float64
		lists     [][]float64
		want      results.Verdict
		says      string
	}{
		{"level at 0 is no increase", "increases", 0, [][]float64{{0, 0, 0}, {0, 0, 0}}, results.Fail,
			"trend-broken steps=1 from=c0 to=c1 from_value=0 to_value=0 change=0 low=0 high=0"},
		{"level at 0 is tolerated", "increases", 0.1, [][]float64{{0, 0, 0}, {0, 0, 0}}, results.Pass,
			"trend-holds"},
		{"from 0 upwards", "increases", 0, [][]float64{{0, 0, 0}, {0.2, 0.21, 0.19}, {1, 1.01, 1.02}}, results.Pass,
			"trend-holds from=c0 to=c1 from_value=0 to_value=0.2 change=0.2"},
		{"to 0", "decreases", 0, [][]float64{{0.2, 0.21, 0.19}, {0, 0, 0}}, results.Pass,
			"trend-holds steps=1 from=c0 to=c1 from_value=0.2 to_value=0 change=-0.2"},
		{"from 0 upwards is no decrease", "decreases", 0.5, [][]float64{{0, 0, 0}, {0.2, 0.2, 0.2}}, results.Fail,
			"trend-broken steps=1 from=c0 to=c1 from_value=0"},
		{"a tolerated share", "increases", 0.1, [][]float64{{0, 0, 0}, {1, 1, 1}, {0.95, 0.95, 0.95}}, results.Pass,
			""},
		{"more than the share", "increases", 0.1, [][]float64{{0, 0, 0}, {1, 1, 1}, {0.8, 0.8, 0.8}}, results.Fail,
			"trend-broken steps=2 from=c1 to=c2 from_value=1"},
		{"noisy", "increases", 0, [][]float64{{0, 0.5, 0}, {0.4, 0, 0.3}}, results.InconclusiveVerdict,
			"trend-open"},
	} {
		var cases []*results.Case
		var keys []string
		for i, list := range c.lists {
			one := caseOf(fmt.Sprintf("c%d", i), 46, 46, 46)
			for k, v := range list {
				one.Launches[k].Metrics.Set("skew", v)
			}
			cases, keys = append(cases, one), append(keys, one.Key)
		}
		a := trend(c.direction, c.tolerance, []int{3}, keys...)
		a.Subject, a.Unit = metric("skew", "s"), "s"
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		if a.Verdict != c.want || !has(a.Reasons, c.says) {
			t.Errorf("%s: %s, %s", c.name, a.Verdict, a.Message)
		}
		if a.Observed == nil || a.Observed.Unit != "s" {
			t.Errorf("%s: observed %+v", c.name, a.Observed)
		}
	}
}
