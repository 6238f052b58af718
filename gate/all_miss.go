package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// impliedMiss returns a reason if a subject misses its bounds although its interval has one in it, and the side.
func (eval *evaluator) impliedMiss(
	check boundCheck, sources []*source, est *subjectEstimate, atLaunch int,
) (results.Reason, position) {
	if r, side := eval.otherQuantileMisses(check, sources, atLaunch); !r.None() {
		return r, side
	}
	if est.own == nil {
		return results.Reason{}, crossing
	}
	return check.allMiss(est.own())
}

// signTest reports whether n values beyond a bound are enough for their median to lie there too (Conover, Practical
// Nonparametric Statistics, 1999, 3.4).
func signTest(n int, confidence float64) bool {
	return n > 0 && math.Exp2(-float64(n)) <= (1-confidence)/2
}

// allMiss returns a reason if all launches of a case lie beyond one bound, and are enough for the sign test. Student's
// interval may have the bound in it all the same, if one launch misses by far more than the others.
func (check boundCheck) allMiss(own []float64) (results.Reason, position) {
	if !signTest(len(own), check.fail) {
		return results.Reason{}, crossing
	}
	b := check.withHalo()
	side := locate(b, estimate{own[0], own[0], own[0], 1})
	for _, v := range own {
		if at := locate(b, estimate{v, v, v, 1}); at != side || at != below && at != above {
			return results.Reason{}, crossing
		}
	}
	return results.Because(results.AllMiss, launched(len(own))), side
}

// perLaunch returns the value of a subject of several cases by launch number, if the cases took turns; nil if they did
// not, or if it is none of its means: the largest of several in each launch is above the largest mean.
func (check boundCheck) perLaunch(c *combination) []float64 {
	sources := c.sources
	stored := func(s *source) bool { return s.c == nil }
	if slices.ContainsFunc(sources, stored) || len(c.clusters) != 1 || choosesCases(check.subject) {
		return nil
	}
	launches := map[string]map[int]*results.Launch{} // by case and number
	for _, source := range sources {
		launches[source.key] = map[int]*results.Launch{}
		for _, l := range source.launches {
			launches[source.key][l.Index] = l
		}
	}
	var out []float64
	for _, l := range sources[0].launches {
		complete := true
		v, err := check.subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
			of := launches[check.sourceOf(leaf).key][l.Index]
			if of == nil {
				complete = false
				return 1, nil
			}
			return metricOf(of, leaf.Metric)
		}, check.unit)
		switch {
		case err != nil:
			return nil
		case complete:
			out = append(out, quantity.Round(v))
		}
	}
	return out
}

// choosesCases reports whether an expression takes some of several cases, as a largest value or a median does.
func choosesCases(e *assertion.Expr) bool {
	return e.Op == assertion.Min || e.Op == assertion.Max || e.Op == assertion.Median ||
		slices.ContainsFunc(e.Args, choosesCases)
}

// missedWithoutOutliers returns on which side of the bounds the other launches lie, if all outliers are on that side of
// the others: they widen the interval, and only add to the miss. crossing: it is not so.
func (est *subjectEstimate) missedWithoutOutliers(check boundCheck) position {
	if est.withoutOutliers == nil {
		return crossing
	}
	if side := check.locate(est.withoutOutliers); side == est.outlierSide && (side == below || side == above) {
		return side
	}
	return crossing
}

// sideOfMarked returns below or above if all marked values are on that side of all others, else crossing.
func sideOfMarked(values []float64, marked []bool) position {
	least, most := limitsOfOthers(values, marked)
	under, over := true, true
	for i, v := range values {
		if marked[i] {
			under, over = under && v < least, over && v > most
		}
	}
	switch {
	case under && !over:
		return below
	case over && !under:
		return above
	}
	return crossing
}
