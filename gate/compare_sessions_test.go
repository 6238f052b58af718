package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
)

// twoSessions are how two sessions of some cases differ: by a shift of all of them, by sessions that vary by tau, which
// itself varies between cases by a factor of e^spread, and by a change of the cases that moved.
type twoSessions struct {
	name               string
	cases              int
	tau, spread, shift float64
	moved              int
	by                 float64
	// halves makes every second case one of 4 %, and the others of 0.5 %.
	halves bool
}

// documents are those of two such sessions, with 5 to 8 launches a side that vary by 1 to 3 %.
func (p twoSessions) documents(r *rand.Rand) (base, now *results.Document) {
	base, now = separate(nil, nil)
	base.Cases, now.Cases = nil, nil
	for i := range p.cases {
		tau, noise := p.tau*math.Exp(p.spread*r.NormFloat64()), 0.01+0.02*r.Float64()
		if p.halves {
			tau = []float64{0.005, 0.04}[i%2]
		}
		side := func(level float64) (out []float64) {
			level += tau * r.NormFloat64()
			for range 5 + r.IntN(4) {
				out = append(out, 10*math.Exp(level+noise*r.NormFloat64()))
			}
			return out
		}
		change := p.shift
		if i < p.moved {
			change += math.Log1p(p.by)
		}
		key := fmt.Sprintf("c%d", i)
		base.Cases = append(base.Cases, caseOf(key, side(0)...))
		now.Cases = append(now.Cases, caseOf(key, side(change)...))
	}
	return base, now
}

// compared is how many of some comparisons have a regression of a case that did not move, and of one that did.
func (p twoSessions) compared(t *testing.T, comparisons int) (wrong, right float64) {
	t.Helper()
	for seed := range uint64(comparisons) {
		base, now := p.documents(rand.New(rand.NewPCG(seed, 7)))
		c, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{"bandwidth"}})
		if err != nil {
			t.Fatal(err)
		}
		var found [2]bool
		for i, e := range c.Effects {
			if e.Verdict == results.Regression {
				found[map[bool]int{true: 1}[i < p.moved]] = true
			}
			if e.Verdict == results.Regression && !e.Change.Found {
				t.Fatalf("%s, found %v, assumes %v: %s", e.Verdict, e.Change.Found, e.Change.Assumes, e.Message)
			}
		}
		if (found[0] || found[1]) != (c.ExitCode == ExitFailed) {
			t.Fatalf("exit %d with regressions %v", c.ExitCode, found)
		}
		for i, into := range []*float64{&wrong, &right} {
			if found[i] {
				*into += 100 / float64(comparisons)
			}
		}
	}
	return wrong, right
}

// unchanged are pairs of sessions between which nothing changed.
var unchanged = []twoSessions{
	{name: "sessions vary by 2 %", cases: 100, tau: 0.02},
	{name: "by 2 %, spread .3", cases: 100, tau: 0.02, spread: 0.3},
	{name: "by 2 %, spread .6", cases: 100, tau: 0.02, spread: 0.6},
	{name: "by 0.5 % or 4 %", cases: 100, halves: true},
	{name: "all shifted by -1 %", cases: 100, shift: -0.01},
	{name: "all shifted by -2 %", cases: 100, shift: -0.02},
	{name: "all shifted by -3 %", cases: 100, shift: -0.03},
	{name: "shift -1 %, by 1 %, spread .6", cases: 100, shift: -0.01, tau: 0.01, spread: 0.6},
	{name: "shift -2 %, by 1 %", cases: 100, shift: -0.02, tau: 0.01},
	{name: "shift -3 %, by 1 %", cases: 100, shift: -0.03, tau: 0.01},
	{name: "shift -3 %, by 2 %", cases: 100, shift: -0.03, tau: 0.02},
	{name: "sessions vary by 2 %", cases: 15, tau: 0.02},
	{name: "by 2 %, spread .3", cases: 15, tau: 0.02, spread: 0.3},
	{name: "by 2 %, spread .6", cases: 15, tau: 0.02, spread: 0.6},
	{name: "all shifted by -3 %", cases: 15, shift: -0.03},
	{name: "shift -3 %, by 2 %", cases: 15, shift: -0.03, tau: 0.02},
	{name: "by 2 %, spread .6", cases: 8, tau: 0.02, spread: 0.6},
	{name: "sessions vary by 2 %", cases: 7, tau: 0.02},
}

// changed are pairs between which some cases changed.
var changed = []struct {
	twoSessions
	least float64 // percent of comparisons that find it
}{
	{twoSessions{name: "20 cases -10 %, sessions vary by 2 %", cases: 100, tau: 0.02, moved: 20, by: -0.1}, 90},
	{twoSessions{name: "20 cases -10 %, shift -3 %", cases: 100, tau: 0.02, shift: -0.03, moved: 20, by: -0.1}, 0},
	{twoSessions{name: "20 cases -10 %, 2 %, spread .3", cases: 100, tau: 0.02, spread: 0.3, moved: 20, by: -0.1}, 0},
	{twoSessions{name: "one case -30 %, sessions vary by 2 %", cases: 100, tau: 0.02, moved: 1, by: -0.3}, 90},
	{twoSessions{name: "one case -30 %, by 2 %, spread .6", cases: 100, tau: 0.02, spread: 0.6, moved: 1, by: -0.3}, 0},
	{twoSessions{name: "3 cases -10 %, sessions vary by 2 %", cases: 15, tau: 0.02, moved: 3, by: -0.1}, 0},
	{twoSessions{name: "3 cases -10 %, sessions vary by 1 %", cases: 15, tau: 0.01, moved: 3, by: -0.1}, 0},
	{twoSessions{name: "one case -30 %, sessions vary by 2 %", cases: 15, tau: 0.02, moved: 1, by: -0.3}, 0},
}

// steady are two sessions of cases with launches that hardly vary and these changes.
func steady(t *testing.T, o CompareOptions, changes ...float64) *results.Comparison {
	t.Helper()
	base, now := separate(nil, nil)
	base.Cases, now.Cases = nil, nil
	for i, change := range changes {
		key, level := fmt.Sprintf("c%d", i), 10*(1+change)
		base.Cases = append(base.Cases, caseOf(key, 10, 10.01, 9.99, 10))
		now.Cases = append(now.Cases, caseOf(key, level, level*1.001, level*0.999, level))
	}
	o.Margin, o.Metrics = 0.03, []string{"bandwidth"}
	c, err := Compare(base, now, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Effects {
		if strings.Contains(e.Message, "not significant") == e.Change.Found {
			t.Errorf("found %v: %s", e.Change.Found, e.Message)
		}
	}
	return c
}

// What all cases have in common is reported, and no regression unless it is known how sessions differ; a case that
// differs from the others is one.
func TestShiftOfAllCases(t *testing.T) {
	around := func(center float64, more ...float64) []float64 {
		out := []float64{}
		for _, d := range []float64{-2, -1, -1, 0, 0, 1, 1, 2, -1, 1} {
			out = append(out, center+d*0.001)
		}
		return append(out, more...)
	}
	for name, c := range map[string]struct {
		changes     []float64
		code        int
		regressions int
		cases       int // that are told to have moved together; 0: none is
		last        string
	}{
		"none":              {around(0), ExitPassed, 0, 0, "within-margin"},
		"within the margin": {around(-0.015), ExitPassed, 0, 10, "within-margin"},
		"beyond the margin": {around(-0.061), ExitInconclusive, 0, 10,
			"beyond-margin-as-others cases=10"},
		"one case worse":                     {around(0, -0.1), ExitFailed, 1, 0, "worse-than-margin"},
		"one case worse than a shift":        {around(-0.015, -0.1), ExitFailed, 1, 10, "against-shift"},
		"one case worse than a far one":      {around(-0.061, -0.2), ExitFailed, 1, 10, "against-shift"},
		"all better":                         {around(0.06), ExitPassed, 0, 10, "within-margin"},
		"all better but one":                 {around(0.06, 0), ExitInconclusive, 0, 10, "worse-than-others cases=10"},
		"one case better":                    {around(0, 0.2), ExitPassed, 0, 0, "change"},
		"one case unlike a shift and as was": {around(-0.061, 0), ExitInconclusive, 0, 10, "within-margin"},
	} {
		cmp := steady(t, CompareOptions{}, c.changes...)
		cases := 0
		for _, s := range cmp.Shifts {
			cases += s.Cases
		}
		last := cmp.Effects[len(cmp.Effects)-1]
		if cmp.ExitCode != c.code || cmp.CountByVerdict()[results.Regression] != c.regressions || cases != c.cases ||
			!has(last.Reasons, c.last) {
			t.Errorf("%s: exit %d, %v, shifts %+v; the last: %s", name, cmp.ExitCode, cmp.CountByVerdict(), cmp.Shifts,
				last.Message)
		}
	}
	var noise []results.CaseNoise
	for i := range 10 {
		noise = append(noise, historyOf(fmt.Sprintf("c%d", i), 0.005)...)
	}
	c := steady(t, CompareOptions{Noise: noise}, around(-0.061)...)
	if c.ExitCode != ExitFailed || c.CountByVerdict()[results.Regression] != 10 || len(c.Shifts) > 0 ||
		c.Effects[0].Change.Shift != 0 {
		t.Errorf("sessions are known: exit %d, %v, %+v", c.ExitCode, c.CountByVerdict(), c.Shifts)
	}
}

// Of few cases of which nothing is known no change is found that sessions may explain that vary by 5 %.
func TestFewCasesOfUnknownSessions(t *testing.T) {
	c := steady(t, CompareOptions{}, -0.1, -0.1, -0.1, 0.1)
	if c.ExitCode != ExitInconclusive || c.CountByVerdict()[results.Unclear] != 3 || len(c.Shifts) > 0 {
		t.Errorf("exit %d, %v, %+v", c.ExitCode, c.CountByVerdict(), c.Shifts)
	}
	for _, e := range c.Effects {
		if e.Change.Found || !e.Change.Assumes || !e.Change.BeyondLaunches() {
			t.Errorf("%+v", e.Change)
		}
		if e.Verdict == results.Unclear && !has(e.Reasons, "beyond-margin-sessions-unknown") {
			t.Errorf("%s", e.Message)
		}
	}
	if g := c.Geomeans[0]; g.Verdict == results.Regression || g.Verdict == results.Improved {
		t.Errorf("the mean over cases is %s", g.Verdict)
	}
}

// A common change far beyond what sessions are assumed to vary by is a regression of many cases, as it is of a few; one
// within it is not.
func TestManyCasesThatFallTogether(t *testing.T) {
	for _, cases := range []int{3, 7, 8, 20} {
		for change, want := range map[float64]results.EffectVerdict{-0.2: results.Regression, -0.5: results.Regression,
			-0.1: results.Unclear} {
			c := steady(t, CompareOptions{}, slices.Repeat([]float64{change}, cases)...)
			if c.CountByVerdict()[want] != cases || c.Geomeans[0].Verdict != want {
				t.Errorf("%d cases %+.0f%%: %v, geomean %s", cases, 100*change, c.CountByVerdict(),
					c.Geomeans[0].Verdict)
			}
		}
	}
}

// Of sessions of which nothing is known, a comparison and an assertion on a baseline find the same regressions.
func TestComparisonAgreesWithBaseline(t *testing.T) {
	failed := 0
	for n := 2; n <= 12; n++ {
		for percent := -40; percent <= 2; percent++ {
			values := func(level float64) (out []float64) {
				for i := range n {
					out = append(out, level*(1+0.002*float64(i%3)))
				}
				return out
			}
			before, now := values(10), values(10*(1+float64(percent)/100))
			doc, a := regression(now, before)
			// looks share an error, and decide only at their numbers of launches
			if !slices.Contains(looks, n) || percent < -16 && percent > -19 {
				a.Looks = nil
			}
			Judge(doc)
			base, next := separate(before, now)
			cmp, err := Compare(base, next, options)
			e := only(t, cmp, err)
			if (a.Verdict == results.Fail) != (e.Verdict == results.Regression) {
				t.Errorf("%d launches, %d %%: the assertion is %s (%s), the comparison %s (%s)", n, percent, a.Verdict,
					a.Message, e.Verdict, e.Message)
			}
			if e.Verdict == results.Regression {
				failed++
				if !e.Change.Found || !has(e.Reasons, "worse-than-margin margin=0.03 assumed=0.05") {
					t.Errorf("found %v: %s", e.Change.Found, e.Message)
				}
			}
		}
	}
	if failed == 0 {
		t.Error("nothing is a regression")
	}
}

// Cases that sessions move by far are not held against one scale with those that they do not, and identical
// changes have no scale at all.
func TestScalesOfChanges(t *testing.T) {
	c := steady(t, CompareOptions{}, make([]float64, 12)...)
	if c.ExitCode != ExitPassed || len(c.Shifts) > 0 {
		t.Errorf("no change at all: exit %d, %+v", c.ExitCode, c.Shifts)
	}
	c = steady(t, CompareOptions{}, append(make([]float64, 11), -0.1)...)
	if c.ExitCode != ExitFailed {
		t.Errorf("one change among none: exit %d, %s", c.ExitCode, c.Effects[11].Message)
	}
	var wide []float64
	for i := range 20 {
		wide = append(wide, []float64{0.002, -0.002, 0.12, -0.12}[i%4]*(1+float64(i)/20))
	}
	c = steady(t, CompareOptions{}, 0.001, -0.001, 0.002, -0.002, 0, 0.001, -0.001, 0.001, -0.2)
	if c.ExitCode != ExitFailed || c.CountByVerdict()[results.NoRegression] != 8 {
		t.Errorf("a regression makes others unclear: exit %d, %v", c.ExitCode, c.CountByVerdict())
	}
	if c = steady(t, CompareOptions{}, wide...); c.CountByVerdict()[results.Regression] > 0 {
		t.Errorf("half of the cases far noisier: %v", c.CountByVerdict())
	}
}

// The approximation of Student's distribution is as good as it is said to be.
func TestQuickTail(t *testing.T) {
	for _, df := range []float64{5, 6.5, 12, 300} {
		for _, x := range []float64{0, 0.5, 2, 4, 8, 15} {
			if a, b := tail(df, x), quickTail(df, x); math.Abs(a-b) > 1e-3*a {
				t.Errorf("beyond %v with %v degrees of freedom: %v, in truth %v", x, df, b, a)
			}
		}
	}
}

const falselyFound = 5. // percent of comparisons of likes that have a regression, at most

// A comparison of two sessions of likes hardly ever has a regression, however sessions vary, and those that there are
// are found. At length the rows are those of the page; WEIR_LAB=all and -update write it anew.
func TestComparisonOfSessions(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	comparisons, chance := 12, 3. // in brief a row may miss its limit by three standard errors
	if phase.AtLength() {
		comparisons, chance = 400, 0
	}
	slack := func(percent float64) float64 { return chance * math.Sqrt(percent*(100-percent)/float64(comparisons)) }
	var b strings.Builder
	fmt.Fprintf(&b,
		"| cases | %d comparisons a row | false regression %% | true regression %% |\n|---:|---|---:|---:|\n",
		comparisons)
	for _, p := range unchanged {
		wrong, _ := p.compared(t, comparisons)
		fmt.Fprintf(&b, "| %d | %s | %.1f | |\n", p.cases, p.name, wrong)
		if wrong > falselyFound+slack(falselyFound) {
			t.Errorf("%d cases, %s: a regression in %.1f%% of comparisons", p.cases, p.name, wrong)
		}
	}
	for _, p := range changed {
		wrong, right := p.compared(t, comparisons)
		fmt.Fprintf(&b, "| %d | %s | %.1f | %.1f |\n", p.cases, p.name, wrong, right)
		if right < p.least-slack(p.least) {
			t.Errorf("%d cases, %s: found in %.1f%% of comparisons", p.cases, p.name, right)
		}
	}
	t.Logf("\n%s", b.String())
	if phase.AtLength() {
		golden.Between(t, "statistics.md", "Comparisons of each row have fixed seeds.\n\n", "\n## Operating",
			b.String())
	}
}

// Launches without noise have intervals without a width, also where their changes tell how sessions differ: a case at
// the margin keeps it, with 8 cases as with 7.
func TestManyConstantsHaveNoInterval(t *testing.T) {
	for _, n := range []int{1, 7, 8, 40} {
		for _, ratio := range []float64{1, 0.97} {
			side := func(id string, factor float64) *results.Document {
				doc := docOf()
				doc.Session.ID, doc.Environment.Fingerprint = id, "sha256:1"
				for i := range n {
					c := caseOf(fmt.Sprint("c", i), slices.Repeat([]float64{float64(i+1) * factor}, 4)...)
					c.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, nil)}
					doc.Cases = append(doc.Cases, c)
				}
				return doc
			}
			cmp, err := Compare(side("s1", 1), side("s2", ratio), options)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range cmp.Effects {
				if e.Verdict != results.NoRegression || *e.Change.CI != [2]float64{ratio, ratio} ||
					*e.Change.Detectable != 0 {
					t.Errorf("%d cases, %v of the base: %s in %v: %s", n, ratio, e.Verdict, *e.Change.CI, e.Message)
				}
			}
		}
	}
}
