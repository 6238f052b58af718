package gate

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// isAvailability reports whether a subject is the share of launches that succeeded. It is judged by all
// launches, including those that failed.
func isAvailability(e *assertion.Expr) bool {
	return e != nil && e.Op == assertion.Metric && workload.OfCase(e.Metric)
}

// casesCountingFailures returns the cases with an assertion on availability. A failed launch leaves them
// valid; other assertions about them still become errors.
func (eval *evaluator) casesCountingFailures() map[*results.Case]bool {
	out := map[*results.Case]bool{}
	for _, m := range itemsOf(eval.doc) {
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

// launchesOfAvailability returns the case of a check with all its launches, including those that were
// retried.
func (eval *evaluator) launchesOfAvailability(check boundCheck) ([]*source, outcome, bool) {
	k := check.sourceOf(check.subject)
	c := eval.cases[k.key]
	if check.own != nil && check.own.Key == k.key {
		c = check.own
	}
	none := func(o outcome) ([]*source, outcome, bool) {
		if check.own == nil || c != check.own {
			o = o.atSource(k)
		}
		return nil, o, false
	}
	switch {
	case k.baseline:
		return none(invalidAssertion("a baseline has no failed launches, so it has no availability"))
	case c == nil:
		return none(failed(results.Because(results.NotInDocument)))
	case c.Status == results.Error && (len(c.Launches) == 0 || !analysisDue(check.looks, len(usable(c)))):
		return none(errorOf(c, results.Because(results.CaseError, why(c.Reason))))
	case c.Status == results.Skipped, c.Status == results.Excluded, len(notDiscarded(c)) == 0:
		o, _ := unusableAs(c, results.Reason{})
		return none(o)
	}
	if reason := missingLaunches(c); !reason.None() {
		return none(failed(reason))
	}
	return []*source{{key: c.Key, c: c, launches: byIndex(notDiscarded(c))}}, outcome{}, true
}

// availabilityEstimate estimates the share of a case's launches that succeed.
func availabilityEstimate(check boundCheck, s *source) subjectEstimate {
	good, made := 0, len(s.launches)
	for _, l := range s.launches {
		if l.Status == results.OK && !l.Retried {
			good++
		}
	}
	return subjectEstimate{
		at:           func(confidence float64) estimate { return clopperPearson(good, made, confidence) },
		relaunchable: []string{s.key},
		successes:    &successCount{good, made},
		failures:     failedLaunches(s.launches),
	}
}

// clopperPearson estimates a share from the number of successes with the exact interval. At the lower end,
// at least this many successes have the probability (1 − confidence)/2; at the upper end, at most this
// many have it. Both are quantiles of beta distributions. Source: Clopper and Pearson, Biometrika 26
// (1934) 404–413.
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

// failedLaunches returns a reason with the failed launches and their causes.
func failedLaunches(made []*results.Launch) results.Reason {
	var names []results.Value
	for _, l := range made {
		if l.Status == results.OK {
			continue
		}
		why := "no cause recorded"
		if l.Failure != nil {
			why = l.Failure.String()
		}
		if l.Retried {
			why += "; made again"
		}
		names = append(names, results.Text("failure", fmt.Sprintf("%s (%s)", results.LaunchName(l.Index), why)))
	}
	if len(names) == 0 {
		return results.Reason{}
	}
	return results.Because(results.LaunchesFailed,
		append(names, results.Count("failed", len(names), ""), launched(len(made)))...)
}

// availabilityOf estimates the availability of a case; ok is false if it had no launch.
func availabilityOf(c *results.Case) (m results.MetricEstimate, ok bool) {
	if len(notDiscarded(c)) == 0 {
		return m, false
	}
	all := notDiscarded(c)
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
	// The median of ones and zeros is no information.
	m.Value, m.Median, m.CI = e.center, e.center, &[2]float64{e.lo, e.hi}
	return m, true
}
