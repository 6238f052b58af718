package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// The inverse of trigamma is one, and the prior of ratios that were drawn from one is found.
func TestPriorIsFound(t *testing.T) {
	for _, x := range []float64{1e-4, 0.1, 0.5, 1, 3, 40, 1e5} {
		if got := trigammaInverse(trigamma(x)); math.Abs(got-x) > 1e-6*x {
			t.Errorf("trigammaInverse(trigamma(%g)) = %g", x, got)
		}
	}
	if got := trigamma(1); math.Abs(got-math.Pi*math.Pi/6) > 1e-9 {
		t.Errorf("trigamma(1) = %g", got)
	}
	r := rand.New(rand.NewPCG(1, 1))
	chi := func(df int) (sum float64) {
		for range df {
			z := r.NormFloat64()
			sum += z * z
		}
		return sum
	}
	var ratios, dfs []float64
	for range 20000 {
		variance := 2 * 8 / chi(8) // scale 2, 8 degrees of freedom
		ratios, dfs = append(ratios, variance*chi(4)/4), append(dfs, 4)
	}
	p, ok := priorOf(ratios, dfs)
	if !ok || math.Abs(p.scale-2) > 0.05 || math.Abs(p.df-8) > 0.6 {
		t.Errorf("%+v, %t", p, ok)
	}
	if _, ok := priorOf(ratios[:4], dfs[:4]); ok {
		t.Error("four cases are enough")
	}
	if _, ok := priorOf([]float64{1, 1, 0, 1, 1, 1}, []float64{2, 2, 2, 2, 2, 2}); ok {
		t.Error("a case without any spread is taken")
	}
}

// likes makes sessions of cases with known noise.
type likes struct {
	truths, noise, knew []float64
	model               func(r *rand.Rand, truth, noise float64) float64 // nil: lognormal
	odd                 int                                              // the case that model is of
}

func (l likes) session(seed uint64) *results.Document {
	r := rand.New(rand.NewPCG(seed, 41))
	doc := docOf()
	for i := range l.truths {
		c := caseOf(string(rune('a' + i)))
		c.Assertions = []*results.AssertionVerdict{band(p(0.9), p(1.1), looks)}
		doc.Cases = append(doc.Cases, c)
		if l.knew[i] > 0 {
			doc.Noise = append(doc.Noise, results.CaseNoise{Case: c.Key, Metrics: []assertion.Noise{
				{Metric: "bandwidth", Launch: l.knew[i], LaunchDF: 40, From: "history"},
			}})
		}
	}
	toTheEnd(doc, func(i int) float64 {
		if l.model != nil && i == l.odd {
			return l.model(r, l.truths[i], l.noise[i])
		}
		return l.truths[i] * math.Exp(l.noise[i]*r.NormFloat64())
	})
	return doc
}

func repeated(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// withFirst is a list with another first element.
func withFirst(list []float64, first float64) []float64 {
	list[0] = first
	return list
}

// What the variances of other cases save, and that the errors stay as promised: of cases at the edge, of one that
// varies unlike the others, of one with a second mode, and of unequal ones.
func TestModeratedVariance(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	n := simulated(t, 150, 1500)
	twoModes := func(share, cost float64) func(*rand.Rand, float64, float64) float64 {
		return func(r *rand.Rand, truth, noise float64) float64 {
			fast := truth / math.Exp(share*math.Log(1-cost))
			if r.Float64() < share {
				fast *= 1 - cost
			}
			return fast * math.Exp(noise*r.NormFloat64())
		}
	}
	calm, oddTruth := repeated(15, 0.01), withFirst(repeated(15, 1), 0.88)
	unequal := []float64{0.005, 0.01, 0.02, 0.04, 0.06, 0.08}
	for name, c := range map[string]struct {
		likes
		first                bool // errors are of the first case only
		pass, fail, launches float64
	}{
		"15 healthy cases of 3 %": {
			likes{truths: repeated(15, 1), noise: repeated(15, 0.03), knew: repeated(15, 0.03)}, false, 0, 0.5, 3.5,
		},
		"15 cases at the edge": {
			likes{truths: repeated(15, 0.9), noise: repeated(15, 0.03), knew: repeated(15, 0.03)}, false, 2.5, 2.5, 0,
		},
		"history knew 1 % of 3": {
			likes{truths: repeated(15, 0.9), noise: repeated(15, 0.03), knew: calm}, false, 2.5, 2.5, 0,
		},
		"history knew 1 % of 3 of one": {
			likes{truths: withFirst(repeated(15, 1), 0.9), noise: withFirst(repeated(15, 0.01), 0.03), knew: calm},
			true, 2.5, 2.5, 0,
		},
		"six unequal cases at the edge": {
			likes{truths: repeated(6, 0.9), noise: unequal, knew: unequal}, false, 2.5, 2.5, 0,
		},
		"80/20 modes at .88, knew 1 % only": {
			likes{truths: oddTruth, noise: repeated(15, 0.005), knew: calm, model: twoModes(0.2, 0.2)}, true, 18, 0, 0,
		},
		"80/20 modes at .88, noise known": {
			likes{
				truths: oddTruth, noise: repeated(15, 0.005), knew: withFirst(repeated(15, 0.01), 0.0893),
				model: twoModes(0.2, 0.2),
			}, true, 2, 0, 0,
		},
		"90/10 half as fast, at .88, known": {
			likes{
				truths: oddTruth, noise: repeated(15, 0.005), knew: withFirst(repeated(15, 0.01), 0.208),
				model: twoModes(0.1, 0.5),
			}, true, 2, 0, 0,
		},
	} {
		passed, failed, made, all := 0, 0, 0, 0
		for seed := range uint64(n) {
			doc := c.session(seed)
			for i, k := range doc.Cases {
				if c.first && i > 0 {
					break
				}
				all, made = all+1, made+len(k.Launches)
				switch k.Assertions[0].Verdict {
				case results.Pass:
					passed++
				case results.Fail:
					failed++
				}
			}
		}
		pass, fail, launches := 100*float64(
			passed,
		)/float64(
			all,
		), 100*float64(
			failed,
		)/float64(
			all,
		), float64(
			made,
		)/float64(
			all,
		)
		t.Logf("%s: %s", name, fmt.Sprintf("pass %.2f%%, fail %.2f%%, %.2f launches", pass, fail, launches))
		held(t, name+": pass", pass, c.pass, all)
		held(t, name+": fail", fail, c.fail, all)
		if c.launches > 0 && launches > c.launches {
			t.Errorf("%s: %.2f launches", name, launches)
		}
	}
}
