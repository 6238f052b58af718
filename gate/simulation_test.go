package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// sessions is how many simulated sessions stand behind each promise.
const sessions = 2000

// session runs a simulated session as the executor does, with more launches only
// while the gate asks for them, and tells the verdict and the launches it took.
func session(seed uint64, truth, cv float64) (results.Verdict, int) {
	return sessionOf(lognormal(seed, truth, cv), 0)
}

// lognormal are launches that vary by cv.
func lognormal(seed uint64, truth, cv float64) func() float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() float64 { return truth * math.Exp(r.NormFloat64()*cv) }
}

// sessionOf runs one with given launches, with a noise that is known beforehand if it
// is above 0.
func sessionOf(launch func() float64, noise float64) (results.Verdict, int) {
	c := caseOf("c")
	a := band(p(0.9), p(1.1), looks)
	if noise > 0 {
		a = known(noise, a)
	}
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
		for len(c.Launches) < n {
			c.Launches = append(c.Launches, caseOf("", launch()).Launches[0])
			c.Launches[len(c.Launches)-1].Index = len(c.Launches) - 1
		}
		Judge(doc)
		if len(Undecided(doc)) == 0 {
			break
		}
	}
	return a.Verdict, len(c.Launches)
}

// The operating characteristics that weir promises, with launches that vary by 3 %.
func TestOperatingCharacteristics(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	for _, c := range []struct {
		truth float64
		want  results.Verdict // at least in share of the sessions
		share float64
		wrong results.Verdict // at most in 2 % of them
	}{
		{1.00, results.Pass, 0.99, results.Fail},
		{0.85, results.Fail, 0.99, results.Pass},
		{0.92, results.Pass, 0, results.Fail},
		{0.88, results.Fail, 0, results.Pass},
	} {
		count := map[results.Verdict]int{}
		launches := 0
		for seed := range uint64(sessions) {
			v, n := session(seed, c.truth, 0.03)
			count[v]++
			launches += n
		}
		t.Logf("true value %.2f of the target: %v, %.1f launches", c.truth, count, float64(launches)/sessions)
		if got := float64(count[c.want]) / sessions; got < c.share {
			t.Errorf("at %.2f: %s in %.1f%% of sessions, promised %.0f%%", c.truth, c.want, got*100, c.share*100)
		}
		if got := float64(count[c.wrong]) / sessions; got > 0.02 {
			t.Errorf("at %.2f: the wrong verdict %s in %.1f%% of sessions, promised at most 2%%", c.truth, c.wrong,
				got*100)
		}
		if count[results.ErrorVerdict] > 0 {
			t.Errorf("at %.2f: %d sessions ended with an error", c.truth, count[results.ErrorVerdict])
		}
	}
}

// At the edge of the band itself each verdict is wrong half of the time by
// right; the four looks together must keep both rare.
func TestEdgeOfTheBand(t *testing.T) {
	phase.NotUnderRace(t)
	count := map[results.Verdict]int{}
	for seed := range uint64(sessions) {
		v, _ := session(seed, 0.9, 0.03)
		count[v]++
	}
	t.Logf("%v", count)
	for _, v := range []results.Verdict{results.Pass, results.Fail} {
		if got := float64(count[v]) / sessions; got > 0.07 {
			t.Errorf("%s in %.1f%% of sessions, want at most 7%%", v, got*100)
		}
	}
}

// A quiet path needs no more than the first look where its noise is known, and the fewest
// launches that may pass near a bound where it is not.
func TestQuietPathTakesFewLaunches(t *testing.T) {
	first := 0
	for seed := range uint64(200) {
		if v, n := session(seed, 1, 0.005); v != results.Pass || n != enoughToPass {
			t.Fatalf("seed %d: %s after %d launches", seed, v, n)
		}
		v, n := sessionOf(lognormal(seed, 1, 0.005), 0.005)
		if v != results.Pass {
			t.Fatalf("seed %d: %s after %d launches", seed, v, n)
		}
		if n == looks[0] {
			first++
		}
	}
	if first < 190 {
		t.Errorf("%d of 200 sessions with known noise pass at the first look", first)
	}
}
