package gate

import (
	"fmt"
	"math"

	"weir/results"
)

// A statement about all or any of several bands is judged band by band. That all
// hold is shown when each is shown at the usual confidence, and that none does
// when each is refuted at it: an intersection of statements costs nothing (Berger,
// Technometrics 24, 1982). That one of them fails, or holds, has as many chances
// to be wrong as there are parts, so all() divides the error budget of failing by
// their number and any() that of passing (Bonferroni, which is the first step of
// Holm's procedure and the only one that counts here).

// part is one band of a quantified statement, judged.
type part struct {
	outcome
	key    string
	margin float64 // of the estimate from the nearer bound, as a share of it
}

func (eval *evaluator) judgeParts(a *results.AssertionVerdict, lv levels) outcome {
	var claims []claim
	gone := map[string]bool{}
	for _, p := range a.Parts {
		c := eval.cases[p.Case]
		switch {
		case c == nil:
			return failed(fmt.Sprintf("case %s is not in the document", p.Case))
		case eval.absent(c):
			gone[c.Key] = true
			continue
		}
		claims = append(claims, claim{
			metrics: eval.metrics, subject: p.Subject, unit: p.Unit, written: p.Written, bounds: p.Bounds,
			target: p.Target, halo: a.Halo,
			looks: a.Looks, own: c, noise: a.Noise,
		})
	}
	if len(claims) == 0 {
		return outcome{verdict: results.SkippedVerdict, message: noneRan}
	}
	all := a.Quantifier == "all"
	if all {
		lv = lv.forFailing(len(claims))
	} else {
		lv = lv.forPassing(len(claims))
	}
	parts := make([]part, len(claims))
	for i, cl := range claims {
		cl.levels = lv
		o := eval.judgeClaim(cl)
		parts[i] = part{o, cl.own.Key, margins(cl, o.observed)}
	}
	o := overParts(all, parts)
	o.message += absence(gone)
	return o
}

// margins is how far an estimate lies from the nearer bound, as a share of it.
func margins(cl claim, o *results.Observed) float64 {
	if o == nil || cl.bounds.Lower == nil && cl.bounds.Upper == nil {
		return 0
	}
	bound := nearest(cl.bounds, o.Value)
	return math.Abs(o.Value-bound) / max(math.Abs(bound), math.SmallestNonzeroFloat64)
}

// Verdicts that decide a quantified statement, first come first served.
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

// overParts is the verdict over all parts: that of the first part that decides it.
func overParts(all bool, parts []part) outcome {
	order, word := overAny, "any"
	if all {
		order, word = overAll, "all"
	}
	for _, v := range order {
		var of []part
		for _, p := range parts {
			if p.verdict == v {
				of = append(of, p)
			}
		}
		if len(of) == 0 {
			continue
		}
		telling := of[0]
		for _, p := range of { // the one that a reader asks for: furthest if it decides alone, else nearest
			if alone := all == (v == results.Fail); alone == (p.margin > telling.margin) && p.margin != telling.margin {
				telling = p
			}
		}
		o := outcome{verdict: v, observed: telling.observed}
		if v == results.InconclusiveVerdict || v == results.ErrorVerdict {
			o.undecided = waiting(of)
			o.deciding, o.obstacle = needs(of)
		}
		if v == results.ErrorVerdict {
			o.spoiled = spoiledBy(of)
		}
		o.message = fmt.Sprintf("%s of %s: %d %s; %s: %s", word, counted(len(parts), "part"), len(of), v, telling.key,
			telling.message)
		return o
	}
	return failed("a part of it has an unknown verdict")
}

// spoiledBy are the cases that are the cause of parts that are errors; none where a part has
// another cause.
func spoiledBy(parts []part) []*results.Case {
	var all []*results.Case
	for _, p := range parts {
		if len(p.spoiled) == 0 {
			return nil
		}
		all = append(all, p.spoiled...)
	}
	return all
}

// needs is how many launches decide the neediest of some parts, 0 where nothing decides one of them, which says why.
func needs(parts []part) (deciding int, o obstacle) {
	for _, p := range parts {
		if deciding = max(deciding, p.deciding); p.deciding == 0 {
			return 0, p.obstacle
		}
	}
	return deciding, o
}

// waiting are the cases that more launches may decide. Parts that cannot be
// judged at all keep them from it.
func waiting(parts []part) []string {
	var keys []string
	for _, p := range parts {
		keys = append(keys, p.undecided...)
	}
	return keys
}
