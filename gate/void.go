package gate

import (
	"fmt"
	"math"
	"slices"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// A void launch succeeded and did not have its processors (results.Launch.Void): what it measured
// is of the host's other work. It is no failure of what is gated, so it neither fails nor
// passes anything; the executor made another one instead, as long as its budget lasted.

// judgeClaim judges by the launches that count. Where these decide nothing and what disturbed a launch can
// only have made its value worse, void launches count too: a bound that they keep is kept, and one
// that they miss by more than the disturbance can have cost is missed.
func (eval *evaluator) judgeClaim(cl claim) outcome {
	o := eval.judgeCounted(cl)
	if o.verdict != results.InconclusiveVerdict || cl.own == nil || cl.own.Voids() == 0 || !cl.onlyWorsened() {
		return o
	}
	all := eval.voids()
	own := all.cases[cl.own.Key]
	if own == nil {
		return o
	}
	cost, voids := costOfDisturbance(cl.own), cl.own.Voids()
	cl.own = own
	with := all.judgeCounted(cl)
	switch {
	case with.verdict == results.Pass:
		with.message += fmt.Sprintf("; with %s, whose disturbance cannot have made it better", voidLaunches(voids))
	case with.verdict == results.Fail && cl.missedBy(with.observed, cost):
		with.message += fmt.Sprintf("; with %s, whose disturbance cannot have cost so much", voidLaunches(voids))
	default:
		return o
	}
	return with
}

func voidLaunches(n int) string {
	if n == 1 {
		return "1 void launch"
	}
	return fmt.Sprintf("%d void launches", n)
}

// onlyWorsened is whether a launch without its processors can only have come closer to what the claim
// forbids: it bounds one metric of its case, on the side on which worse values are.
func (cl claim) onlyWorsened() bool {
	if cl.subject.Op != assertion.Metric || cl.subject.Case != "" || cl.subject.Baseline {
		return false
	}
	m, ok := cl.metrics.Metric(cl.own, cl.subject.Metric)
	return ok && (m.Better == workload.Higher && cl.bounds.Upper == nil ||
		m.Better == workload.Lower && cl.bounds.Lower == nil)
}

// costOfDisturbance is the factor by which the void launches of a case may be worse than they would
// have been: ranks wait for each other, so that what each of them lost adds up, and twice that, for
// caches and clocks.
func costOfDisturbance(c *results.Case) float64 {
	most := 0.
	for _, l := range c.Launches {
		if l.Void != "" {
			most = max(most, l.Lost())
		}
	}
	if most == 0 || most >= 1 { // nothing says how much, or all of it
		return math.Inf(1)
	}
	return 2 / (1 - most)
}

// missedBy is whether an interval would lie outside of the bound if it were better by a factor.
func (cl claim) missedBy(o *results.Observed, factor float64) bool {
	if o == nil || o.CI == nil {
		return false
	}
	if cl.bounds.Lower != nil {
		return o.CI[1]*factor < *cl.bounds.Lower
	}
	return o.CI[0]/factor > *cl.bounds.Upper
}

// countingVoids is the document with its void launches as if they were not.
func countingVoids(doc *results.Document) *results.Document {
	all := *doc
	all.Cases = slices.Clone(doc.Cases)
	for i, c := range all.Cases {
		if c.Voids() == 0 {
			continue
		}
		with := *c
		with.Launches = made(c)
		for _, l := range c.Launches {
			if l.Void != "" {
				counted := *l
				counted.Void = ""
				with.Launches = append(with.Launches, &counted)
			}
		}
		with.Launches = upToLook(&with, c.Voids())
		all.Cases[i] = &with
	}
	return &all
}

// upToLook are the launches of a case without the last void ones, which stand behind the others here, so that as many
// count as a look has: the confidence is paid for by looks.
func upToLook(c *results.Case, voids int) []*results.Launch {
	n, last := len(counting(c)), 0
	for _, a := range c.Assertions {
		for _, look := range a.Looks {
			if look <= n {
				last = max(last, look)
			}
		}
	}
	if last == 0 {
		return c.Launches
	}
	return c.Launches[:len(c.Launches)-min(n-last, voids)]
}

// allVoid is the outcome of assertions about a case of which no launch counts. It is wanted
// again while the budget lasts, which the executor knows.
func allVoid(c *results.Case) outcome {
	return outcome{verdict: results.InconclusiveVerdict, undecided: []string{c.Key}, message: c.OnlyVoid()}
}

// made are the launches of a case that are not void, whatever became of them.
func made(c *results.Case) []*results.Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *results.Launch) bool { return l.Void != "" })
}

// voided says how many launches behind a verdict did not count, and why the last of them.
func voided(sources []*source) string {
	n, all, why := 0, 0, ""
	for _, s := range sources {
		if s.c == nil || s.c.Voids() == 0 {
			continue
		}
		n, all, why = n+s.c.Voids(), all+len(s.c.Launches), s.c.WhyVoid()
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s, the last because %s", results.VoidText(n, all), why)
}
