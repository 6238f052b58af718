package gate

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// available is an assertion about the share of launches that succeed.
func available(lower, upper *float64, at []int) *results.AssertionVerdict {
	a := band(lower, upper, at)
	a.Subject, a.Unit = metric("availability", ""), ""
	return a
}

// failing is a case with this number of launches, of which these failed.
func failing(launches int, which ...int) *results.Case {
	c := caseOf("a", make([]float64, launches)...)
	for i, l := range c.Launches {
		l.Metrics.Set("bandwidth", 10+0.001*float64(i))
	}
	for _, i := range which {
		l := c.Launches[i]
		l.Status, l.Metrics = results.Error, results.MetricValues{}
		l.Failure = &results.Failure{Rank: 1, Phase: "run", Kind: results.Crashed, Cause: "killed by signal 9"}
	}
	return c
}

// The ends are those of which the tails of the binomial distribution have the
// probability that the confidence leaves; some are in every book.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		good, made int
		lo, hi     float64 // at 95 %
	}{{0, 10, 0, 0.3084971}, {5, 10, 0.187086, 0.812914}, {9, 10, 0.5549839, 0.9974714}, {10, 10, 0.6915029, 1}} {
		if e := clopperPearson(c.good, c.made, 0.95); math.Abs(e.lo-c.lo) > 1e-6 || math.Abs(e.hi-c.hi) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", c.good, c.made, e.lo, e.hi, c.lo, c.hi)
		}
	}
	for made := 1; made <= 40; made++ {
		for good := range made + 1 {
			e := clopperPearson(good, made, 0.96)
			if above := 1 - (distuv.Binomial{N: float64(made), P: e.lo}).CDF(float64(good-1)); good > 0 &&
				math.Abs(above-0.02) > 1e-9 {
				t.Errorf("%d of %d: P(as many or more) at the lower end is %v", good, made, above)
			}
			if below := (distuv.Binomial{N: float64(made), P: e.hi}).CDF(float64(good)); good < made &&
				math.Abs(below-0.02) > 1e-9 {
				t.Errorf("%d of %d: P(as many or fewer) at the upper end is %v", good, made, below)
			}
		}
	}
}

func TestAvailability(t *testing.T) {
	one := func(n int) []int { return []int{n} }
	for name, test := range map[string]struct {
		c       *results.Case
		a       *results.AssertionVerdict
		want    results.Verdict
		exit    int
		message string
	}{
		"none failed": {failing(40), available(p(0.9), nil, one(40)), results.Pass, ExitPassed,
			"inside subject=availability"},
		"few failed": {failing(40, 3), available(p(0.8), nil, one(40)), results.Pass, ExitPassed,
			"launches-failed failed=1 launches=40"},
		"too many failed": {failing(12, 0, 2, 3, 5, 7, 8, 9), available(p(0.9), nil, looks), results.Fail,
			ExitFailed, "launches-failed failed=5 launches=8"},
		"all failed": {failing(5, 0, 1, 2, 3, 4), available(p(0.9), nil, looks), results.Fail, ExitFailed,
			"launches-failed failed=3 launches=3"},
		"too few to tell": {failing(12), available(p(0.9), nil, looks), results.InconclusiveVerdict,
			ExitInconclusive, "launches-would-decide"},
		"too many": {failing(12), available(nil, p(0.5), looks), results.Fail, ExitFailed, ""},
		"one launch shows nothing": {failing(1), available(p(0.5), nil, one(1)), results.InconclusiveVerdict,
			ExitInconclusive, "crosses value=1 high=1 n=1"},
		"no launch": {failing(0), available(p(0.9), nil, looks), results.ErrorVerdict, ExitExecution,
			"no-launch"},
		"not at a look": {failing(4), available(p(0.5), nil, looks), results.InconclusiveVerdict,
			ExitInconclusive, "next-look next=5"},
	} {
		doc := judged(test.c, test.a)
		if test.a.Verdict != test.want || doc.Session.ExitCode != test.exit ||
			!has(test.a.Reasons, test.message) {
			t.Errorf("%s: %s, exit code %d: %s", name, test.a.Verdict, doc.Session.ExitCode, test.a.Message)
		}
		if test.c.Invalid != "" {
			t.Errorf("%s: invalid: %s", name, test.c.Invalid)
		}
	}
}

// What else is asserted of a case with failed launches keeps its rule: an error.
func TestFailedLaunchesSpoilOtherAssertions(t *testing.T) {
	c := failing(40, 3)
	share, speed := available(p(0.8), nil, []int{40}), band(p(9), nil, []int{40})
	c.Assertions = []*results.AssertionVerdict{share, speed}
	doc := docOf(c)
	Judge(doc)
	wantVerdict(t, share, results.Pass)
	wantVerdict(t, speed, results.ErrorVerdict)
	if doc.Session.ExitCode != ExitExecution || !has(speed.Reasons, "launch-failed launch=4") {
		t.Errorf("exit code %d: %s", doc.Session.ExitCode, speed.Message)
	}
	// and what survived is still looked at
	c = failing(40, 3)
	c.Launches[5].Verified = false
	c.Assertions = []*results.AssertionVerdict{available(p(0.8), nil, []int{40})}
	doc = docOf(c)
	if Judge(doc); doc.Session.ExitCode != ExitExecution || !strings.Contains(c.Invalid, "launch 6") {
		t.Errorf("exit code %d: %q", doc.Session.ExitCode, c.Invalid)
	}
}

// A launch that was made again has failed all the same; looks count those that count.
func TestRetriedLaunchesAreUnavailable(t *testing.T) {
	c := failing(6, 1, 3, 4)
	for _, l := range c.Launches {
		l.Retried = l.Status == results.Error
	}
	a := available(p(0.8), nil, looks)
	judged(c, a)
	wantVerdict(t, a, results.InconclusiveVerdict)
	for _, want := range []string{
		"crosses subject=availability n=6 looks=4",
		"launches-failed",
		"next-look launches=3 next=5",
	} {
		if !has(a.Reasons, want) {
			t.Errorf("%s, want %s", a.Message, want)
		}
	}
	if m := c.Metrics.At("availability"); m.Value != 0.5 || m.N != 6 {
		t.Errorf("%+v", m)
	}
}

// The metric is there where a launch failed or somebody asks, and nowhere else.
func TestAvailabilityEstimate(t *testing.T) {
	for name, test := range map[string]struct {
		c    *results.Case
		a    *results.AssertionVerdict
		want float64
	}{
		"nobody asks":             {failing(5), band(p(9), nil, looks), -1},
		"nobody asks, one failed": {failing(5, 2), band(p(9), nil, looks), 0.8},
		"asked":                   {failing(5), available(p(0.9), nil, looks), 1},
		"all failed":              {failing(5, 0, 1, 2, 3, 4), available(p(0.9), nil, looks), 0},
	} {
		judged(test.c, test.a)
		m, has := test.c.Metrics.Get(workload.Availability.Name)
		if has != (test.want >= 0) || has && (m.Value != test.want || m.Median != test.want || m.N != 5 ||
			m.CI == nil || m.Better != "higher") {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// Taking a launch that failed out of a document does not make its case more available,
// and cases of all() and of other runs are counted as well.
func TestAvailabilityOverCases(t *testing.T) {
	c := failing(40, 3)
	c.Made = 40
	c.Launches = append(c.Launches[:3], c.Launches[4:]...)
	a := available(p(0.8), nil, []int{40})
	judged(c, a)
	wantVerdict(t, a, results.ErrorVerdict)

	x, y := failing(40, 3), failing(40, 1, 2)
	y.Key = "y"
	all := quantified("all", p(0.7), []int{40}, "a", "y")
	for i := range all.Parts {
		all.Parts[i].Subject, all.Parts[i].Unit = of(all.Parts[i].Case, "availability", ""), ""
	}
	other := available(p(0.7), nil, []int{40})
	other.Subject = of("y", "availability", "")
	doc := docOf(x, y)
	doc.Assertions = []*results.AssertionVerdict{all, other}
	Judge(doc)
	wantVerdict(t, all, results.Pass)
	wantVerdict(t, other, results.Pass)
	if doc.Session.ExitCode != ExitPassed {
		t.Errorf("exit code %d: %q %q", doc.Session.ExitCode, x.Invalid, y.Invalid)
	}
	doc.Assertions = []*results.AssertionVerdict{
		{
			Assertion: assertion.Assertion{
				Name: "n", Severity: assertion.Gate, Subject: ratio(of("a", "availability", ""),
					of("y", "availability", "")), Bounds: assertion.Bounds{Lower: p(0.5)},
			},
		},
	}
	Judge(doc)
	wantVerdict(t, doc.Assertions[0], results.ErrorVerdict) // which the language refuses
}

// A document of an older weir, which gave up at the failure.
func TestAvailabilityOfACaseThatWasGivenUp(t *testing.T) {
	c := failing(3, 2)
	c.Status, c.Reason = results.Error, "launch 3: killed"
	a := available(p(0.03), nil, looks)
	doc := judged(c, a)
	wantVerdict(t, a, results.Pass)
	if doc.Session.ExitCode != ExitExecution {
		t.Errorf("exit code %d", doc.Session.ExitCode)
	}
	c = failing(2, 1)
	c.Status, c.Reason = results.Error, "missing: a node"
	a = available(p(0.1), nil, looks)
	judged(c, a)
	wantVerdict(t, a, results.ErrorVerdict)
}
