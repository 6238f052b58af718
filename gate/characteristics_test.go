package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// model gives the launches of a session from a seed.
type model func(seed uint64) func() float64

func varying(truth, cv float64) model {
	return func(seed uint64) func() float64 { return lognormal(seed, truth, cv) }
}

// lognormals are the values of n launches around a level, and cv is how they vary.
func lognormals(r *rand.Rand, n int, level, cv float64) (out []float64) {
	for range n {
		out = append(out, level*math.Exp(cv*r.NormFloat64()))
	}
	return out
}

// straggling loses up to most of what a launch reaches in a share of the launches.
func straggling(level, cv, share, most float64) model {
	return func(seed uint64) func() float64 {
		r := rand.New(rand.NewPCG(seed, 11))
		return func() float64 {
			v := level * math.Exp(cv*r.NormFloat64())
			if r.Float64() < share {
				v *= 1 - most*r.Float64()
			}
			return v
		}
	}
}

// twoModes has a share of launches that are slower by this factor; truth is the geometric mean.
func twoModes(truth, cv, share, slower float64) model {
	return func(seed uint64) func() float64 {
		r := rand.New(rand.NewPCG(seed, 12))
		quick := truth / math.Pow(1-slower, share)
		return func() float64 {
			v := quick * math.Exp(cv*r.NormFloat64())
			if r.Float64() < share {
				v *= 1 - slower
			}
			return v
		}
	}
}

// drifting moves the level of a path by a random walk.
func drifting(truth, cv, step float64) model {
	return func(seed uint64) func() float64 {
		r := rand.New(rand.NewPCG(seed, 13))
		level := 0.
		return func() float64 {
			v := truth * math.Exp(level+cv*r.NormFloat64())
			level += step * r.NormFloat64()
			return v
		}
	}
}

// shares are what became of many sessions, in percent.
type shares struct {
	pass, fail, open, launches float64
	n                          int
}

func (s shares) String() string {
	return fmt.Sprintf("pass %.2f%%, fail %.2f%%, inconclusive %.2f%%, %.2f launches of %d sessions", s.pass, s.fail,
		s.open, s.launches, s.n)
}

// run simulates n sessions of a band of 10 % around 1.
func (m model) run(n int, noise float64) shares {
	type one struct {
		v results.Verdict
		n int
	}
	all := make([]one, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			all[i].v, all[i].n = sessionOf(m(uint64(i)), noise)
			return nil
		})
	}
	_ = g.Wait() // no session fails
	s := shares{n: n}
	for _, o := range all {
		part := 100 / float64(n)
		s.launches += float64(o.n) / float64(n)
		switch o.v {
		case results.Pass:
			s.pass += part
		case results.Fail:
			s.fail += part
		default:
			s.open += part
		}
	}
	return s
}

// spreadOfStragglers is the standard deviation of the logarithm of launches of which 30 %
// lose up to 30 %, beside 1 % of noise.
const spreadOfStragglers = 0.092

// bars are what verdicts of single cases are held to (weir docs statistics).
var bars = []struct {
	name  string
	model model
	noise float64 // what is known; 0: nothing
	most  shares  // the most of each; 0: no bar
}{
	{"edge, nothing known", varying(0.9, 0.03), 0, shares{pass: 2.5, fail: 2.5}},
	{"edge, 1% noise", varying(0.9, 0.01), 0, shares{pass: 2.5, fail: 2.5}},
	{"edge, noise known", varying(0.9, 0.03), 0.03, shares{pass: 2.5, fail: 2.5}},
	{"edge, history knew 1% only", varying(0.9, 0.03), 0.01, shares{pass: 2.5, fail: 2.5}},
	{"0.92 at 3%", varying(0.92, 0.03), 0, shares{fail: 0.5}},
	{"0.88 at 3%", varying(0.88, 0.03), 0, shares{pass: 0.5}},
	{"healthy at 3%, noise known", varying(1, 0.03), 0.03, shares{fail: 0.5, launches: 5}},
	{"healthy at 3%, nothing known", varying(1, 0.03), 0, shares{fail: 0.5, launches: 8.01}},
	{"30% stragglers at 0.894, noise known", straggling(0.94, 0.01, 0.3, 0.3), spreadOfStragglers,
		shares{pass: 5}},
	{"30% stragglers at 0.894, nothing known", straggling(0.94, 0.01, 0.3, 0.3), 0, shares{pass: 18}},
	{"30% stragglers at 0.894, history knew 1% only", straggling(0.94, 0.01, 0.3, 0.3), 0.01, shares{pass: 18}},
	{"80/20 modes at 0.88, noise known", twoModes(0.88, 0.005, 0.2, 0.2), 0.0893, shares{pass: 2}},
	{"80/20 modes at 0.88, nothing known", twoModes(0.88, 0.005, 0.2, 0.2), 0, shares{pass: 18}},
	{"80/20 modes at 0.88, history knew 1% only", twoModes(0.88, 0.005, 0.2, 0.2), 0.01, shares{pass: 18}},
}

// simulated is how many sessions stand behind a bar: few in every run of the tests, with
// the room that so few need, and many in make test-all.
func simulated(t *testing.T, few, many int) int {
	t.Helper()
	if phase.AtLength() {
		return many
	}
	return few
}

func TestBars(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 200, 5000)
	for _, b := range bars {
		got := b.model.run(n, b.noise)
		t.Logf("%s: %s", b.name, got)
		held(t, b.name+": pass", got.pass, b.most.pass, n)
		held(t, b.name+": fail", got.fail, b.most.fail, n)
		if b.most.launches > 0 && got.launches > b.most.launches {
			t.Errorf("%s: %.2f launches, at most %.2f are promised", b.name, got.launches, b.most.launches)
		}
	}
}

// held checks a share against its bar, with three standard errors of what was simulated.
func held(t *testing.T, name string, got, bar float64, n int) {
	t.Helper()
	if bar == 0 {
		return
	}
	room := 0.
	if n < 5000 {
		room = 300 * math.Sqrt(bar/100*(1-bar/100)/float64(n))
	}
	if got > bar+room {
		t.Errorf("%s in %.2f%% of %d sessions, at most %.2f%% are promised", name, got, n, bar)
	}
}

// several likes that are said to increase fail wrongly no more often than one step would.
func TestTrendOfLikes(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 60, 1000)
	wrong := 0
	for seed := range uint64(n) {
		truths := make([]float64, 11)
		for i := range truths {
			truths[i] = 1
		}
		doc := several(seed, truths, 0.03, func(doc *results.Document) {
			var keys []string
			for _, c := range doc.Cases {
				keys = append(keys, c.Key)
			}
			doc.Assertions = []*results.AssertionVerdict{trend("increases", 0, looks, keys...)}
		})
		if doc.Assertions[0].Verdict == results.Fail {
			wrong++
		}
	}
	got := 100 * float64(wrong) / float64(n)
	t.Logf("11 equal cases: %.2f%% fail", got)
	held(t, "a trend of 11 equal cases fails", got, 6, n)
}

// sessionsOf are two sessions of equal cases that differ by the variance between sessions.
func sessionsOf(seed uint64, cases, n int, launch, session float64) (base, now *results.Document) {
	r := rand.New(rand.NewPCG(seed, 14))
	base, now = docOf(), docOf()
	base.Session.ID, now.Session.ID = "base", "new"
	for i := range cases {
		for _, d := range []*results.Document{base, now} {
			level := session * r.NormFloat64()
			var values []float64
			for range n {
				values = append(values, math.Exp(level+launch*r.NormFloat64()))
			}
			d.Cases = append(d.Cases, caseOf(fmt.Sprintf("c%d", i), values...))
		}
	}
	return base, now
}

// A gate against a stored baseline that is like the session fails as rarely as any, where it
// is known how sessions differ.
func TestBaselineOfALike(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 200, 2000)
	for _, base := range []int{5, 12} {
		fails := 0
		for seed := range uint64(n) {
			stored, now := sessionsOf(seed, 1, 12, 0.01, 0.02)
			var launches []float64
			for _, l := range stored.Cases[0].Launches[:base] {
				launches = append(launches, l.Metrics.At("bandwidth"))
			}
			doc, a := regression(nil, launches)
			a.Looks, a.Bounds.Lower = looks, p(0.97)
			a.Noise = []assertion.Noise{{
				Metric: "bandwidth", Launch: 0.01, Session: 0.02, KnowsSessions: true, From: "reference t",
			}}
			c := now.Cases[0]
			c.Key = doc.Cases[0].Key
			all := c.Launches
			c.Assertions, doc.Cases = []*results.AssertionVerdict{a}, []*results.Case{c}
			for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
				c.Launches = all[:n]
				if Judge(doc); len(Undecided(doc)) == 0 {
					break
				}
			}
			if a.Verdict == results.Fail {
				fails++
			}
		}
		got := 100 * float64(fails) / float64(n)
		t.Logf("baseline of %d launches: %.2f%% fail", base, got)
		held(t, "a baseline of a like fails", got, 2.5, n)
	}
}

// keptBeside are sessions of a case that vary by tau, as they are kept beside a baseline, and one more session.
func keptBeside(t *testing.T, r *rand.Rand, kept int, tau, truth float64) *results.AssertionVerdict {
	t.Helper()
	launches := func(level float64) []float64 {
		return lognormals(r, 12, math.Exp(level+tau*r.NormFloat64()), 0.01)
	}
	first := launches(0)
	var docs []*results.Document
	for i := range kept {
		of := first
		if i > 0 {
			of = launches(0)
		}
		d, _ := regression(of[:5], first[:5])
		d.Session.ID = fmt.Sprint("kept ", i)
		docs = append(docs, d)
	}
	doc, a := regression(launches(math.Log(truth)), first[:5])
	if kept > 0 {
		vary, err := SessionsOf(docs)
		if err != nil {
			t.Fatal(err)
		}
		doc.Baseline.Sessions = vary
	}
	all := doc.Cases[0].Launches
	for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
		doc.Cases[0].Launches = all[:n]
		if Judge(doc); len(Undecided(doc)) == 0 {
			break
		}
	}
	return a
}

// The sessions that are kept beside a baseline let a gate fail sooner, and not wrongly: at the bound itself it fails as
// rarely as any, however few they are and however they vary.
func TestSessionsBesideTheBaseline(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 200, 2000)
	fails := func(kept int, tau, truth float64) float64 {
		fails := 0
		for seed := range uint64(n) {
			a := keptBeside(t, rand.New(rand.NewPCG(seed, 31)), kept, tau, truth)
			if a.Verdict == results.Fail {
				fails++
			}
		}
		got := 100 * float64(fails) / float64(n)
		t.Logf("%d kept sessions that vary by %.3f, truth %.2f: %.2f%% fail", kept, tau, truth, got)
		return got
	}
	for _, kept := range []int{3, 12} {
		for _, tau := range []float64{0.01, 0.03, 0.08} {
			held(t, fmt.Sprintf("%d kept sessions that vary by %v fail at the bound", kept, tau),
				fails(kept, tau, 0.97), 2.5, n)
		}
	}
	if without, with := fails(0, 0.01, 0.9), fails(8, 0.01, 0.9); without > 5 || with < 60 {
		t.Errorf("of declines of 10 %%, %.0f%% fail without sessions and %.0f%% with 8", without, with)
	}
}

// Of a hundred likes in two sessions none is called a regression, although sessions differ.
func TestComparisonOfLikesInTwoSessions(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	n := simulated(t, 60, 1000)
	any, found := 0, 0
	for seed := range uint64(n) {
		base, now := sessionsOf(seed, 100, 5, 0.01, 0.02)
		c, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{"bandwidth"}})
		if err != nil {
			t.Fatal(err)
		}
		regressions := 0
		for _, e := range c.Effects {
			if e.Verdict == results.Regression {
				regressions++
			}
			if e.Change.Found {
				found++
			}
		}
		any += min(1, regressions)
	}
	got := 100 * float64(any) / float64(n)
	t.Logf("100 likes: some regression in %.2f%% of comparisons, %d of %d called real", got, found, n*100)
	held(t, "a regression among 100 likes", got, 5, n)
}

// Two runs of one session that are alike are hardly ever called different under a drift of
// 2 % a launch, whether they take turns or not.
func TestRunsOfOneSessionUnderDrift(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 200, 2000)
	for _, turns := range []bool{true, false} {
		found := 0
		for seed := range uint64(n) {
			doc := turnsOf(seed, 1, 0.01, func(*rand.Rand, int) float64 { return 0.02 })
			if !turns {
				r := rand.New(rand.NewPCG(seed, 15))
				for i, c := range doc.Cases {
					for j, l := range c.Launches {
						at := i*len(c.Launches) + j
						l.Started = time.Date(2026, 11, 21, 10, 0, at, 0, time.UTC)
						l.Metrics.Set("bandwidth", math.Exp(0.02*float64(at)+0.01*r.NormFloat64()))
					}
				}
			}
			c, err := CompareRuns(doc, "a", "b", options)
			if only(t, c, err).Change.Found {
				found++
			}
		}
		got := 100 * float64(found) / float64(n)
		t.Logf("turns %v: %.2f%% called different", turns, got)
		held(t, "runs that are alike called different", got, 6, n)
	}
}

// A session that is made with as many launches as are said to decide is decided. Where launches are of two
// modes, none are said.
func TestAdviceDecides(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	n := simulated(t, 100, 1000)
	truths := []float64{0.86, 0.87, 0.88, 0.89, 0.91, 0.92, 0.93, 0.94}
	for _, cv := range []float64{0.03, 0.06} {
		decided, advised := 0, 0
		for _, truth := range truths {
			for seed := range uint64(n) {
				launch := lognormal(seed, truth, cv)
				a, many := advised12(launch)
				if many == 0 {
					continue
				}
				advised++
				c := caseOf("c")
				a.Looks = []int{many}
				extend(c, many, launch)
				if judged(c, a); a.Verdict != results.InconclusiveVerdict {
					decided++
				}
			}
		}
		got := 100 * float64(decided) / float64(advised)
		t.Logf("noise %.0f%%: %.1f%% of %d sessions with as many launches as advised are decided", 100*cv, got, advised)
		if got < 75 || advised < n {
			t.Errorf("noise %.0f%%: %.1f%% of %d sessions with as many launches as advised are decided, 75%% are promised",
				100*cv, got, advised)
		}
	}
	shown := 0
	for _, truth := range truths {
		for seed := range uint64(n) {
			a, many := advised12(twoModes(truth, 0.005, 0.2, 0.2)(seed))
			if !strings.Contains(a.Message, "two modes") {
				continue
			}
			if shown++; many > 0 {
				t.Fatalf("truth %.2f, seed %d: %s", truth, seed, a.Message)
			}
		}
	}
	if shown < n {
		t.Errorf("two modes are shown in %d sessions only", shown)
	}
}

// advised12 is an assertion judged by twelve launches, and how many it says would decide.
func advised12(launch func() float64) (*results.AssertionVerdict, int) {
	c, a := caseOf("c"), band(p(0.9), p(1.1), looks)
	extend(c, 12, launch)
	judged(c, a)
	if a.Verdict != results.InconclusiveVerdict {
		return a, 0
	}
	return a, advice(a.Message)
}

// extend gives a case launches until it has n.
func extend(c *results.Case, n int, launch func() float64) {
	for len(c.Launches) < n {
		l := caseOf("", launch()).Launches[0]
		l.Index = len(c.Launches)
		c.Launches = append(c.Launches, l)
	}
}

// advice is the number of launches that a message says would decide, 0 if it says none.
func advice(message string) int {
	from, to := 0, 0
	for i := range message {
		if n, _ := fmt.Sscanf(message[i:], "about %d to %d launches would decide", &from, &to); n == 2 {
			return to
		}
		if n, _ := fmt.Sscanf(message[i:], "about %d launches would", &to); n == 1 {
			return to
		}
	}
	return 0
}
