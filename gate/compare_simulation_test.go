package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// comparisons is how many simulated sessions stand behind each promise about them.
const comparisons = 1000

const pairsSimulated = 8

// turnsOf runs a simulated session of two runs that take turns A B B A, with launches
// that vary by cv around a level that drift moves before each launch.
func turnsOf(seed uint64, ratio, cv float64, drift func(r *rand.Rand, at int) float64) *results.Document {
	r := rand.New(rand.NewPCG(seed, 3))
	var values [2][]float64
	level := 0.0
	for at := range 2 * pairsSimulated {
		level += drift(r, at)
		side := (at + at/2) % 2 // A B B A
		v := 10 * math.Exp(level+cv*r.NormFloat64())
		if side == 1 {
			v *= ratio
		}
		values[side] = append(values[side], v)
	}
	return alternating(values[0], values[1])
}

// Drifts of 1 % from launch to launch.
var drifts = map[string]func(*rand.Rand, int) float64{
	"none":        func(*rand.Rand, int) float64 { return 0 },
	"steady":      func(*rand.Rand, int) float64 { return 0.01 },
	"random walk": func(r *rand.Rand, _ int) float64 { return 0.01 * r.NormFloat64() },
	"a step":      func(_ *rand.Rand, at int) float64 { return map[bool]float64{true: 0.08}[at == 7] },
}

// Two runs that are alike and take turns are called different in at most 5 % of
// comparisons, and a regression hardly ever, however the machine drifts; and a run that
// is 3 % slower is found in at least 95 % of sessions on a machine with launches that
// vary by 1 %.
func TestComparisonUnderDrift(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for name, drift := range drifts {
		for _, cv := range []float64{0.001, 0.01, 0.03} {
			found, regressions := 0, 0
			for seed := range uint64(comparisons) {
				c, err := CompareRuns(turnsOf(seed, 1, cv, drift), "a", "b", options)
				e := only(t, c, err)
				if e.Change.Found {
					found++
				}
				if e.Verdict == results.Regression {
					regressions++
				}
			}
			alarms := float64(found) / comparisons
			t.Logf("A/A, drift %s, launches vary by %.1f%%: %.2f%% called different, %d regressions", name, cv*100,
				alarms*100, regressions)
			if alarms > 0.05 || float64(regressions) > 0.005*comparisons {
				t.Errorf("drift %s, launches vary by %.1f%%: %.2f%% of A/A comparisons called different, %d regressions",
					name, cv*100, alarms*100, regressions)
			}
		}
	}
	for _, name := range []string{"none", "steady", "random walk"} {
		missed, wrong := 0, 0
		for seed := range uint64(comparisons) {
			c, err := CompareRuns(turnsOf(seed, 0.97, 0.01, drifts[name]), "a", "b", options)
			e := only(t, c, err)
			if !e.Change.Found {
				missed++
			}
			if e.Verdict == results.Improved {
				wrong++
			}
		}
		power := 1 - float64(missed)/sessions
		t.Logf("-3%%, drift %s: found in %.1f%%", name, power*100)
		if power < 0.95 || wrong > 0 {
			t.Errorf("-3%%, drift %s: found in %.1f%% of sessions, promised 95%%; %d called better", name, power*100,
				wrong)
		}
	}
}

// What is called detectable is found four times of five.
func TestWhatIsDetectableIsFound(t *testing.T) {
	phase.NotUnderRace(t)
	for _, n := range []int{4, 8} {
		detectable := 0.0
		worth := func(seed uint64, ratio float64) *results.Effect {
			r := rand.New(rand.NewPCG(seed, 4))
			side := func(level float64) (out []float64) {
				for range n {
					out = append(out, level*math.Exp(0.01*r.NormFloat64()))
				}
				return out
			}
			c, err := compared(side(10), side(10*ratio))
			return only(t, c, err)
		}
		for seed := range uint64(sessions) {
			detectable += *worth(seed, 1).Change.Detectable / sessions
		}
		found := 0
		for seed := range uint64(sessions) {
			if worth(seed, 1-detectable).Change.Found {
				found++
			}
		}
		if got := float64(found) / sessions; got < 0.72 || got > 0.86 {
			t.Errorf("n=%d: %.2f%% is called detectable and found in %.0f%% of sessions", n, detectable*100, got*100)
		}
	}
}

// many compares 24 cases of one session, with launches that vary by cv, of which every fourth has one
// ratio to its base and the others another.
func many(t *testing.T, seed uint64, cv, fourth, others float64, holm bool) *results.Comparison {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	base, now := separate(nil, nil)
	base.Cases, now.Cases, now.Session.ID = nil, nil, base.Session.ID
	for i := range 24 {
		ratio := others
		if i%4 == 0 {
			ratio = fourth
		}
		var values [2][]float64
		for range 6 {
			values[0] = append(values[0], math.Exp(cv*r.NormFloat64()))
			values[1] = append(values[1], ratio*math.Exp(cv*r.NormFloat64()))
		}
		key := string(rune('A' + i))
		base.Cases, now.Cases = append(base.Cases, caseOf(key, values[0]...)),
			append(now.Cases, caseOf(key, values[1]...))
	}
	c, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{"bandwidth"}, Holm: holm})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Of the changes that are called real among many cases hardly any is not.
func TestFalseDiscoveries(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	const reports = comparisons
	falsely, found := 0.0, 0
	for seed := range uint64(reports) {
		wrong, all := 0, 0
		for i, e := range many(t, seed, 0.02, 1.05, 1, false).Effects {
			if e.Change.Found {
				all++
				if i%4 != 0 {
					wrong++
				}
			}
		}
		found += all
		falsely += float64(wrong) / float64(max(all, 1)) / reports
	}
	t.Logf("%d found, %.2f%% of them falsely", found, falsely*100)
	if falsely > 0.04 || found < reports*3 {
		t.Errorf("%.2f%% of %d discoveries are false", falsely*100, found)
	}
}

// Holm keeps the chance of a false regression anywhere in a report that of one, where
// every case lies on the margin itself. (Each on its own, some case is called one in
// every fifth report.)
func TestHolmOverAComparison(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for holm, limits := range map[bool][2]float64{true: {0, 0.04}, false: {0.1, 0.25}} {
		alarms, reports := 0, comparisons
		if !holm { // no promise: a glance is enough
			reports /= 10
		}
		for seed := range uint64(reports) {
			if many(t, seed, 0.02, 1.05, 0.97, holm).CountByVerdict()[results.Regression] > 0 {
				alarms++
			}
		}
		share := float64(alarms) / float64(reports)
		t.Logf("Holm %v: %.1f%%", holm, share*100)
		if share < limits[0] || share > limits[1] {
			t.Errorf("Holm %v: %.1f%% of reports have a false regression", holm, share*100)
		}
	}
}

// A report about many cases that are alike hardly ever has a regression: one of them
// must stand out among all.
func TestNoRegressionAmongLikes(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	const reports = comparisons
	alarms, beyond := 0, 0
	for seed := range uint64(reports) {
		c := many(t, seed, 0.06, 1, 1, false)
		alarms += min(1, c.CountByVerdict()[results.Regression])
		for _, e := range c.Effects {
			if e.Change.CI[1] < 0.97 {
				beyond++
			}
		}
	}
	t.Logf("%d of %d reports have a regression; %d intervals lie beyond the margin", alarms, reports, beyond)
	if alarms > reports*4/100 || beyond == 0 {
		t.Errorf("%d of %d reports have a regression; %d intervals lie beyond the margin", alarms, reports, beyond)
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	// the example of Benjamini and Hochberg (1995), section 3.2
	ps := []float64{
		0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
		1.0000,
	}
	var all []*contrast
	for _, p := range ps {
		all = append(all, &contrast{effect: &results.Effect{Change: &results.Change{P: &p}}})
	}
	all = append(all, &contrast{effect: &results.Effect{Change: &results.Change{}}}) // of a single launch
	discover(all)
	for i, x := range all {
		c := x.effect.Change
		if found := i < 4; c.Found != found {
			t.Errorf("p=%v: found %v", ps[i], c.Found)
		}
	}
	if q := *all[3].effect.Change.Q; q != 0.035625 { // 15/4 × 0.0095
		t.Errorf("q=%v", q)
	}
	if q := *all[8].effect.Change.Q; q != 0.0765 { // 15/9 × 0.0459
		t.Errorf("q=%v", q)
	}
}
