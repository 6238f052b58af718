// Package gate turns what launches measured into estimates and verdicts.
//
// Its stance: a verdict is a statement about launches, never about iterations;
// the band is the contract and noise never widens it, noise buys more launches
// or the answer "inconclusive"; what was not measured, not finite, not verified
// or not possible is an error and can never pass; nothing is dropped. Every
// function is pure: the same document gives the same verdicts on every machine,
// in whatever order its launches are stored.
package gate

import (
	"runtime"
	"slices"
	"sync"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// Judge fills in everything that follows from the launches of a document: the
// metric estimates and the validity of each case, all verdicts, what variants gain, the
// summary, and the session's status and exit code. Judging again changes nothing.
func Judge(doc *results.Document) {
	eval := newEvaluator(doc)
	between := eval.sessionsOf()
	atOnce(doc.Cases, func(_ int, c *results.Case) {
		c.Metrics = estimates(eval.metrics, c)
		for i, name := range c.Metrics.Names() {
			m := &c.Metrics.Values()[i]
			m.Components = variances(c, name, *m, between[c.Key])
		}
		c.WarmUp = warmUp(c.Succeeded())
	})
	for _, c := range doc.Cases {
		c.Invalid = eval.invalid[c]
		if m, ok := availabilityOf(c); ok && (eval.lossy[c] || m.Value < 1) {
			c.Metrics.Set(workload.Availability.Name, m)
		}
		if eval.lossy[c] && measured(c) {
			c.Invalid = unsound(c)
		}
	}
	all := statements(doc)
	outcomes := make([]outcome, len(all))
	atOnce(all, func(i int, m matter) { outcomes[i] = eval.judge(m) })
	for i, m := range all {
		outcomes[i] = eval.standIn(m.a, outcomes[i])
	}
	eval.excuse(all, outcomes)
	atOnce(all, func(i int, m matter) { settle(m.a, outcomes[i], doc.Session.Started) })
	showDeciding(doc)
	fillGains(doc)
	doc.Summarize()
	doc.Session.ExitCode = ExitCode(doc)
	doc.Session.Status = status(doc.Session.ExitCode)
}

// atOnce looks at all of a list, each by itself, on all processors.
func atOnce[T any](list []T, look func(i int, one T)) {
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

// Undecided lists, in document order, the keys of the cases that need more
// launches: those that gate and warn assertions involve which are not decided and
// have a look left. Assertions of severity info never ask for launches.
func Undecided(doc *results.Document) []string {
	eval := newEvaluator(doc)
	all := statements(doc)
	undecided := make([][]string, len(all))
	atOnce(all, func(i int, m matter) {
		if m.a.Severity != assertion.Info {
			undecided[i] = behind(eval, eval.judge(m).undecided)
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

// behind are the cases that have the fewest launches. What an assertion says of
// several cases is decided when all of them have as many: the others wait, above
// all for a case that has not had its turn yet.
func behind(eval *evaluator, keys []string) []string {
	var out []string
	least := 0
	for _, key := range keys {
		c := eval.cases[key]
		if c == nil {
			continue // no more launches of a key that two cases have would tell them apart
		}
		n := len(counting(c))
		if len(out) == 0 || n < least {
			out, least = nil, n
		}
		if n == least {
			out = append(out, key)
		}
	}
	return out
}

// nextLook is the number of launches after which the gate looks next, 0 if
// there is no look left.
func nextLook(looks []int, have int) int {
	next := 0
	for _, l := range looks {
		if l > have && (next == 0 || l < next) {
			next = l
		}
	}
	return next
}

// atLook says whether n launches are a point at which the gate may decide. The
// confidence is paid for by the planned looks; deciding also between them would
// be more looks. An assertion without looks is judged on what there is.
func atLook(looks []int, n int) bool {
	return len(looks) == 0 || slices.Contains(looks, n) || n > slices.Max(looks)
}

// outcome is what the rules say of an assertion before its severity counts.
type outcome struct {
	verdict   results.Verdict
	undecided []string // keys of the cases whose further launches may decide it
	observed  *results.Observed
	message   string
	deciding  int             // how many launches would decide what is inconclusive; 0: nobody knows
	obstacle  obstacle        // why no number of launches would
	spoiled   []*results.Case // the cases that are the cause of an error, where nothing else is
}

func failed(reason string) outcome {
	return outcome{verdict: results.ErrorVerdict, message: reason}
}

// matter is an assertion with the case that it belongs to, nil of one over several.
type matter struct {
	c *results.Case
	a *results.AssertionVerdict
}

// statements are all assertions, in the order of the document.
func statements(doc *results.Document) []matter {
	var all []matter
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			all = append(all, matter{c, a})
		}
	}
	for _, a := range doc.Assertions {
		all = append(all, matter{nil, a})
	}
	return all
}

// evaluator is a document while it is judged.
type evaluator struct {
	doc     *results.Document
	metrics *workload.Definitions
	cases   map[string]*results.Case
	invalid map[*results.Case]string          // why what a case measured cannot be used
	lossy   map[*results.Case]bool            // whose failed launches an assertion counts
	family  map[*results.AssertionVerdict]int // by how much the error budget of failing is divided
	whole   bool                              // the session got to its end
	over    bool                              // and no further launch will be made
	pools   sync.Map                          // poolKey → the spreads of comparable cases
	voids   func() *evaluator                 // the same where void launches count
}

func newEvaluator(doc *results.Document) *evaluator {
	eval := &evaluator{
		doc: doc, metrics: workload.DefinitionsOf(doc), cases: make(map[string]*results.Case, len(doc.Cases)),
		invalid: map[*results.Case]string{}, whole: whole(doc),
		over: whole(doc) && !doc.Session.Finished.IsZero(),
	}
	reasons := make([]string, len(doc.Cases))
	atOnce(doc.Cases, func(i int, c *results.Case) {
		if measured(c) {
			reasons[i] = invalid(c)
		}
		if why := fillLink(doc, eval.metrics, c); reasons[i] == "" {
			reasons[i] = why
		}
	})
	for i, c := range doc.Cases {
		if reasons[i] != "" {
			eval.invalid[c] = reasons[i]
		}
		if _, twice := eval.cases[c.Key]; twice {
			eval.cases[c.Key] = nil // a key that two cases have names neither
			continue
		}
		eval.cases[c.Key] = c
	}
	eval.voids = sync.OnceValue(func() *evaluator { return newEvaluator(countingVoids(doc)) })
	eval.lossy = eval.accountedFor()
	eval.family = eval.families()
	return eval
}

func (eval *evaluator) judge(m matter) outcome { return eval.judgeAs(m, max(eval.family[m.a], 1)) }

// judgeAs judges an assertion that may use one part in share of its error budget
// for failing.
func (eval *evaluator) judgeAs(m matter, share int) outcome {
	c, a := m.c, m.a
	if err := a.Check(); err != nil {
		return failed(err.Error())
	}
	if o, bad := eval.elsewhere(a.Reference); bad {
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
	subject := eval.present(a.Subject, gone)
	if subject == nil {
		return outcome{verdict: results.SkippedVerdict, message: noneRan}
	}
	o := eval.judgeClaim(claim{
		metrics: eval.metrics, subject: subject, unit: a.Unit, written: a.Written, bounds: a.Bounds,
		target: a.Target, halo: a.Halo,
		looks: a.Looks, own: c, levels: lv, noise: a.Noise,
	})
	o.message += absence(gone)
	return o
}

// runnable are the keys whose cases can still be launched.
func (eval *evaluator) runnable(keys []string) []string {
	var out []string
	for _, k := range keys {
		if c := eval.cases[k]; c != nil && measured(c) {
			out = append(out, k)
		}
	}
	return out
}
