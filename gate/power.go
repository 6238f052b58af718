package gate

import (
	"math"
	"math/rand/v2"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Power is the distribution of verdicts of simulated sessions at one true value, with the launches needed.
type Power struct {
	Truth                    float64 // in the unit of the assertion
	Pass, Fail, Inconclusive float64
	Launches                 float64 // mean
}

// PowerOf simulates sessions of an assertion on bounds of one metric with known noise, at several true
// values. ok is false for other assertions. Seeds are fixed, so results are reproducible.
func PowerOf(a assertion.Assertion, looks []int, truths []float64, sessions int) (all []Power, ok bool) {
	if a.Subject == nil || a.Subject.Op != assertion.Metric || a.Trend != nil || workload.OfCase(a.Subject.Metric) ||
		len(a.Noise) != 1 || len(looks) == 0 {
		return nil, false
	}
	own := a
	own.XFail, own.Decide, own.Severity, own.Reference = nil, a.Decide, assertion.Gate, nil
	own.Subject = &assertion.Expr{Op: assertion.Metric, Metric: a.Subject.Metric, Unit: a.Subject.Unit}
	for i, truth := range truths {
		p := Power{Truth: truth}
		for seed := range sessions {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			launch := func() float64 { return truth * math.Exp(a.Noise[0].Launch*r.NormFloat64()) }
			v, n := simulateSession(own, looks, launch)
			part := 1 / float64(sessions)
			p.Launches += float64(n) * part
			switch v {
			case results.Pass:
				p.Pass += part
			case results.Fail:
				p.Fail += part
			default:
				p.Inconclusive += part
			}
		}
		all = append(all, p)
	}
	return all, true
}

// simulateSession judges one session of an assertion, launching while it is undecided.
func simulateSession(a assertion.Assertion, looks []int, launch func() float64) (results.Verdict, int) {
	v := &results.AssertionVerdict{Assertion: a, Looks: looks}
	c := &results.Case{Key: "c", Status: results.OK, Assertions: []*results.AssertionVerdict{v}}
	doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
	unit, _ := quantityFactor(a)
	for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
		for len(c.Launches) < n {
			c.Launches = append(c.Launches, &results.Launch{
				Index: len(c.Launches), Status: results.OK, Verified: true,
				Metrics: results.ValuesOf(map[string]float64{a.Subject.Metric: launch() * unit}),
			})
		}
		if Judge(doc); len(Undecided(doc)) == 0 {
			break
		}
	}
	return v.Verdict, len(c.Launches)
}

// quantityFactor converts a value in the assertion's unit to the metric's unit.
func quantityFactor(a assertion.Assertion) (float64, bool) {
	from, known := quantity.UnitOf(a.Unit)
	to, same := quantity.UnitOf(a.Subject.Unit)
	if !known || !same || to.Factor == 0 {
		return 1, false
	}
	return from.Factor / to.Factor, true
}
