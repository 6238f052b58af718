package gate

import (
	"math"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// all() and any() of several bounds are judged part by part. That all hold is shown when each is shown at
// the usual confidence, and that none holds when each is refuted: an intersection needs no correction
// (Berger, Technometrics 24, 1982). all() divides the error budget of failing by the number of parts, and
// any() that of passing (Bonferroni, the first step of Holm's procedure).

// part is one judged part of an all() or any().
type part struct {
	outcome
	key    string
	margin float64 // distance from the nearer bound, as a share of it
}

func (eval *evaluator) judgeParts(a *results.AssertionVerdict, lv levels) outcome {
	var claims []boundCheck
	gone := map[string]bool{}
	for _, p := range a.Parts {
		c := eval.cases[p.Case]
		switch {
		case c == nil:
			return failed(results.Because(results.NotInDocument, results.Text("key", p.Case)))
		case eval.absent(c):
			gone[c.Key] = true
			continue
		}
		claims = append(claims, boundCheck{
			metrics: eval.metrics.In(c), subject: p.Subject, unit: p.Unit, written: p.Written, bounds: p.Bounds,
			target: p.Target, compared: p.Compared, halo: a.Halo,
			looks: a.Looks, own: c, noise: a.Noise,
		})
	}
	if len(claims) == 0 {
		return passedOver(results.Because(results.NoneRan))
	}
	o := eval.judgeEach(claims, a.Quantifier == "all", a.Quantifier, lv)
	o.addReasons(absentReasons(gone)...)
	return o
}

// judgeEach judges whether all of several bounds hold, or any; word is what reasons call that.
func (eval *evaluator) judgeEach(claims []boundCheck, all bool, word string, lv levels) outcome {
	if all {
		lv = lv.forFailing(len(claims))
	} else {
		lv = lv.forPassing(len(claims))
	}
	parts := make([]part, len(claims))
	for i, check := range claims {
		check.levels = lv
		o := eval.judgeClaim(check)
		parts[i] = part{o, check.own.Key, relativeMargin(check, o.observed)}
	}
	return overParts(all, word, parts)
}

// partsOfExtreme returns the parts of a bound of the largest or the least of several cases: max(x) <= B says that all
// are at most B, and max(x) >= B that any is at least B. ok is false of another check.
func (eval *evaluator) partsOfExtreme(check boundCheck) (claims []boundCheck, all, ok bool) {
	e, low, high := check.subject, check.bounds.Lower, check.bounds.Upper
	if e.Op != assertion.Min && e.Op != assertion.Max || len(e.Args) < 2 || (low == nil) == (high == nil) {
		return nil, false, false
	}
	for _, arg := range e.Args {
		own := eval.cases[check.sourceOf(arg).key]
		if arg.Op != assertion.Metric || arg.Baseline || own == nil {
			return nil, false, false
		}
		one := check
		one.metrics, one.subject, one.own = eval.metrics.In(own), arg, own
		claims = append(claims, one)
	}
	return claims, (e.Op == assertion.Max) == (high != nil), true
}

// relativeMargin is the distance of an estimate from the nearer bound, as a share of it.
func relativeMargin(check boundCheck, o *results.Observed) float64 {
	if o == nil || check.bounds.Lower == nil && check.bounds.Upper == nil {
		return 0
	}
	bound := wording.Nearest(check.bounds, o.Value)
	return math.Abs(o.Value-bound) / max(math.Abs(bound), math.SmallestNonzeroFloat64)
}

// Verdicts that decide a quantified assertion, in order of precedence.
var (
	overAll = []results.Verdict{
		results.ErrorVerdict, results.Fail, results.SkippedVerdict, results.InconclusiveVerdict, results.WarnVerdict,
		results.Pass,
	}
	overAny = []results.Verdict{
		results.ErrorVerdict, results.Pass, results.SkippedVerdict, results.InconclusiveVerdict, results.WarnVerdict,
		results.Fail,
	}
)

// overParts is the verdict over all parts: that of the first deciding verdict. Beside an error it tells what another
// part would decide alone.
func overParts(all bool, word string, parts []part) outcome {
	order, alone := overAny, results.Pass
	if all {
		order, alone = overAll, results.Fail
	}
	for _, v := range order {
		of := partsWith(parts, v)
		if len(of) == 0 {
			continue
		}
		telling := tellingPart(of, v == alone)
		o := outcome{verdict: v, observed: telling.observed, noise: telling.noise}
		if v == results.InconclusiveVerdict || v == results.ErrorVerdict {
			o.undecided = undecidedParts(of)
			o.deciding, o.obstacle = neediestLaunches(of)
		}
		tell := func(p part, of []part) {
			o.addReasons(results.Because(results.PartDecides, results.Text("quantifier", word),
				results.Count("parts", len(parts), "part"), results.Count("count", len(of), ""),
				results.Text("verdict", string(p.verdict))).In(p.key))
			p.prependEstimate()
			o.addReasons(p.reasons...)
		}
		tell(telling, of)
		if v == results.ErrorVerdict {
			o.causes = causesOf(of)
			if others := partsWith(parts, alone); len(others) > 0 {
				tell(tellingPart(others, true), others)
			}
		}
		return o
	}
	return invalidAssertion("one of its parts has an unknown verdict")
}

func partsWith(parts []part, v results.Verdict) (of []part) {
	for _, p := range parts {
		if p.verdict == v {
			of = append(of, p)
		}
	}
	return of
}

// tellingPart is the part of one verdict that is furthest from its bound if it decides alone, else the nearest.
func tellingPart(of []part, alone bool) part {
	telling := of[0]
	for _, p := range of {
		if alone == (p.margin > telling.margin) && p.margin != telling.margin {
			telling = p
		}
	}
	return telling
}

// causesOf returns the cases that cause the errors of parts; none if a part has another cause.
func causesOf(parts []part) []*results.Case {
	var all []*results.Case
	for _, p := range parts {
		if len(p.causes) == 0 {
			return nil
		}
		all = append(all, p.causes...)
	}
	return all
}

// neediestLaunches is the largest number of launches that a part needs; 0 with an obstacle if nothing
// decides one of them.
func neediestLaunches(parts []part) (deciding int, o obstacle) {
	for _, p := range parts {
		if deciding = max(deciding, p.deciding); p.deciding == 0 {
			return 0, p.obstacle
		}
	}
	return deciding, o
}

// undecidedParts returns the cases that more launches may decide; none if a part cannot be judged at all.
func undecidedParts(parts []part) []string {
	var keys []string
	for _, p := range parts {
		keys = append(keys, p.undecided...)
	}
	return keys
}
