package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// several runs a simulated session of several cases with true values, as the
// executor does: more launches only for the cases that the gate asks them for. The
// cases run one after the other in each round.
func several(seed uint64, truths []float64, cv float64, declare func(*results.Document)) *results.Document {
	r := rand.New(rand.NewPCG(seed, 2))
	doc := docOf()
	for i := range truths {
		doc.Cases = append(doc.Cases, caseOf(string(rune('a'+i))))
	}
	declare(doc)
	toTheEnd(doc, func(i int) float64 { return truths[i] * math.Exp(r.NormFloat64()*cv) })
	return doc
}

// toTheEnd makes the launches of a session that its looks ask for; value is of the next launch of a case.
func toTheEnd(doc *results.Document, value func(i int) float64) {
	want := map[string]int{}
	for _, c := range doc.Cases {
		want[c.Key] = nextAnalysis(looks, 0)
	}
	for {
		for i, c := range doc.Cases {
			for n := len(c.Launches); n < want[c.Key]; n++ {
				l := caseOf("", value(i)).Launches[0]
				l.Index = n
				c.Launches = append(c.Launches, l)
			}
		}
		Judge(doc)
		more := Undecided(doc)
		if len(more) == 0 {
			return
		}
		for _, c := range doc.Cases {
			if slices.Contains(more, c.Key) {
				want[c.Key] = max(nextAnalysis(looks, len(c.Launches)), len(c.Launches))
			}
		}
	}
}

// The operating characteristics of a ratio of two cases with own launches of
// which both vary by 3 %, against a bound of 0.9.
func TestOperatingCharacteristicsOfARatio(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	n := simulated(t, 500, sessions)
	for _, c := range []struct {
		truth float64
		want  results.Verdict
		share float64
		wrong results.Verdict
	}{
		{1.00, results.Pass, 0.99, results.Fail},
		{0.80, results.Fail, 0.99, results.Pass},
		{0.92, results.Pass, 0, results.Fail},
		{0.88, results.Fail, 0, results.Pass},
	} {
		count := map[results.Verdict]int{}
		launches := 0
		for seed := range uint64(n) {
			doc := several(seed, []float64{c.truth, 1}, 0.03, func(doc *results.Document) {
				doc.Cases[0].Assertions = []*results.AssertionVerdict{against("b", p(0.9), nil, looks)}
			})
			count[doc.Cases[0].Assertions[0].Verdict]++
			launches += len(doc.Cases[0].Launches)
		}
		t.Logf("true ratio %.2f: %v, %.1f launches of each", c.truth, count, float64(launches)/float64(n))
		if got := float64(count[c.want]) / float64(n); got < c.share {
			t.Errorf("at %.2f: %s in %.1f%% of sessions, promised %.0f%%", c.truth, c.want, got*100, c.share*100)
		}
		if got := float64(count[c.wrong]) / float64(n); got > 0.02 {
			t.Errorf("at %.2f: the wrong verdict %s in %.1f%% of sessions, promised at most 2%%", c.truth, c.wrong,
				got*100)
		}
	}
}

// members is how many cases a simulated family has, and families how many
// sessions stand behind its promise.
const (
	members  = 10
	families = 300
)

// edge are the true values of a family at the bound itself, where each of its
// members is as likely to be judged wrongly as it can be.
func edge() []float64 {
	out := make([]float64, members)
	for i := range out {
		out[i] = 0.9
	}
	return out
}

// Several statements that share one error budget are wrong no more often than a
// single one: in at most 2.5 % of sessions at the edge itself.
func TestErrorOfFamilies(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	keys := make([]string, members)
	for i := range keys {
		keys[i] = string(rune('a' + i))
	}
	one := func(word string) func(*results.Document) {
		return func(doc *results.Document) {
			doc.Assertions = []*results.AssertionVerdict{quantified(word, p(0.9), looks, keys...)}
		}
	}
	each := func(multiple string) func(*results.Document) {
		return func(doc *results.Document) {
			for _, c := range doc.Cases {
				a := band(p(0.9), nil, looks)
				a.Multiple, a.Text = multiple, "bandwidth >= 0.9 GB/s"
				c.Assertions = []*results.AssertionVerdict{a}
			}
		}
	}
	for _, c := range []struct {
		name    string
		declare func(*results.Document)
		wrong   results.Verdict
		limit   float64
	}{
		{"all", one("all"), results.Fail, 0.025},
		{"any", one("any"), results.Pass, 0.025},
		{"holm", each("holm"), results.Fail, 0.025},
	} {
		bad := 0
		for seed := range uint64(families) {
			doc := several(seed, edge(), 0.03, c.declare)
			if doc.Summary.Assertions[string(c.wrong)] > 0 {
				bad++
			}
		}
		got := float64(bad) / float64(families)
		t.Logf("%s: wrongly %s in %.1f%% of sessions", c.name, c.wrong, got*100)
		if got > c.limit {
			t.Errorf("%s: wrongly %s in %.1f%% of sessions, at most %.1f%% are promised", c.name, c.wrong, got*100,
				c.limit*100)
		}
	}
}

// Holm gives what the clear failures did not spend to the others.
func TestHolmFindsEveryClearFailure(t *testing.T) {
	truths := edge()
	for i := range truths {
		truths[i] = []float64{0.7, 1}[i%2]
	}
	for seed := range uint64(100) {
		doc := several(seed, truths, 0.03, func(doc *results.Document) {
			for _, c := range doc.Cases {
				a := band(p(0.9), nil, looks)
				a.Multiple, a.Text = "holm", "t"
				c.Assertions = []*results.AssertionVerdict{a}
			}
		})
		if n := doc.Summary.Assertions["fail"]; n != members/2 {
			t.Fatalf("seed %d: %v", seed, doc.Summary.Assertions)
		}
	}
}
