package results

import "math"

// Quantile is a share of sorted values in parts of 100 000, so that ranks are whole
// numbers without rounding: 99 % of 100 values are 99 of them.
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

// sure is the confidence with which the longest of enough values is beyond a quantile: that of one side of an
// interval of Confidence.
const sure = 1 - (1-Confidence)/2

// Enough is the least number of values whose longest bounds the quantile of all that might have been
// measured: with confidence 0.98 it is beyond that, 1 - q^n >= 0.98 (David and Nagaraja, Order
// Statistics, 2003, section 7.1). p50 takes 6, p90 38, p99 390. A maximum is bounded by nothing.
func (q Quantile) Enough() int64 {
	if q <= Minimum || q >= Maximum {
		return 1
	}
	return int64(math.Ceil(math.Log(1-sure) / math.Log(float64(q)/float64(Maximum))))
}

// TenBeyond is the least number of values of which ten lie beyond the quantile, 10/(1-q), so that it is
// more than what chance made of the last few: p50 takes 20, p99 1000.
func (q Quantile) TenBeyond() int64 {
	rest := int64(Maximum - q)
	if rest <= 0 {
		return 1
	}
	return (10*int64(Maximum) + rest - 1) / rest
}

// NearestRank is the rank, counted from 1, of the quantile of n sorted values: the
// least rank that has at least this share of the values at or below it. It is the
// definition of every quantile of weir; engine/native/stage.c has it for C.
func NearestRank(n int64, q Quantile) int64 {
	whole, rest := n/int64(Maximum), n%int64(Maximum) // n times q may overflow
	rank := whole*int64(q) + (rest*int64(q)+int64(Maximum)-1)/int64(Maximum)
	return min(max(rank, 1), n)
}

// roundedRank is what versions before NearestRank took: the rank to the nearest whole
// number, which is up to one too low.
func roundedRank(n int64, q Quantile) int64 {
	rank := int64(float64(q)/float64(Maximum)*float64(n) + 0.5)
	return min(max(rank, 1), n)
}
