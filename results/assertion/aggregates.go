package assertion

import (
	"math"
	"slices"
)

// The aggregates. A new one needs a constant, a row of aggregates and a word in results/schema.json.
const (
	Min     Op = "min"
	Max     Op = "max"
	Mean    Op = "mean"
	Geomean Op = "geomean"
	Median  Op = "median"
)

// Aggregate is an operation over one or more operands.
type Aggregate struct {
	Op  Op
	Doc string
	// Eval returns the value; it does not modify the operands.
	Eval func(operands []float64) float64
	// Grad returns the derivative by each operand, given the value of Eval. Operands that tie share the
	// derivative.
	Grad       func(operands []float64, value float64) []float64
	Positive   bool // positive operands give a positive value
	OfPositive bool // the operands must be positive
}

var aggregates = []Aggregate{
	{Op: Min, Doc: "the least", Eval: slices.Min[[]float64], Grad: shareOf, Positive: true},
	{Op: Max, Doc: "the greatest", Eval: slices.Max[[]float64], Grad: shareOf, Positive: true},
	{Op: Mean, Doc: "Σx/n", Eval: mean, Grad: gradMean, Positive: true},
	{
		Op: Geomean, Doc: "exp(Σ ln x / n) of positive x", Eval: geomean, Grad: gradGeomean,
		Positive: true, OfPositive: true,
	},
	{Op: Median, Doc: "the middle, or the mean of the middle two", Eval: median, Grad: gradMedian, Positive: true},
}

// Aggregates lists all aggregates in the order of the documentation.
func Aggregates() []Aggregate { return slices.Clone(aggregates) }

// Aggregate returns the operation as an aggregate; ok is false if it is not one.
func (o Op) Aggregate() (Aggregate, bool) {
	for _, a := range aggregates {
		if a.Op == o {
			return a, true
		}
	}
	return Aggregate{}, false
}

// Aggregates reports whether the operation takes any number of operands.
func (o Op) Aggregates() bool {
	_, ok := o.Aggregate()
	return ok
}

func mean(operands []float64) float64 {
	var sum float64
	for _, v := range operands {
		sum += v
	}
	return sum / float64(len(operands))
}

func gradMean(operands []float64, _ float64) []float64 {
	return slices.Repeat([]float64{1 / float64(len(operands))}, len(operands))
}

func geomean(operands []float64) float64 {
	logs := make([]float64, len(operands))
	for i, v := range operands {
		logs[i] = math.Log(v)
	}
	return math.Exp(mean(logs))
}

func gradGeomean(operands []float64, value float64) []float64 {
	out := make([]float64, len(operands))
	for i, v := range operands {
		out[i] = value / (float64(len(operands)) * v)
	}
	return out
}

func median(operands []float64) float64 {
	low, high := middle(operands)
	if low == high {
		return low // their sum may overflow
	}
	return (low + high) / 2
}

// middle returns the two middle values, which are equal for an odd count.
func middle(operands []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(operands))
	return sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
}

func gradMedian(operands []float64, _ float64) []float64 {
	low, high := middle(operands)
	out := shareOf(operands, low)
	for i, d := range shareOf(operands, high) {
		out[i] = (out[i] + d) / 2
	}
	return out
}

// shareOf divides 1 equally among the operands that have a value.
func shareOf(operands []float64, value float64) []float64 {
	equal := 0.0
	for _, v := range operands {
		if v == value {
			equal++
		}
	}
	out := make([]float64, len(operands))
	for i, v := range operands {
		if v == value {
			out[i] = 1 / equal
		}
	}
	return out
}
