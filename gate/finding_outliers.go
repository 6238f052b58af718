package gate

import (
	"math"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// decideDespiteOutliers decides a comparison of paired launches that the interval leaves unclear or by chance, in three
// cases: all pairs are beyond the margin (allMiss), the outliers only add to a regression, or only to an improvement.
// Regressions share the error of being found by chance among all comparisons of the document (Bonferroni).
func (x *contrast) decideDespiteOutliers() bool {
	e := x.effect
	verdict := x.verdictAt(x.at, 1)
	open := verdict == results.Unclear || verdict == results.Regression && !e.Change.Found
	if e.Pairs < e.New.N || e.Pairs < e.Base.N || !open {
		return false
	}
	worse, better := below, above
	if e.Better == string(workload.Lower) {
		worse, better = above, below
	}
	own := x.claim.perLaunch(x.change)
	missed, side := x.claim.allMiss(own)
	switch {
	case side == worse && x.significant(math.Exp2(1-float64(len(own)))):
		x.setFound()
		e.Verdict = results.Regression
		x.addReasons(missed, x.marginReason(results.WorseThanMargin))
	case x.rest == nil:
		return false
	case x.change.outlierSide == worse && x.verdictAt(x.rest, 1) == results.Regression &&
		x.significant(x.chanceOfRest()):
		x.setFound()
		e.Verdict = results.Regression
		x.addReasons(results.Because(results.OutliersWorsen), x.marginReason(results.WorseThanMargin))
	case x.change.outlierSide == better && x.verdictAt(x.rest, 1) == results.NoRegression:
		e.Verdict = results.NoRegression
		x.addReasons(x.marginReason(results.WithinMargin))
	default:
		return false
	}
	x.addReasons(x.marked)
	return true
}

// chanceOfRest is the p-value of the change without outliers.
func (x *contrast) chanceOfRest() float64 {
	c := x.without
	distance := math.Abs(c.center)
	if c.log {
		distance = math.Abs(math.Log(c.center))
	}
	return 2 * tail(c.df, distance/math.Sqrt(c.variance))
}

// significant reports whether a p-value is small enough for as many comparisons as the document has.
func (x *contrast) significant(p float64) bool {
	return p*float64(max(1, x.among)) <= 1-results.Confidence
}
