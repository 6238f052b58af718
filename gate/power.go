package gate

import (
	"math"
	"math/rand/v2"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// Power is what becomes of sessions whose launches have a true value, with the rule that
// verdicts are found by: shares of verdicts and the launches that it takes.
type Power struct {
	Truth                    float64 // in the unit of the assertion
	Pass, Fail, Inconclusive float64
	Launches                 float64 // mean
}

// PowerOf simulates sessions of an assertion that is a band over one metric, whose noise is known, at true
// values. ok is false of any other. Seeds are fixed: the same assertion has the same power.
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
			v, n := played(own, looks, func() float64 { return truth * math.Exp(a.Noise[0].Launch*r.NormFloat64()) })
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

// played is a session of one assertion, with more launches only while it is undecided.
func played(a assertion.Assertion, looks []int, launch func() float64) (results.Verdict, int) {
	v := &results.AssertionVerdict{Assertion: a, Looks: looks}
	c := &results.Case{Key: "c", Status: results.OK, Assertions: []*results.AssertionVerdict{v}}
	doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
	unit, _ := quantityFactor(a)
	for n := nextLook(looks, 0); n > 0; n = nextLook(looks, n) {
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

// quantityFactor is what a value in the assertion's unit is multiplied with to be in the
// metric's.
func quantityFactor(a assertion.Assertion) (float64, bool) {
	from, known := quantity.UnitOf(a.Unit)
	to, same := quantity.UnitOf(a.Subject.Unit)
	if !known || !same || to.Factor == 0 {
		return 1, false
	}
	return from.Factor / to.Factor, true
}
