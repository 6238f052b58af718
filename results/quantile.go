package results

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

// beyond is how many of the values that a quantile is of must lie beyond it, so that it is more
// than what chance made of the last few.
const beyond = 10

// TooFew is whether fewer than ten of so many values are beyond a quantile, which then says little of
// where the quantile of all that might have been is.
func (q Quantile) TooFew(values int64) bool {
	return values < 1<<40 && values*int64(Maximum-q) < beyond*int64(Maximum) || q == Maximum
}

// Enough is the least number of values that are not too few.
func (q Quantile) Enough() int64 {
	rest := int64(Maximum - q)
	return (beyond*int64(Maximum) + rest - 1) / rest
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
