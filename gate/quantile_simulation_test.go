package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
)

// stamped are launches of lognormal latencies that differ by 3 %, with a share of failed requests.
type stamped struct {
	stamps         int
	sigma, launch  float64
	failing        float64
	kind           string
	metric, family string
	level          results.Quantile
}

func (s stamped) name() string {
	return fmt.Sprintf("%s of %d values a launch, sigma %g, launches %g %%", s.metric, s.stamps, s.sigma, 100*s.launch)
}

// truth is the quantile of all values that there might be.
func (s stamped) truth() float64 {
	share := float64(s.level) / float64(results.Maximum)
	z := distuv.UnitNormal.Quantile(share / (1 - s.failing))
	return 1e-4 * math.Exp(z*math.Hypot(s.sigma, s.launch))
}

func (s stamped) draw(r *rand.Rand, index int) *results.Launch {
	shift := s.launch * r.NormFloat64()
	var values []float64
	failed := 0
	for range s.stamps {
		if r.Float64() < s.failing {
			failed++
			continue
		}
		values = append(values, 1e5*math.Exp(shift+s.sigma*r.NormFloat64()))
	}
	d := results.Distributions{}
	d.Add(s.family, values, failed)
	metrics := map[string]float64{"requests.stamped": float64(s.stamps), "requests": float64(s.stamps)}
	for _, m := range s.quantiles() {
		level, _ := m.Level()
		metrics[m.Name] = results.Unbounded
		if rank := int(results.NearestRank(int64(s.stamps), level)); rank <= len(values) {
			metrics[m.Name] = values[rank-1] * 1e-9
		}
	}
	return &results.Launch{
		Index: index, Status: results.OK, Verified: true, Distributions: d, Metrics: results.ValuesOf(metrics),
	}
}

// quantiles are all of the family: another one can imply a miss.
func (s stamped) quantiles() (all []workload.Metric) {
	kind, _ := workload.Lookup(s.kind)
	for _, m := range kind.Metrics {
		if _, ok := m.Level(); ok && m.Family() == s.family {
			all = append(all, m)
		}
	}
	return all
}

// session judges metric <= bound with more launches only while it is undecided.
func (s stamped) session(seed uint64, bound float64) (results.Verdict, *results.Document) {
	r := rand.New(rand.NewPCG(seed, 11))
	kind, _ := workload.Lookup(s.kind)
	a := &results.AssertionVerdict{
		Assertion: assertion.Assertion{
			Name: "tail", Severity: assertion.Gate, Subject: metric(s.metric, "s"), Unit: "s",
			Bounds: assertion.Bounds{Upper: p(bound)},
		},
		Looks: looks,
	}
	c := &results.Case{Key: "c", Run: "run", Workload: s.kind, Status: results.OK, Options: map[string]any{}}
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	doc.Metrics = []results.MetricTable{kind.Table()}
	for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
		for len(c.Launches) < n {
			c.Launches = append(c.Launches, s.draw(r, len(c.Launches)))
		}
		Judge(doc)
		if len(Undecided(doc)) == 0 {
			break
		}
	}
	return a.Verdict, doc
}

// shares of verdicts over sessions, in percent.
func (s stamped) shares(n int, bound float64) map[results.Verdict]float64 {
	var mu sync.Mutex
	out := map[results.Verdict]float64{}
	var wg sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := w; seed < n; seed += runtime.GOMAXPROCS(0) {
				v, _ := s.session(uint64(seed), bound)
				mu.Lock()
				out[v] += 100 / float64(n)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return out
}

func tails() (all []stamped) {
	for _, sigma := range []float64{0.3, 1} {
		for _, stamps := range []int{32, 100, 1000, 3000} {
			all = append(all, stamped{
				stamps: stamps, sigma: sigma, launch: 0.03, kind: "transfer", metric: "latency.p99", family: "latency",
				level: results.P99,
			}, stamped{
				stamps: stamps, sigma: sigma, launch: 0.03, kind: "transfer", metric: "latency.p999", family: "latency",
				level: results.P999,
			})
		}
	}
	for _, stamps := range []int{200, 1000} { // a lower quantile implies a miss before p99 shows it
		all = append(all, stamped{
			stamps: stamps, sigma: 0.3, launch: 0.5, kind: "transfer", metric: "latency.p99", family: "latency",
			level: results.P99,
		})
	}
	for _, launch := range []float64{0.03, 0.05, 0.1} { // differences of launches outweigh those within one
		all = append(all, stamped{
			stamps: 1000, sigma: 0.05, launch: launch, kind: "transfer", metric: "latency.p99", family: "latency",
			level: results.P99,
		}, stamped{
			stamps: 1000, sigma: 0.05, launch: launch, kind: "transfer", metric: "latency.p50", family: "latency",
			level: results.P50,
		})
	}
	return all
}

// At a bound that is the true value neither verdict is given in more than 2.5 % of sessions, however few values
// a launch has; 5 % pass where launches differ by 50 %. (Geometric means of the launches' own quantiles passed in 28 %
// of them.)
func TestTailQuantilesAtTheirBound(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	n := 30
	if phase.AtLength() {
		n = 1000
	}
	var table strings.Builder
	table.WriteString("| 1000 sessions a row, at the bound | pass % | fail % |\n|---|---:|---:|\n")
	for _, s := range tails() {
		if n < 1000 && s.stamps > 1000 {
			continue
		}
		got := s.shares(n, s.truth())
		fmt.Fprintf(&table, "| %s | %.1f | %.1f |\n", s.name(), got[results.Pass], got[results.Fail])
		passing := 2.5
		if s.launch >= 0.5 { // the values of the slowest launches are in none of 12
			passing = 5
		}
		for v, most := range map[results.Verdict]float64{results.Pass: passing, results.Fail: 2.5} {
			allowed := most + 300*math.Sqrt(most/100*(1-most/100)/float64(n)) // three standard errors
			if got[v] > allowed {
				t.Errorf("%s: %s in %.1f %% of sessions, want at most %.1f %%", s.name(), v, got[v], most)
			}
		}
	}
	if n == 1000 {
		golden.Between(t, "statistics.md", "Each row says how many values a launch has.\n\n", "\nParts of a launch",
			table.String())
	}
}

// Requests that fail have no end: a quantile that lands on them has none either, and one below them counts them.
func TestTailQuantilesOfFailingRequests(t *testing.T) {
	phase.NotUnderRace(t)
	n := 40
	if phase.AtLength() {
		n = 1000
	}
	s := stamped{
		stamps: 1000, sigma: 0.3, launch: 0.03, failing: 0.005, kind: "serving", metric: "latency.p99",
		family: "latency",
		level:  results.P99,
	}
	got := s.shares(n, s.truth())
	if allowed := 2.5 + 300*math.Sqrt(0.025*0.975/float64(n)); got[results.Pass] > allowed ||
		got[results.Fail] > allowed {
		t.Errorf("at the bound: %v", got)
	}
	if got := s.shares(n, 1.5*s.truth()); got[results.Pass] < 90 {
		t.Errorf("far below the bound: %v", got)
	}
	s.failing = 0.03
	if got := s.shares(n, 1); got[results.Fail] < 90 {
		t.Errorf("3 %% of requests fail, and p99 is to be below 1 s: %v", got)
	}
}

// An expression of several metrics is judged by its value in each launch: p99 is never beyond the maximum, and a
// quotient of quantiles does not contain how launches differ.
func TestQuantilesAreComparedWithinLaunches(t *testing.T) {
	s := stamped{
		stamps: 1000, sigma: 0.05, launch: 0.2, kind: "transfer", metric: "latency.p99", family: "latency",
		level: results.P99,
	}
	_, doc := s.session(1, s.truth())
	c := doc.Cases[0]
	for _, l := range c.Launches {
		own := l.Metrics.At("latency.p99")
		l.Metrics.Set("latency.p50", own/1.1)
		l.Metrics.Set("latency.max", own)
	}
	for _, test := range []struct {
		subject *assertion.Expr
		upper   float64
	}{
		{ratio(metric("latency.p99", "s"), metric("latency.max", "s")), 1},
		{ratio(metric("latency.p99", "s"), metric("latency.p50", "s")), 1.1001},
		{ratio(metric("latency.p50", "s"), metric("latency.p99", "s")), 0.9092},
	} {
		a := band(nil, p(test.upper), []int{len(c.Launches)})
		a.Subject, a.Unit = test.subject, ""
		c.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		wantVerdict(t, a, results.Pass)
	}
}

// Few values have a lower limit: a lower bound of a tail can pass where an upper one cannot.
func TestFewValuesPassALowerBound(t *testing.T) {
	s := stamped{
		stamps: 100, sigma: 0.3, launch: 0.03, kind: "transfer", metric: "latency.p99", family: "latency",
		level: results.P99,
	}
	_, doc := s.session(1, 10*s.truth())
	c := doc.Cases[0]
	c.Launches = c.Launches[:3]
	for _, test := range []struct {
		bounds assertion.Bounds
		want   results.Verdict
	}{
		{assertion.Bounds{Lower: p(s.truth() / 10)}, results.Pass},
		{assertion.Bounds{Upper: p(s.truth() * 10)}, results.InconclusiveVerdict},
		{assertion.Bounds{Lower: p(s.truth() / 10), Upper: p(s.truth() * 10)}, results.InconclusiveVerdict},
	} {
		a := band(nil, nil, []int{3})
		a.Subject, a.Unit, a.Bounds = metric("latency.p99", "s"), "s", test.bounds
		c.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		wantVerdict(t, a, test.want)
	}
}

// The estimate is the quantile of all values, in the case as in the verdict: no mean of launches.
func TestEstimateOfAQuantileIsThatOfAllValues(t *testing.T) {
	s := stamped{
		stamps: 100, sigma: 1, launch: 0.03, kind: "transfer", metric: "latency.p99", family: "latency",
		level: results.P99,
	}
	off := 0.
	const tries = 100
	for seed := range uint64(tries) {
		_, doc := s.session(seed, s.truth())
		m, _ := doc.Cases[0].Metrics.Get("latency.p99")
		if o := doc.Cases[0].Assertions[0].Observed; o.Value != m.Value || *o.CI != *m.CI {
			t.Fatalf("seed %d: the verdict says %v %v, the case %v %v", seed, o.Value, *o.CI, m.Value, *m.CI)
		}
		off += math.Log(m.Value/s.truth()) / tries
	}
	if math.Abs(off) > 0.05 {
		t.Errorf("the estimate is off by %.1f %%", 100*math.Expm1(off))
	}
}
