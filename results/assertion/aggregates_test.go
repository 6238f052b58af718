package assertion

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Every row of the table says of its value and derivative what the others rely on.
func TestAggregatesAreTheirDerivatives(t *testing.T) {
	for _, a := range Aggregates() {
		if row, ok := a.Op.Aggregate(); !ok || row.Doc == "" || row.Doc != a.Doc {
			t.Errorf("%s: %+v", a.Op, row)
		}
		rapid.Check(t, func(t *rapid.T) {
			// The operands lie apart, so that a small step leaves their order.
			operands := rapid.Permutation([]float64{1, 2, 3.5, 5, 8,
				13}[:rapid.IntRange(1, 6).Draw(t, "count")]).Draw(t, "operands")
			value := a.Eval(operands)
			if a.Positive && !(value > 0) {
				t.Fatalf("%s of positive %v is %v", a.Op, operands, value)
			}
			const step = 1e-6
			for i, got := range a.Grad(operands, value) {
				x := operands[i]
				operands[i] = x + step
				up := a.Eval(operands)
				operands[i] = x - step
				down := a.Eval(operands)
				operands[i] = x
				if want := (up - down) / (2 * step); math.Abs(got-want) > 1e-6 {
					t.Fatalf("%s of %v has the derivative %v by operand %d, want %v", a.Op, operands, got, i, want)
				}
			}
		})
	}
}

// Operands that are equal share the derivative, which of a value in common is one in all.
func TestEqualOperandsShareTheDerivative(t *testing.T) {
	for _, a := range Aggregates() {
		for n := 1; n < 6; n++ {
			operands := make([]float64, n)
			for i := range operands {
				operands[i] = 2
			}
			for i, d := range a.Grad(operands, a.Eval(operands)) {
				if math.Abs(d-1/float64(n)) > 1e-12 {
					t.Errorf("%s of %d equal operands: derivative %v by operand %d", a.Op, n, d, i)
				}
			}
		}
	}
}

func TestMedianOfLargeValues(t *testing.T) {
	if v := median([]float64{1, math.MaxFloat64, math.MaxFloat64}); v != math.MaxFloat64 {
		t.Error(v)
	}
}
