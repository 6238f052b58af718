package gate

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
)

// alternating is a document of one session with runs a and b of a case each, which took
// turns in the order A B B A.
func alternating(a, b []float64) *results.Document {
	var cases []*results.Case
	for i, values := range [][]float64{a, b} {
		run := string(rune('a' + i))
		c := caseOf(run+"[block_size=1MiB]", values...)
		c.Run = run
		for j, l := range c.Launches {
			at := 2*j + (i+j)%2
			l.Started = time.Date(2026, 11, 21, 10, at, 0, 0, time.UTC)
		}
		c.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, nil)}
		cases = append(cases, c)
	}
	doc := docOf(cases...)
	doc.Session.ID = "s"
	return doc
}

// separate are two documents of two sessions on like machines.
func separate(base, now []float64) (*results.Document, *results.Document) {
	one := func(id string, values []float64) *results.Document {
		c := caseOf("a", values...)
		c.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, nil)}
		doc := docOf(c)
		doc.Session.ID, doc.Environment.Fingerprint = id, "sha256:1"
		return doc
	}
	return one("s1", base), one("s2", now)
}

var options = CompareOptions{Margin: 0.03}

func only(t *testing.T, c *results.Comparison, err error) *results.Effect {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Effects) != 1 {
		t.Fatalf("%d effects", len(c.Effects))
	}
	return c.Effects[0]
}

func TestVerdictsOfAComparison(t *testing.T) {
	for name, c := range map[string]struct {
		base, now []float64
		verdict   results.EffectVerdict
		found     bool
		code      int
		message   string
	}{
		"far worse": {[]float64{10, 10.1, 9.9, 10}, []float64{9, 9.1, 8.9, 9}, results.Regression, true,
			ExitFailed,
			"-10.0% (96% CI -11% to -8.5%, 4 and 4 launches); unpaired: both documents are of the same session; worse by more than the margin of 3%"},
		"slightly worse": {[]float64{10, 10.01, 9.99, 10}, []float64{9.85, 9.86, 9.84, 9.85}, results.NoRegression,
			true, ExitPassed, "not worse by more"},
		"alike": {[]float64{10, 10.01, 9.99, 10}, []float64{10.01, 10, 9.99, 10}, results.NoRegression,
			false, ExitPassed, "not significant"},
		"better": {[]float64{10, 10.01, 9.99, 10}, []float64{10.2, 10.21, 10.19, 10.2}, results.Improved,
			true, ExitPassed, "+2.00%"},
		"too noisy": {[]float64{10, 12, 8, 11}, []float64{10, 9, 11, 10}, results.Unclear, false,
			ExitInconclusive, "crosses the margin"},
		"one launch": {[]float64{10, 10.1}, []float64{5}, results.Unclear, false, ExitInconclusive,
			"one launch shows no noise"},
		"without noise":    {[]float64{10, 10}, []float64{9.69, 9.69}, results.Regression, true, ExitFailed, "-3.1"},
		"the same numbers": {[]float64{10, 10}, []float64{10, 10}, results.NoRegression, false, ExitPassed, ""},
		"on the margin":    {[]float64{10, 10}, []float64{9.7, 9.7}, results.NoRegression, true, ExitPassed, "-3.0"},
		"an outlier hides": {[]float64{10, 10.01, 9.99, 10, 10, 10.01}, []float64{9.5, 9.51, 9.49, 9.5, 9.5, 13},
			results.Unclear, false, ExitInconclusive, "outlier: a launch 6"},
	} {
		cmp, err := compared(c.base, c.now)
		e := only(t, cmp, err)
		if e.Verdict != c.verdict || e.Change.Found != c.found || cmp.ExitCode != c.code ||
			!strings.Contains(e.Message, c.message) {
			t.Errorf("%s: %s, found %v, exit %d: %s", name, e.Verdict, e.Change.Found, cmp.ExitCode, e.Message)
		}
	}
}

// compared are two documents of one session, which differ by their launches alone.
func compared(base, now []float64) (*results.Comparison, error) {
	a, b := separate(base, now)
	b.Session.ID = a.Session.ID
	return Compare(a, b, options)
}

// Two or three launches beside more of the other side are judged at the margin as any number is.
func TestFewLaunchesComparedAtTheMargin(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 1000, 10000)
	for _, c := range [][2]int{{2, 12}, {12, 2}, {3, 12}, {8, 8}} {
		wrong := 0
		for seed := range uint64(n) {
			r := rand.New(rand.NewPCG(seed, 61))
			cmp, err := compared(lognormals(r, c[0], 10, 0.03), lognormals(r, c[1], 9.7, 0.03))
			if e := only(t, cmp, err); e.Verdict != results.Unclear {
				wrong++
			}
		}
		if share := 100 * float64(wrong) / float64(n); share > 5 {
			t.Errorf("%d and %d launches decide at the margin in %.1f %% of comparisons", c[0], c[1], share)
		}
	}
}

// What a margin allows of a difference is an amount, also of a base below 0.
func TestMarginOfANegativeBase(t *testing.T) {
	base, now := separate([]float64{10, 10, 10}, []float64{10, 10, 10})
	for i := range 3 {
		base.Cases[0].Launches[i].Metrics.Set("skew", -1)
		now.Cases[0].Launches[i].Metrics.Set("skew", 1)
	}
	cmp, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{"skew"}})
	e := only(t, cmp, err)
	if e.Verdict != results.Regression || !strings.Contains(e.Message, "the margin of 3% of the base, 30.0 ms") {
		t.Errorf("%s: %s", e.Verdict, e.Message)
	}
}

// A time that grows is a regression, a metric that may be zero is compared as a
// difference, and one without a better direction is only reported.
func TestDirectionsOfAComparison(t *testing.T) {
	set := func(doc *results.Document, metric string, values ...float64) {
		for i, v := range values {
			doc.Cases[0].Launches[i].Metrics.Set(metric, v)
		}
	}
	for _, c := range []struct {
		metric    string
		base, now []float64
		verdict   results.EffectVerdict
		additive  bool
		change    string
	}{
		{"latency.p99", []float64{10e-6, 10.1e-6, 9.9e-6}, []float64{12e-6, 12.1e-6, 11.9e-6}, results.Regression,
			false, "+20"},
		{"latency.p99", []float64{12e-6, 12.1e-6, 11.9e-6}, []float64{10e-6, 10.1e-6, 9.9e-6}, results.Improved, false,
			"-16.7%"},
		{"skew", []float64{0, 0, 0}, []float64{0, 2e-6, 1.5e-6}, results.Unclear, true, "+1.2 µs"},
		{"skew", []float64{0, 0, 0}, []float64{1e-6, 1.1e-6, 1e-6}, results.Regression, true, "+1.03 µs"},
		{"skew", []float64{1e-6, 1.1e-6, 1e-6}, []float64{0, 0, 0}, results.Improved, true, "-1.03 µs"},
		{"requests", []float64{100, 101, 102}, []float64{200, 201, 202}, results.Reported, false, "+99"},
	} {
		base, now := separate([]float64{10, 10, 10}, []float64{10, 10, 10})
		now.Session.ID = base.Session.ID
		set(base, c.metric, c.base...)
		set(now, c.metric, c.now...)
		cmp, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{c.metric}})
		e := only(t, cmp, err)
		change, _, _ := e.ChangeText()
		if e.Verdict != c.verdict || e.Additive != c.additive || !strings.HasPrefix(change, c.change) {
			t.Errorf("%s %v -> %v: %s %s additive %v: %s", c.metric, c.base, c.now, e.Verdict, change, e.Additive,
				e.Message)
		}
	}
}

// Launches that took turns are compared pair by pair, and only those.
func TestPairing(t *testing.T) {
	drifting := []float64{10, 11, 12, 13, 14, 15}
	below := make([]float64, len(drifting))
	for i, v := range drifting {
		below[i] = v * 0.95 * (1 + 0.002*float64(i%2))
	}
	doc := alternating(drifting, below)
	c, err := CompareRuns(doc, "a", "b", options)
	e := only(t, c, err)
	if e.Pairs != 6 || e.Verdict != results.Regression || !has(e.Reasons, "paired-launches") ||
		c.CrossSession {
		t.Errorf("%+v", e)
	}
	if e.BaseCase != "a[block_size=1MiB]" || e.Case != "b[block_size=1MiB]" {
		t.Errorf("%s -> %s", e.BaseCase, e.Case)
	}
	for _, l := range doc.Cases[1].Launches {
		l.Started = l.Started.Add(time.Hour)
	}
	c, err = CompareRuns(doc, "a", "b", options)
	if e = only(t, c, err); e.Pairs != 0 || e.Verdict != results.Unclear ||
		!has(e.Reasons, "launches-without-turns") {
		t.Errorf("%+v", e)
	}
	doc.Cases[0].Launches[3].Started = time.Time{}
	c, err = CompareRuns(doc, "a", "b", options)
	if e = only(t, c, err); e.Method != "unpaired: the document does not say when launches began" {
		t.Errorf("%+v", e)
	}
	for side, want := range []string{"base always first", "new always first"} {
		doc = alternating(drifting, below)
		for i := range drifting {
			at := time.Date(2026, 11, 21, 10, i, 0, 0, time.UTC)
			doc.Cases[side].Launches[i].Started = at
			doc.Cases[1-side].Launches[i].Started = at.Add(time.Second)
		}
		c, err = CompareRuns(doc, "a", "b", options)
		if e = only(t, c, err); !strings.Contains(e.Method, want) {
			t.Errorf("%s: %s", want, e.Method)
		}
	}
}

func TestComparingAlongAnAxis(t *testing.T) {
	doc := alternating([]float64{10, 10.1, 9.9}, []float64{9, 9.1, 8.9})
	for i, c := range doc.Cases {
		c.Run, c.Axes = "r", map[string]any{"block_size": "1MiB", "ranks": float64(2 + 2*i)}
	}
	c, err := CompareAxis(doc, "ranks", "2", []string{"4"}, options)
	if e := only(t, c, err); e.Verdict != results.Regression || e.Pairs != 3 || c.Base.Part != "ranks=2" {
		t.Errorf("%+v", e)
	}
	for _, wrong := range [][2]string{{"ranks", "3"}, {"nodes", "2"}, {"nodes", ""}} {
		if _, err := CompareAxis(doc, wrong[0], "2", []string{wrong[1]}, options); err == nil ||
			errors.Is(err, ErrNothingCompared) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := CompareRuns(doc, "r", "none", options); err == nil || !strings.Contains(err.Error(), "it has r") {
		t.Error(err)
	}
}

// Where the samples come from is said of every number.
func TestSessionsAndEnvironments(t *testing.T) {
	for _, c := range []struct {
		session, fingerprint, want string
	}{
		{"s2", "sha256:1", "unpaired: cross-session; the interval assumes that sessions do not differ"},
		{"s2", "sha256:2", "unpaired: cross-session and cross-environment; the interval assumes that sessions do not differ"},
		{"s2", "", "unpaired: cross-session, and nothing shows that the environments are the same; " +
			"the interval assumes that sessions do not differ"},
		{"s1", "sha256:1", "unpaired: both documents are of the same session"},
	} {
		base, now := separate([]float64{10, 10.1, 9.9}, []float64{10, 10.1, 9.9})
		now.Session.ID, now.Environment.Fingerprint = c.session, c.fingerprint
		cmp, err := Compare(base, now, options)
		if e := only(t, cmp, err); e.Method != c.want || e.Pairs != 0 {
			t.Errorf("%v: %s", c, e.Method)
		}
	}
}

// What one side lacks is listed; what it was to measure and did not, or cannot be
// used, is an error and never passes.
func TestCasesThatCannotBeCompared(t *testing.T) {
	values := []float64{10, 10.1, 9.9}
	for name, c := range map[string]struct {
		damage  func(*results.Case)
		message string
		code    int
	}{
		"a failed launch": {func(c *results.Case) { c.Launches[1].Status = results.Error }, "launch-failed launch=2",
			ExitExecution},
		"an error": {func(c *results.Case) { c.Status, c.Reason = results.Error, "rank 1 died" },
			"case-error", ExitExecution},
		"not run": {func(c *results.Case) { c.Status, c.Reason = results.Skipped, results.NotRun },
			"case-not-run status=skipped", ExitExecution},
		"no launch": {func(c *results.Case) { c.Launches = nil }, "no-launch", ExitExecution},
		"a missing launch": {func(c *results.Case) { c.Made = 4 },
			"launches-removed made=4 stored=3", ExitExecution},
		"a missing metric": {func(c *results.Case) { c.Launches[2].Metrics.Delete("bandwidth") },
			"metric-missing launch=3 metric=bandwidth", ExitExecution},
		"unverified": {func(c *results.Case) { c.Launches[0].Verified = false }, "unverified", ExitExecution},
		"infinite": {func(c *results.Case) { c.Launches[0].Metrics.Set("bandwidth", math.Inf(1)) },
			"metric-not-finite metric=bandwidth value=+Inf", ExitExecution},
		"zero": {func(c *results.Case) { c.Launches[0].Metrics.Set("bandwidth", 0) }, "not-above-zero",
			ExitExecution},
	} {
		base, now := separate(values, values)
		c.damage(now.Cases[0])
		cmp, err := Compare(base, now, options)
		if e := only(t, cmp, err); e.Verdict != results.EffectError || cmp.ExitCode != c.code ||
			!has(e.Reasons, c.message) {
			t.Errorf("%s: %s, exit %d: %s", name, e.Verdict, cmp.ExitCode, e.Message)
		}
	}
	base, now := separate(values, values)
	now.Cases = append(now.Cases, caseOf("b", values...))
	base.Cases = append(base.Cases, caseOf("c", values...), caseOf("d", values...))
	now.Cases = append(now.Cases, &results.Case{Key: "d", Status: results.Skipped, Reason: "when: no such fabric"})
	cmp, err := Compare(base, now, options)
	only(t, cmp, err)
	if want := []results.LeftOver{{Case: "b", Reason: "not in the other document"}}; !slices.Equal(cmp.OnlyNew, want) {
		t.Errorf("%v", cmp.OnlyNew)
	}
	if want := []results.LeftOver{{Case: "d", Reason: "skipped: when: no such fabric"},
		{Case: "c", Reason: "not in the other document"}}; !slices.Equal(cmp.OnlyBase, want) {
		t.Errorf("%v", cmp.OnlyBase)
	}
}

func TestWhatIsCompared(t *testing.T) {
	values := []float64{10, 10.1, 9.9}
	base, now := separate(values, values)
	base.Cases[0].Assertions = nil
	for _, l := range append(base.Cases[0].Launches, now.Cases[0].Launches...) {
		l.Metrics.Set("latency.p50", 1e-6)
		l.Metrics.Set("requests", 5)
	}
	now.Cases[0].Launches[0].Metrics.Set("message_rate", 3) // no side of base has it
	names := func(o CompareOptions) (out []string) {
		c, err := Compare(base, now, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Effects {
			out = append(out, e.Metric)
		}
		return out
	}
	if got := names(CompareOptions{}); !slices.Equal(got, []string{"bandwidth"}) {
		t.Errorf("asserted: %v", got)
	}
	if got := names(CompareOptions{All: true}); !slices.Equal(got, []string{"bandwidth", "latency.p50"}) {
		t.Errorf("all: %v", got)
	}
	if got := names(CompareOptions{All: true, Metrics: []string{"requests"}}); !slices.Equal(got,
		[]string{"bandwidth", "latency.p50", "requests"}) {
		t.Errorf("all and one: %v", got)
	}
	now.Assertions = []*results.AssertionVerdict{quantified("all", p(1), nil, "a")}
	now.Assertions[0].Parts[0].Subject = of("a", "latency.p50", "s")
	now.Cases[0].Assertions[0].Subject = &assertion.Expr{
		Op: assertion.Div, Args: []*assertion.Expr{metric("requests", ""), of("x", "bandwidth", "GB/s")},
	}
	if got := names(CompareOptions{}); !slices.Equal(got, []string{"latency.p50"}) {
		t.Errorf("of a part: %v", got)
	}
	now.Assertions, now.Cases[0].Assertions = nil, nil
	if _, err := Compare(base, now, CompareOptions{}); !errors.Is(err, ErrNothingCompared) {
		t.Errorf("nothing asserted: %v", err)
	}
	if _, err := Compare(base, docOf(), CompareOptions{}); !errors.Is(err, ErrNothingCompared) {
		t.Errorf("no case in common: %v", err)
	}
	if _, err := Compare(base, now, CompareOptions{Metrics: []string{"no_such"}}); err == nil ||
		errors.Is(err, ErrNothingCompared) {
		t.Errorf("an unknown metric: %v", err)
	}
}

// The same launches in another order give the same bits.
func TestComparisonDoesNotDependOnTheOrderOfLaunches(t *testing.T) {
	a, b := separate([]float64{10, 10.3, 9.8, 10.1}, []float64{9.7, 9.9, 9.6, 10})
	first, err := Compare(a, b, options)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(a.Cases[0].Launches)
	slices.Reverse(b.Cases[0].Launches)
	second, err := Compare(a, b, options)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := first.Encode()
	y, _ := second.Encode()
	if string(x) != string(y) {
		t.Errorf("%s\n%s", x, y)
	}
}

// What counts for the gates of its session only is no change of another one, and no noise.
func TestDisturbedLaunchesAreNotCompared(t *testing.T) {
	borne := &results.Disturbance{Cause: results.Waited, Share: 0.5, Text: "it waited", Tolerated: true}
	session := func(id string, slow bool) *results.Document {
		doc := docOf(caseOf("c", 10, 10.1, 9.9))
		doc.Session.ID = id
		doc.Cases[0].Assertions = []*results.AssertionVerdict{band(p(1), nil, looks)}
		if slow {
			for _, v := range []float64{5, 5.1, 4.9} {
				l := caseOf("c", v).Launches[0]
				l.Index, l.Disturbance = len(doc.Cases[0].Launches), borne
				doc.Cases[0].Launches = append(doc.Cases[0].Launches, l)
			}
		}
		return doc
	}
	c, err := Compare(session("one", false), session("two", true), CompareOptions{})
	if err != nil || len(c.Effects) != 1 || c.Effects[0].New.N != 3 || c.Effects[0].Change.Value < 0.99 {
		t.Errorf("%v, %+v", err, c)
	}
	one, two := session("one", false), session("two", false)
	for _, l := range slices.Concat(one.Cases[0].Launches, two.Cases[0].Launches) {
		l.Fabric = "shm"
	}
	for _, l := range two.Cases[0].Launches {
		l.Disturbance = borne
	}
	c, err = Compare(one, two, CompareOptions{})
	if err != nil || len(c.Differences) != 0 {
		t.Errorf("%v, disturbed launches differ in %+v", err, c.Differences)
	}
	noise, err := NoiseOf([]*results.Document{session("one", true), session("two", true)})
	if err != nil || len(noise) != 1 || noise[0].Metrics[0].Launch > 0.02 {
		t.Errorf("%v, %+v", err, noise)
	}
}

// What counts as better may have been declared anew; a comparison by the new direction says so.
func TestAChangedDirectionIsADifference(t *testing.T) {
	base, now := separate([]float64{10, 10, 10}, []float64{20, 20, 20})
	for doc, better := range map[*results.Document]workload.Direction{base: workload.Lower, now: workload.Higher} {
		doc.Metrics = []results.MetricTable{{Workload: "transfer", Run: "run", Definitions: []workload.Metric{
			{Name: "bandwidth", Unit: "GB/s", Better: better},
		}}}
	}
	cmp, err := Compare(base, now, options)
	only(t, cmp, err)
	want := results.Difference{What: "better values of bandwidth", Base: "lower", New: "higher", Of: []string{"a"}}
	if !slices.ContainsFunc(cmp.Differences, func(d results.Difference) bool { return reflect.DeepEqual(d, want) }) {
		t.Errorf("differences %+v", cmp.Differences)
	}
}
