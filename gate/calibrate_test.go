package gate

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }

// dyestuff are the yields of five samples of each of six batches (Davies, Statistical
// Methods in Research and Production, 1947; Box and Tiao 1973), of which the analysis
// of variance is published: mean squares 11271.5 with 5 and 2451.25 with 24 degrees of
// freedom, components 1764.05 and 2451.25.
var dyestuff = nested{{
	{1545, 1440, 1440, 1520, 1580}, {1540, 1555, 1490, 1560, 1495}, {1595, 1550, 1605, 1510, 1560},
	{1445, 1440, 1595, 1465, 1545}, {1595, 1630, 1515, 1635, 1625}, {1520, 1455, 1450, 1480, 1445},
}}

func TestComponentsOfPublishedData(t *testing.T) {
	c := componentsOf(dyestuff)
	if !same(c.session.value, 11271.5) || c.session.df != 5 || !same(c.launch.value, 2451.25) || c.launch.df != 24 {
		t.Errorf("mean squares %v and %v", c.session, c.launch)
	}
	if !same(c.sessionVariance(), 1764.05) || !same(c.mean, 1527.5) || c.k1 != 5 {
		t.Errorf("component %v, mean %v, k %v", c.sessionVariance(), c.mean, c.k1)
	}
	// of a balanced design the prediction interval is exact: t₅·√(MSB/n·(1 + 1/6))
	if want := student(5, 0.96) * math.Sqrt(11271.5/5*7/6); !same(c.predictionHalfWidth(5, 0.96, 0), want) {
		t.Errorf("reach %v, want %v", c.predictionHalfWidth(5, 0.96, 0), want)
	}
	apart := nested{}
	for _, batch := range dyestuff[0] {
		apart = append(apart, [][]float64{batch}) // each on a node of its own: nobody can tell
	}
	if d := componentsOf(apart); d.node.df != 0 || !same(d.sessionVariance(), 1764.05) {
		t.Errorf("%+v", d)
	}
}

// The estimators are unbiased in designs that are as unbalanced as can be.
func TestComponentsAreUnbiased(t *testing.T) {
	design := [][]int{{2, 9, 3}, {1, 4}, {5, 5, 2, 7}, {3}}
	want := [3]float64{2, 1, 0.5} // node, session, launch: variances
	var sum [3]float64
	const times = 20_000
	r := rand.New(rand.NewPCG(7, 7))
	for range times {
		var data nested
		for _, sessions := range design {
			a := r.NormFloat64() * math.Sqrt(want[0])
			var set [][]float64
			for _, n := range sessions {
				b := r.NormFloat64() * math.Sqrt(want[1])
				var values []float64
				for range n {
					values = append(values, a+b+r.NormFloat64()*math.Sqrt(want[2]))
				}
				set = append(set, values)
			}
			data = append(data, set)
		}
		c := componentsOf(data)
		session := c.sessionVariance()
		sum[0] += (c.node.value - c.launch.value - c.k2*session) / c.k3 / times
		sum[1] += session / times
		sum[2] += c.launch.value / times
	}
	for i, name := range []string{"node", "session", "launch"} {
		if math.Abs(sum[i]/want[i]-1) > 0.05 {
			t.Errorf("%s: %.3f on average, and the variance is %.3f", name, sum[i], want[i])
		}
	}
}

// laboratory makes sessions of one case with levels that vary from node to node, session
// to session and launch to launch.
type laboratory struct {
	r                     *rand.Rand
	node, session, launch float64
	nodes                 []float64
	made                  int
}

func (l *laboratory) document(node, launches int) *results.Document {
	for len(l.nodes) <= node {
		l.nodes = append(l.nodes, l.node*l.r.NormFloat64())
	}
	level := l.nodes[node] + l.session*l.r.NormFloat64()
	var values []float64
	for range launches {
		values = append(values, 10*math.Exp(level+l.launch*l.r.NormFloat64()))
	}
	c := caseOf("run[block_size=1MiB]", values...)
	for _, x := range c.Launches {
		x.Nodes = []string{string(rune('a' + node)), "z"}
	}
	c.Assertions = []*results.AssertionVerdict{band(p(1), nil, looks)}
	doc := docOf(c)
	l.made++
	doc.Session.ID, doc.Session.Started = string(rune('A'+l.made)), time.Date(2026, 11, l.made, 0, 0, 0, 0, time.UTC)
	doc.Scenario.Name, doc.Environment.Fingerprint = "s", "sha256:1"
	return doc
}

// A new session lies within the tolerance in at least 96 % of laboratories, whatever
// varies, and the gate passes it against the proposal.
func TestTolerancesHoldNewSessions(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for _, c := range []struct {
		name                  string
		node, session, launch float64
		nodes, sessions, n    int // sessions of each node
	}{
		{"launches only", 0, 0, 0.01, 1, 5, 6},
		{"two sessions", 0, 0.005, 0.01, 1, 2, 6},
		{"two sessions, launches only", 0, 0, 0.01, 1, 2, 6},
		{"sessions a little", 0, 0.004, 0.01, 1, 4, 5},
		{"sessions mostly", 0, 0.02, 0.005, 1, 5, 6},
		{"as many launches", 0, 0.01, 0.01, 1, 4, 12},
		{"nodes", 0.01, 0.005, 0.01, 3, 3, 6},
		{"nodes hardly", 0.002, 0.01, 0.01, 3, 2, 6},
	} {
		held, passed, tried, widest := 0, 0, 0, 0.0
		for seed := range uint64(comparisons) {
			l := &laboratory{r: rand.New(rand.NewPCG(seed, 9)), node: c.node, session: c.session, launch: c.launch}
			var docs []*results.Document
			for i := range c.nodes * c.sessions {
				docs = append(docs, l.document(i%c.nodes, c.n))
			}
			cal, err := Calibrate(docs, CalibrateOptions{Cap: 100})
			if err == nil && cal.Environment != "sha256:1" {
				t.Fatalf("the environment is %q", cal.Environment)
			}
			if err != nil {
				t.Fatal(err)
			}
			target := cal.Targets[0]
			if target.Refused != "" || target.Look != 12 {
				t.Fatalf("%+v", target)
			}
			fresh := l.document(c.nodes, 12) // on a node that was not there before
			low, high := target.Value*(1-target.Tolerance), target.Value*(1+target.Tolerance)
			fresh.Cases[0].Assertions = []*results.AssertionVerdict{band(&low, &high, []int{12})}
			Judge(fresh)
			a := fresh.Cases[0].Assertions[0]
			tried++
			widest += target.Tolerance / comparisons
			if a.Observed.Value >= low && a.Observed.Value <= high {
				held++
			}
			if a.Verdict == results.Pass {
				passed++
			}
		}
		h, ok := float64(held)/float64(tried), float64(passed)/float64(tried)
		t.Logf("%s: tolerance %.1f%%, held in %.1f%%, passed in %.1f%%", c.name, widest*100, h*100, ok*100)
		if h < 0.96 || ok < 0.95 {
			t.Errorf("%s: a new session lies within the tolerance in %.1f%%, passes in %.1f%%", c.name, h*100, ok*100)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	lab := func(launch float64) *laboratory {
		return &laboratory{r: rand.New(rand.NewPCG(1, 9)), launch: launch}
	}
	several := func(l *laboratory, n int) (docs []*results.Document) {
		for range n {
			docs = append(docs, l.document(0, 6))
		}
		return docs
	}
	noisy, err := Calibrate(several(lab(0.4), 3), CalibrateOptions{Cap: 0.2})
	if err != nil || noisy.ExitCode != ExitInconclusive ||
		!strings.HasPrefix(noisy.Targets[0].Refused, "reduce the noise first: launches vary by") {
		t.Errorf("%v %+v", err, noisy.Targets[0])
	}
	docs := several(lab(0.01), 3)
	docs[1].Cases[0].Launches[2].Status = results.Error
	broken, err := Calibrate(docs, CalibrateOptions{Cap: 0.2})
	if err != nil || broken.ExitCode != ExitExecution ||
		broken.Targets[0].Refused != "session C cannot be used: launch 3 failed" {
		t.Errorf("%v %+v", err, broken.Targets[0])
	}
	docs = several(lab(0.01), 2)
	docs[0].Cases[0].Status = results.Excluded
	once, err := Calibrate(docs, CalibrateOptions{Cap: 0.2})
	if err != nil || once.ExitCode != ExitInconclusive || once.Targets[0].Refused != "only one session measured it" {
		t.Errorf("%v %+v", err, once.Targets[0])
	}
	for name, c := range map[string]struct {
		change  func(docs []*results.Document) []*results.Document
		message string
		options CalibrateOptions
	}{
		"one session": {func(d []*results.Document) []*results.Document { return d[:1] }, "--single-session",
			CalibrateOptions{}},
		"twice": {func(d []*results.Document) []*results.Document { return append(d, d[0]) }, "given twice",
			CalibrateOptions{}},
		"another scenario": {func(d []*results.Document) []*results.Document { d[1].Scenario.Name = "t"; return d },
			"different scenarios, s and t", CalibrateOptions{}},
		"another machine": {func(d []*results.Document) []*results.Document {
			d[1].Environment.Fingerprint = "x"
			d[1].Weir.Go = "go2"
			return d
		}, "different environments, so no reference holds for both: fingerprint: sha256:1 -> x; go:  -> go2",
			CalibrateOptions{}},
		"other options": {func(d []*results.Document) []*results.Document {
			d[1].Cases[0].Options = map[string]any{"batch": 2.}
			return d
		}, "have different settings", CalibrateOptions{}},
		"what may be zero": {func(d []*results.Document) []*results.Document { return d }, "may be 0",
			CalibrateOptions{Metrics: []string{"skew"}}},
		"nothing is claimed": {func(d []*results.Document) []*results.Document {
			for _, x := range d {
				x.Cases[0].Assertions = nil
			}
			return d
		}, "nothing to compare", CalibrateOptions{}},
	} {
		_, err := Calibrate(c.change(several(lab(0.01), 2)), c.options)
		if err == nil || !strings.Contains(err.Error(), c.message) ||
			errors.Is(err, ErrNothingCompared) != (name == "nothing is claimed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	single, err := Calibrate(several(lab(0.01), 1), CalibrateOptions{Cap: 0.2, SingleSession: true, Launches: 6})
	if target := single.Targets[0]; err != nil || target.Refused != "" || len(target.Noise) != 1 || target.Look != 6 ||
		target.Tolerance < 0.01 {
		t.Errorf("%v %+v", err, single.Targets[0])
	}
}

func TestTolerancesAreRoundedUp(t *testing.T) {
	for share, want := range map[float64]float64{
		0: 0.005, 0.0049: 0.005, 0.005: 0.005, 0.0051: 0.01, 0.05: 0.05, 0.0501: 0.06, 0.07 + 1e-16: 0.07, 0.2: 0.2,
		0.201: 0.25, 1.01: 1.05,
	} {
		if got := roundedUp(share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}

// Too few sessions are not called noise.
func TestTooFewSessions(t *testing.T) {
	l := &laboratory{r: rand.New(rand.NewPCG(3, 9)), session: 0.02, launch: 0.01}
	docs := []*results.Document{l.document(0, 6), l.document(0, 6)}
	c, err := Calibrate(docs, CalibrateOptions{Cap: 0.2})
	if err != nil || !strings.HasPrefix(c.Targets[0].Refused, "2 sessions are too few to show how sessions differ") ||
		!strings.Contains(c.Targets[0].Refused, "from 5 sessions of this noise about") {
		t.Errorf("%v %+v", err, c.Targets[0])
	}
}
