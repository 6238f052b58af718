package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// A discarded launch succeeded but lacked its processors (results.Launch.Discarded): it measured the host's
// other load. It counts neither for nor against an assertion; the executor replaces it while its budget
// lasts.

// judgeClaim judges by the usable launches. If these are inconclusive and the disturbance can only have
// worsened the value, discarded launches count too: they pass if within the bound, and fail if they miss
// it by more than the disturbance can have cost.
func (eval *evaluator) judgeClaim(check boundCheck) outcome {
	check = check.withoutConstant()
	o := eval.judgeUsable(check)
	if o.verdict != results.InconclusiveVerdict || check.own == nil || check.own.Discarded() == 0 ||
		!check.onlyWorsened() {
		return o
	}
	all := eval.withDiscarded()
	own := all.cases[check.own.Key]
	if own == nil {
		return o
	}
	cost, lost := slowdownLimit(check.own), check.own.Discarded()
	check.own = own
	with := all.judgeUsable(check)
	switch {
	case with.verdict == results.Pass:
		with.addReasons(results.Because(results.DiscardedPass, results.Count("discarded", lost, "launch")))
	case with.verdict == results.Fail && check.missesEvenIfBetter(with.observed, cost):
		with.addReasons(results.Because(results.DiscardedFail, results.Count("discarded", lost, "launch")))
	default:
		return o
	}
	return with
}

// onlyWorsened reports whether missing processors can only have moved the value towards a miss: the check
// bounds one metric of its case on the worse side.
func (check boundCheck) onlyWorsened() bool {
	if check.subject.Op != assertion.Metric || check.subject.Case != "" || check.subject.Baseline {
		return false
	}
	m, ok := check.metrics.Metric(check.own, check.subject.Metric)
	return ok && (m.Better == workload.Higher && check.bounds.Upper == nil ||
		m.Better == workload.Lower && check.bounds.Lower == nil)
}

// slowdownLimit is the largest factor by which the discarded launches of a case may be too slow: waiting
// ranks add up what each lost, doubled for caches and clocks.
func slowdownLimit(c *results.Case) float64 {
	most := 0.
	for _, l := range c.Launches {
		if l.Discarded != "" {
			most = max(most, l.Lost())
		}
	}
	if most == 0 || most >= 1 { // unknown, or everything
		return math.Inf(1)
	}
	return 2 / (1 - most)
}

// missesEvenIfBetter reports whether an interval would miss the bound even if it were better by a factor.
func (check boundCheck) missesEvenIfBetter(o *results.Observed, factor float64) bool {
	if o == nil || o.CI == nil {
		return false
	}
	if check.bounds.Lower != nil {
		return o.CI[1]*factor < *check.bounds.Lower
	}
	return o.CI[0]/factor > *check.bounds.Upper
}

// includeDiscarded returns the document with its discarded launches counted.
func includeDiscarded(doc *results.Document) *results.Document {
	all := *doc
	all.Cases = slices.Clone(doc.Cases)
	for i, c := range all.Cases {
		if c.Discarded() == 0 {
			continue
		}
		with := *c
		with.Launches = notDiscarded(c)
		for _, l := range c.Launches {
			if l.Discarded != "" {
				counted := *l
				counted.Discarded = ""
				with.Launches = append(with.Launches, &counted)
			}
		}
		with.Launches = upToLook(&with, c.Discarded())
		if with.Made != 0 { // those beyond the look are not missing
			with.Made -= len(c.Launches) - len(with.Launches)
		}
		all.Cases[i] = &with
	}
	return &all
}

// upToLook removes the last discarded launches, which come after the others here, so that the number of
// launches is that of an interim analysis.
func upToLook(c *results.Case, discarded int) []*results.Launch {
	n, last := len(usable(c)), 0
	for _, a := range c.Assertions {
		for _, atLaunch := range a.Looks {
			if atLaunch <= n {
				last = max(last, atLaunch)
			}
		}
	}
	if last == 0 {
		return c.Launches
	}
	return c.Launches[:len(c.Launches)-min(n-last, discarded)]
}

// allDiscarded is the outcome of assertions about a case without a usable launch. More launches are
// requested while the executor's budget lasts.
func allDiscarded(c *results.Case) outcome {
	o := outcome{verdict: results.InconclusiveVerdict, undecided: []string{c.Key}}
	o.addReasons(results.Because(results.NoUsableLaunch), discardedOf([]*results.Case{c}, true))
	return o
}

// notDiscarded returns the launches of a case that were not discarded, including failed ones.
func notDiscarded(c *results.Case) []*results.Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *results.Launch) bool { return l.Discarded != "" })
}

// discardedReason says how many launches behind a verdict were discarded, and why the last one was.
func discardedReason(sources []*source, looks []int) results.Reason {
	var cases []*results.Case
	starved := false
	first := 0
	if len(looks) > 0 {
		first = looks[0]
	}
	for _, s := range sources {
		if s.c != nil && s.c.Discarded() > 0 {
			cases = append(cases, s.c)
			starved = starved || s.c.Exhausted(first)
		}
	}
	return discardedOf(cases, starved)
}

// discardedOf is the reason for the discarded launches of cases; starved: no more launches were made
// because of them.
func discardedOf(cases []*results.Case, starved bool) results.Reason {
	n, all := 0, 0
	var last *results.Launch
	for _, c := range cases {
		n, all = n+c.Discarded(), all+len(c.Launches)
		for _, l := range c.Launches {
			if l.Discarded != "" {
				last = l
			}
		}
	}
	if last == nil {
		return results.Reason{}
	}
	kind := results.Discarded
	if starved {
		kind = results.StopKind(last)
	}
	return results.Because(kind, results.Count("discarded", n, ""), launchedOf(len(cases), all), why(last.Discarded))
}
