// Package gate computes estimates and verdicts from the measurements of launches.
//
// A verdict is about launches, never about iterations. Bounds are fixed: noise never widens them, it
// causes more launches or the verdict "inconclusive". Values that are missing, not finite, not verified or
// impossible are errors and never pass. No launch is dropped silently. Every function is pure: the same
// document gives the same verdicts on every machine, independent of the order of its launches.
package gate

import (
	"runtime"
	"slices"
	"sync"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Judge fills in everything that is derived from the launches of a document: estimates and validity of
// cases, verdicts, gains of variants, the summary, and the session's status and exit code. It is
// idempotent.
func Judge(doc *results.Document) {
	eval := newEvaluator(doc)
	between := eval.sessionsOf()
	inParallel(doc.Cases, func(_ int, c *results.Case) {
		c.Metrics = estimates(eval.metrics, c)
		for i, name := range c.Metrics.Names() {
			m := &c.Metrics.Values()[i]
			m.Components = variances(c, name, *m, between[c.Key])
		}
		c.WarmUp = warmUp(c.Succeeded())
	})
	for _, c := range doc.Cases {
		why := eval.invalid[c]
		if m, ok := availabilityOf(c); ok && (eval.countsFailures[c] || m.Value < 1) {
			c.Metrics.Set(workload.Availability.Name, m)
		}
		if eval.countsFailures[c] && measured(c) {
			why = invalidLaunch(c)
		}
		c.Invalid, c.Reasons = wording.Sentence(why), nil
		if !why.None() {
			c.Reasons = []results.Reason{why}
		}
	}
	all := itemsOf(doc)
	outcomes := make([]outcome, len(all))
	inParallel(all, func(i int, m item) { outcomes[i] = eval.judge(m) })
	for i, m := range all {
		outcomes[i] = eval.inconclusiveAs(m.a, outcomes[i])
	}
	eval.applyMayFail(all, outcomes)
	inParallel(all, func(i int, m item) { outcomes[i].beyondCeiling = eval.beyondCeiling(m, outcomes[i]) })
	inParallel(all, func(i int, m item) { applyPolicy(m.a, outcomes[i], doc.Session.Started) })
	showDeciding(doc)
	fillGains(doc)
	fillClaims(doc, eval)
	doc.Summarize()
	doc.Session.ExitCode = ExitCode(doc)
	doc.Session.Status = status(doc.Session.ExitCode)
}

// inParallel calls a function for each element on all processors.
func inParallel[T any](list []T, look func(i int, one T)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for first := range workers {
		wg.Go(func() {
			for i := first; i < len(list); i += workers {
				look(i, list[i])
			}
		})
	}
	wg.Wait()
}

// Undecided lists, in document order, the keys of cases that need more launches: those of undecided gate
// and warn assertions with an interim analysis left. Assertions of severity info never cause launches.
func Undecided(doc *results.Document) []string {
	eval := newEvaluator(doc)
	all := itemsOf(doc)
	undecided := make([][]string, len(all))
	inParallel(all, func(i int, m item) {
		if m.a.MayAskLaunches() {
			undecided[i] = withFewestLaunches(eval, eval.judge(m).undecided)
		}
	})
	need := map[string]bool{}
	for _, keys := range undecided {
		for _, key := range keys {
			need[key] = true
		}
	}
	var keys []string
	for _, c := range doc.Cases {
		if need[c.Key] {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// withFewestLaunches selects the cases with the fewest launches. An assertion over several cases is
// decided when all have the same number, so the others wait.
func withFewestLaunches(eval *evaluator, keys []string) []string {
	var out []string
	least := 0
	for _, key := range keys {
		c := eval.cases[key]
		if c == nil {
			continue // further launches would break the tie of a duplicate key
		}
		n := len(usable(c))
		if len(out) == 0 || n < least {
			out, least = nil, n
		}
		if n == least {
			out = append(out, key)
		}
	}
	return out
}

// nextAnalysis is the number of launches at the next interim analysis; 0: none is left.
func nextAnalysis(looks []int, have int) int {
	next := 0
	for _, l := range looks {
		if l > have && (next == 0 || l < next) {
			next = l
		}
	}
	return next
}

// analysisDue reports whether the gate may decide after n launches. The error budget covers the planned
// analyses only. An assertion without planned analyses is always judged.
func analysisDue(looks []int, n int) bool {
	return len(looks) == 0 || slices.Contains(looks, n) || n > slices.Max(looks)
}

// outcome is the result of an assertion before severity and policy apply.
type outcome struct {
	verdict   results.Verdict
	undecided []string // keys of cases that more launches may decide
	observed  *results.Observed
	estimate  func() []results.Reason // of the estimate; computed only when displayed
	reasons   []results.Reason
	noise     results.Reason  // what was known of it
	deciding  int             // launches that would decide an inconclusive assertion; 0: unknown
	obstacle  obstacle        // why no number of launches would
	causes    []*results.Case // cases that cause an error, if nothing else does
	// beyondCeiling says that it fails by more than its xfail accepts.
	beyondCeiling bool
	// replaced says that a policy gave the verdict instead of inconclusive.
	replaced bool
}

func failed(r results.Reason) outcome {
	return outcome{verdict: results.ErrorVerdict, reasons: []results.Reason{r}}
}

func passedOver(r results.Reason) outcome {
	return outcome{verdict: results.SkippedVerdict, reasons: []results.Reason{r}}
}

// item is an assertion with its case; nil for an assertion over several.
type item struct {
	c *results.Case
	a *results.AssertionVerdict
}

// itemsOf returns all assertions, in the order of the document.
func itemsOf(doc *results.Document) []item {
	var all []item
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			all = append(all, item{c, a})
		}
	}
	for _, a := range doc.Assertions {
		all = append(all, item{nil, a})
	}
	return all
}

// evaluator judges one document.
type evaluator struct {
	doc            *results.Document
	metrics        *workload.Definitions
	cases          map[string]*results.Case
	invalid        map[*results.Case]results.Reason  // why the values of a case are unusable
	countsFailures map[*results.Case]bool            // cases with an assertion on availability
	family         map[*results.AssertionVerdict]int // divisor of the error budget of failing
	full           bool                              // the session ran to its end
	finished       bool                              // and no launch will follow
	pools          sync.Map                          // poolKey → variances of comparable cases
	withDiscarded  func() *evaluator                 // evaluator that includes discarded launches
}

func newEvaluator(doc *results.Document) *evaluator {
	eval := &evaluator{
		doc: doc, metrics: workload.DefinitionsOf(doc), cases: make(map[string]*results.Case, len(doc.Cases)),
		invalid: map[*results.Case]results.Reason{}, full: ranToEnd(doc),
		finished: ranToEnd(doc) && !doc.Session.Finished.IsZero(),
	}
	eval.metrics = eval.metrics.Among(func(key string) *results.Case { return eval.cases[key] })
	reasons := make([]results.Reason, len(doc.Cases))
	inParallel(doc.Cases, func(i int, c *results.Case) {
		if measured(c) {
			reasons[i] = invalid(c)
		}
		fillLink(doc, eval.metrics, c)
		if reasons[i].None() {
			reasons[i] = exceedsLinks(doc, c)
		}
	})
	for i, c := range doc.Cases {
		if !reasons[i].None() {
			eval.invalid[c] = reasons[i]
		}
		if _, twice := eval.cases[c.Key]; twice {
			eval.cases[c.Key] = nil // ambiguous
			continue
		}
		eval.cases[c.Key] = c
	}
	eval.withDiscarded = sync.OnceValue(func() *evaluator { return newEvaluator(includeDiscarded(doc)) })
	eval.countsFailures = eval.casesCountingFailures()
	eval.family = eval.families()
	return eval
}

func (eval *evaluator) judge(m item) outcome { return eval.judgeAs(m, max(eval.family[m.a], 1)) }

// judgeAs judges an assertion with its error budget of failing divided by share.
func (eval *evaluator) judgeAs(m item, share int) outcome {
	c, a := m.c, m.a
	if err := a.Check(); err != nil {
		return invalidAssertion(err.Error())
	}
	if o, bad := eval.checkReference(a.Reference); bad {
		return o
	}
	lv := levelsOf(a).forFailing(share)
	switch {
	case a.Trend != nil:
		return eval.judgeTrend(a, lv)
	case a.Quantifier != "":
		return eval.judgeParts(a, lv)
	case a.Transport != nil:
		return eval.judgeTransport(c, a)
	case a.Provider != nil:
		return eval.judgeProvider(c, a)
	}
	gone := map[string]bool{}
	subject := eval.withoutAbsent(a.Subject, gone)
	if subject == nil {
		return passedOver(results.Because(results.NoneRan))
	}
	check := boundCheck{
		metrics: eval.metrics.In(c), subject: subject, unit: a.Unit, written: a.Written, bounds: a.Bounds,
		target: a.Target, compared: a.Compared, halo: a.Halo,
		looks: a.Looks, own: c, levels: lv, noise: a.Noise,
	}
	var o outcome
	if parts, all, ok := eval.partsOfExtreme(check); ok {
		o = eval.judgeEach(parts, all, string(subject.Op), lv)
	} else {
		o = eval.judgeClaim(check)
	}
	o.addReasons(absentReasons(gone)...)
	return o
}

// runnable returns the keys of cases that can be launched.
func (eval *evaluator) runnable(keys []string) []string {
	var out []string
	for _, k := range keys {
		if c := eval.cases[k]; c != nil && measured(c) {
			out = append(out, k)
		}
	}
	return out
}
