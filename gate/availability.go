package gate

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// ofLaunches says whether a subject is the share of launches that succeeded, which is
// judged on all that were made: one that failed is what the claim is about.
func ofLaunches(e *assertion.Expr) bool {
	return e != nil && e.Op == assertion.Metric && workload.OfCase(e.Metric)
}

// accountedFor are the cases of which an assertion counts the launches that failed. Such a
// launch leaves them valid; what else is asserted of them it spoils as of any case.
func (eval *evaluator) accountedFor() map[*results.Case]bool {
	out := map[*results.Case]bool{}
	for _, m := range statements(eval.doc) {
		for _, key := range m.a.About(workload.Availability.Name) {
			if c := eval.cases[key]; c != nil {
				out[c] = true
			} else if key == "" && m.c != nil {
				out[m.c] = true
			}
		}
	}
	return out
}

// counted is the claim's case with all launches that were made of it, those that were made
// again included.
func (eval *evaluator) counted(cl claim) ([]*source, outcome, bool) {
	k := cl.sourceOf(cl.subject)
	c := eval.cases[k.key]
	if cl.own != nil && cl.own.Key == k.key {
		c = cl.own
	}
	none := func(o outcome) ([]*source, outcome, bool) {
		if cl.own == nil || c != cl.own {
			o.message = k.key + ": " + o.message
		}
		return nil, o, false
	}
	switch {
	case k.baseline:
		return none(failed("a baseline holds launches that succeeded, and none of the others"))
	case c == nil:
		return none(failed("the case is not in the document"))
	case c.Status == results.Error && (len(c.Launches) == 0 || !atLook(cl.looks, len(counting(c)))):
		return none(spoiled(c, because("the case ended with an error", c.Reason)))
	case c.Status == results.Skipped, c.Status == results.Excluded, len(made(c)) == 0:
		o, _ := unusableAs(c, "")
		return none(o)
	}
	if reason := gap(c); reason != "" {
		return none(failed(reason))
	}
	return []*source{{key: c.Key, c: c, launches: byIndex(made(c))}}, outcome{}, true
}

// share is what the launches of a case say of how many succeed.
func share(cl claim, s *source) evidence {
	good, made := 0, len(s.launches)
	for _, l := range s.launches {
		if l.Status == results.OK && !l.Retried {
			good++
		}
	}
	return evidence{
		at:       func(confidence float64) estimate { return clopperPearson(good, made, confidence) },
		launched: []string{s.key},
		counted:  &counts{good, made},
		note:     lost(s.launches),
	}
}

// clopperPearson estimates a share from the number of successes by the exact interval:
// its lower end is the share of which so many or more successes have the probability
// (1 − confidence)/2, its upper end that of so many or fewer. Both are quantiles of beta
// distributions. Source: Clopper and Pearson, Biometrika 26 (1934) 404–413.
func clopperPearson(good, made int, confidence float64) estimate {
	e := estimate{center: quantity.Round(float64(good) / float64(made)), lo: 0, hi: 1, n: made}
	tail := (1 - confidence) / 2
	k, n := float64(good), float64(made)
	if good > 0 {
		e.lo = quantity.Round(distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(tail))
	}
	if good < made {
		e.hi = quantity.Round(distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(1 - tail))
	}
	return e
}

// lost names the launches that failed, with their causes.
func lost(made []*results.Launch) string {
	var names []string
	for _, l := range made {
		if l.Status == results.OK {
			continue
		}
		why := "it does not say why"
		if l.Failure != nil {
			why = l.Failure.String()
		}
		if l.Retried {
			why += "; made again"
		}
		names = append(names, fmt.Sprintf("%s (%s)", results.LaunchName(l.Index), why))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %s failed: %s", len(names), launches(len(made)), few(names))
}

// availabilityOf is the estimate of a case's availability; not ok where it had no launch.
func availabilityOf(c *results.Case) (m results.MetricEstimate, ok bool) {
	if len(made(c)) == 0 {
		return m, false
	}
	all := made(c)
	outcomes := make([]float64, 0, len(all))
	for _, l := range all {
		v := 0.
		if l.Status == results.OK && !l.Retried {
			v = 1
		}
		outcomes = append(outcomes, v)
	}
	slices.Sort(outcomes)
	m = estimateMetric(workload.Availability, true, true, outcomes, new([2]float64))
	e := clopperPearson(len(c.Succeeded()), len(all), results.Confidence)
	// the middle one of ones and noughts says nothing
	m.Value, m.Median, m.CI = e.center, e.center, &[2]float64{e.lo, e.hi}
	return m, true
}
