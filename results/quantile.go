package results

import "math"

// Quantile is a share of sorted values in parts of 100 000, so that ranks are exact: 99 % of 100 values
// are 99.
type Quantile int64

// The quantiles that metrics have.
const (
	Minimum Quantile = 0
	P50     Quantile = 50_000
	P90     Quantile = 90_000
	P95     Quantile = 95_000
	P99     Quantile = 99_000
	P999    Quantile = 99_900
	Maximum Quantile = 100_000
)

// oneSidedConfidence is the confidence of one side of an interval of Confidence.
const oneSidedConfidence = 1 - (1-Confidence)/2

// Enough is the smallest number of values with a longest one beyond the true quantile with confidence
// 0.98, 1 - q^n >= 0.98 (David and Nagaraja, Order Statistics, 2003, section 7.1): p50 takes 6, p90 38,
// p99 390. A maximum has no such number.
func (q Quantile) Enough() int64 {
	if q <= Minimum || q >= Maximum {
		return 1
	}
	return int64(math.Ceil(math.Log(1-oneSidedConfidence) / math.Log(float64(q)/float64(Maximum))))
}

// TenBeyond is the smallest number of values with ten beyond the quantile, 10/(1-q): p50 takes 20, p99
// 1000.
func (q Quantile) TenBeyond() int64 {
	rest := int64(Maximum - q)
	if rest <= 0 {
		return 1
	}
	return (10*int64(Maximum) + rest - 1) / rest
}

// NearestRank is the rank, from 1, of a quantile of n sorted values, ceil(n·q): the lowest with at least this share
// of the values at or below it, definition 1 of R. J. Hyndman and Y. Fan, Sample quantiles in statistical packages, The
// American Statistician 50 (1996). All quantiles of weir use it; nearest_rank_99 in engine/native/hist_stage.c is the
// same rule for 99 % in C.
func NearestRank(n int64, q Quantile) int64 {
	whole, rest := n/int64(Maximum), n%int64(Maximum) // n times q may overflow
	rank := whole*int64(q) + (rest*int64(q)+int64(Maximum)-1)/int64(Maximum)
	return min(max(rank, 1), n)
}

// roundedRank is the definition before NearestRank: the rank rounded to a whole number, up to one too low.
func roundedRank(n int64, q Quantile) int64 {
	rank := int64(float64(q)/float64(Maximum)*float64(n) + 0.5)
	return min(max(rank, 1), n)
}
