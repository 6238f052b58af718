package gate

import (
	"github.com/weir-bench/weir/results/assertion"
)

// extreme is the estimate of the largest or the least of metrics of several cases, from the intervals of each; nil of
// another subject. The largest is at most B if each is, and above B if one is: its upper limit is the largest of the
// upper limits, and its lower limit the largest of the lower limits, at a confidence that allows for the choice among
// k (Bonferroni). The delta method takes the case with the largest estimate, which is the largest by chance if the
// cases are nearly equal: of 16 equal cases at their bound, 18 % failed.
func (eval *evaluator) extreme(check boundCheck, sources []*source, atLaunch int) (at, withoutOutliers interval) {
	args, largest := check.subject.Args, check.subject.Op == assertion.Max
	if !largest && check.subject.Op != assertion.Min || len(args) < 2 {
		return nil, nil
	}
	each, rest := make([]interval, len(args)), make([]interval, len(args))
	for i, arg := range args {
		s := check.sourceFor(sources, arg)
		if s == nil {
			return nil, nil
		}
		one := check
		one.subject, one.own = arg, s.c
		est, err := eval.estimateFor(one, []*source{s}, atLaunch)
		if err != nil {
			return nil, nil
		}
		if each[i], rest[i] = est.at, est.at; est.withoutOutliers != nil {
			rest[i] = est.withoutOutliers
		}
	}
	return extremeOf(each, largest), extremeOf(rest, largest)
}

// sourceFor is the source of a metric of this session; nil of another expression.
func (check boundCheck) sourceFor(sources []*source, arg *assertion.Expr) *source {
	if arg.Op != assertion.Metric {
		return nil
	}
	k := check.sourceOf(arg)
	for _, s := range sources {
		if s.key == k.key && s.c != nil && !k.baseline {
			return s
		}
	}
	return nil
}

// extremeOf joins the intervals of the operands. The inner limit of each is at a higher confidence, because the operand
// that decides it may be the farthest by chance.
func extremeOf(each []interval, largest bool) interval {
	return func(confidence float64) estimate {
		chosen := divided(confidence, len(each))
		var out estimate
		for i, at := range each {
			e, wide := at(confidence), at(chosen)
			if largest {
				e.lo = wide.lo
			} else {
				e.hi = wide.hi
			}
			switch {
			case i == 0:
				out = e
			case largest:
				out = estimate{max(out.center, e.center), max(out.lo, e.lo), max(out.hi, e.hi), min(out.n, e.n)}
			default:
				out = estimate{min(out.center, e.center), min(out.lo, e.lo), min(out.hi, e.hi), min(out.n, e.n)}
			}
		}
		return out
	}
}
