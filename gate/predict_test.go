package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// gated is a session of at most the launches of the last look against a baseline of an equal path: both vary
// by launch and session, which is known.
type gated struct {
	r                       *rand.Rand
	launch, session, margin float64
}

func (g gated) values(n int) []float64 {
	level := g.session * g.r.NormFloat64()
	var out []float64
	for range n {
		out = append(out, 10*math.Exp(level+g.launch*g.r.NormFloat64()))
	}
	return out
}

func (g gated) play(before []float64, at []int) (*results.AssertionVerdict, int) {
	all := g.values(at[len(at)-1])
	doc, a := regression(nil, before)
	a.Looks, a.Bounds.Lower = at, p(1-g.margin)
	a.Noise = []assertion.Noise{{
		Metric: "bandwidth", Launch: g.launch, Session: g.session, KnowsSessions: true, From: "reference t",
	}}
	c := doc.Cases[0]
	for n := nextAnalysis(at, 0); n > 0; n = nextAnalysis(at, n) {
		c.Launches = caseOf("c", all[:n]...).Launches
		if Judge(doc); len(Undecided(doc)) == 0 {
			break
		}
	}
	return a, len(c.Launches)
}

// What is advised of a gate against a stored baseline decides in another session. Where sessions differ by as
// much as the margin, no number of launches is, and no further launches are asked for.
func TestAdviceOfBaselineGates(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 300, 2000)
	for _, c := range []struct {
		name   string
		gated  gated
		before int // launches of the baseline
		stuck  bool
	}{
		{"sessions 2%, margin 3%", gated{launch: 0.01, session: 0.02, margin: 0.03}, 12, true},
		{"sessions 0.5%, margin 4%", gated{launch: 0.05, session: 0.005, margin: 0.04}, 100, false},
		{"sessions 0.2%, margin 4%", gated{launch: 0.05, session: 0.002, margin: 0.04}, 100, false},
	} {
		advised, decided, open, said, made := 0, 0, 0, 0, 0
		for seed := range uint64(n) {
			g := c.gated
			g.r = rand.New(rand.NewPCG(seed, 31))
			before := g.values(c.before)
			a, launches := g.play(before, looks)
			if a.Verdict != results.InconclusiveVerdict {
				continue
			}
			open, made = open+1, made+launches
			if has(a.Reasons, "sessions-alone") {
				said++
			}
			many := a.Deciding
			if many == 0 {
				continue
			}
			advised++
			if a, _ := g.play(before, []int{many}); a.Verdict != results.InconclusiveVerdict {
				decided++
			}
		}
		t.Logf("%s: %d open after %.1f launches, %d told of sessions, advised %d, decided %d", c.name, open,
			float64(made)/float64(max(1, open)), said, advised, decided)
		switch {
		case c.stuck && (advised > 0 || 100*said < 95*open || float64(made) > 10*float64(open)):
			t.Errorf("%s: of %d open sessions %d have an advice, %d tell why, with %d launches", c.name, open, advised,
				said, made)
		case !c.stuck && (advised < n/20 || float64(decided) < 0.75*float64(advised)):
			t.Errorf("%s: %d of %d sessions with as many launches as advised are decided", c.name, decided, advised)
		}
	}
}

// A miss of a baseline that sessions of unknown variance forbid to fail needs knowledge of sessions. Neither more
// launches nor a longer baseline make it fail, so neither is advised.
func TestAdviceWhereSessionsAreUnknown(t *testing.T) {
	phase.NotUnderRace(t)
	missed, told := 0, 0
	for seed := range uint64(simulated(t, 100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 32))
		values := func(n int, mean float64) (out []float64) {
			for range n {
				out = append(out, mean*math.Exp(0.03*r.NormFloat64()))
			}
			return out
		}
		doc, a := regression(values(12, 9.4), values([]int{3, 8, 30}[seed%3], 10))
		Judge(doc)
		if a.Verdict != results.InconclusiveVerdict || a.Observed.Value > *a.Bounds.Lower {
			continue
		}
		missed++
		if a.Deciding > 0 || has(a.Reasons, "baseline-alone") {
			t.Errorf("seed %d: advises %d launches: %s", seed, a.Deciding, a.Message)
		}
		if has(a.Reasons, "sessions-unknown") && a.Change != "" {
			told++
		}
	}
	if missed < 50 || 100*told < 90*missed {
		t.Errorf("of %d open misses %d are told that sessions are unknown", missed, told)
	}
}
