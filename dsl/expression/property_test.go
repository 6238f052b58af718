package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// drawn is an expression as text, with its value at a case: rates in GB/s.
type drawn struct {
	text string
	at   func(s Scope) float64
}

// drawer writes random terms of the run main and knows their values.
type drawer struct {
	t      *rapid.T
	cases  *sweptCases
	values map[string]float64 // by metric and case
}

func (d *drawer) value(metric, key string) float64 { return d.values[metric+"@"+key] }

func (d *drawer) term(depth int, aggregates bool) drawn {
	kinds := []int{0, 1, 2, 3}
	if depth > 0 {
		kinds = append(kinds, 4, 5, 6, 7)
	}
	if aggregates {
		kinds = append(kinds, 8, 9)
	}
	switch rapid.SampledFrom(kinds).Draw(d.t, "kind") {
	case 0, 1:
		m := rapid.SampledFrom([]string{"bandwidth", "ceiling.bandwidth"}).Draw(d.t, "metric")
		return drawn{m, func(s Scope) float64 { return d.value(m, s.Key) }}
	case 2:
		return drawn{
			`run("tcp").bandwidth`, func(s Scope) float64 {
				return d.value("bandwidth", "tcp[block_size="+s.Texts["block_size"]+"]")
			},
		}
	case 3:
		v := rapid.IntRange(1, 50).Draw(d.t, "constant")
		return drawn{fmt.Sprintf("%d GB/s", v), func(Scope) float64 { return float64(v) }}
	case 4:
		a, b := d.term(depth-1, aggregates), d.term(depth-1, aggregates)
		return drawn{"(" + a.text + " + " + b.text + ")", func(s Scope) float64 { return a.at(s) + b.at(s) }}
	case 5:
		a, k := d.term(depth-1, aggregates), rapid.IntRange(1, 9).Draw(d.t, "factor")
		return drawn{fmt.Sprintf("%d * %s", k, a.text), func(s Scope) float64 { return float64(k) * a.at(s) }}
	case 6:
		a, b, c := d.term(depth-1, aggregates), d.term(depth-1, aggregates), d.term(depth-1, aggregates)
		return drawn{
			"ratio(" + a.text + ", " + b.text + ") * " + c.text,
			func(s Scope) float64 { return a.at(s) / b.at(s) * c.at(s) },
		}
	case 7:
		a := d.term(depth-1, aggregates)
		// batch is 4, ranks 2
		return drawn{"batch * " + a.text + " / (ranks * 2)", func(s Scope) float64 { return a.at(s) }}
	}
	return d.aggregate(depth)
}

func (d *drawer) aggregate(depth int) drawn {
	op := rapid.SampledFrom(aggregateNames()).Draw(d.t, "aggregate")
	some := d.term(depth-1, false)
	inner := drawn{
		"(bandwidth + " + some.text + ")", func(s Scope) float64 { return d.value("bandwidth", s.Key) + some.at(s) },
	}
	over := rapid.SampledFrom([]string{"", "fabric", "block_size", "block_size, fabric", "cases"}).Draw(d.t, "over")
	text := op + "(" + inner.text + ")"
	if over != "" {
		text = op + "(" + inner.text + " over " + over + ")"
	}
	return drawn{text, func(s Scope) float64 {
		var values []float64
		for _, c := range d.cases.in("main", nil) {
			same := func(axis string) bool { return c.Texts[axis] == s.Texts[axis] }
			if (over == "fabric" && !same("block_size")) || (over == "block_size" && !same("fabric")) {
				continue
			}
			values = append(values, inner.at(c))
		}
		return aggregated(op, values)
	}}
}

func aggregated(op string, values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	switch op {
	case "min":
		return values[0]
	case "max":
		return values[n-1]
	case "median":
		return (values[(n-1)/2] + values[n/2]) / 2
	}
	sum, product := 0., 1.
	for _, v := range values {
		sum, product = sum+v, product*v
	}
	switch op {
	case "mean":
		return sum / float64(n)
	case "geomean":
		return math.Pow(product, 1/float64(n))
	}
	panic("compute " + op + " here in another way than package assertion does")
}

// Lowering an assertion and evaluating it gives the same as direct evaluation of the text, for
// every case and every group of cases.
func TestLoweringIsArithmetic(t *testing.T) {
	n, cases := rich()
	judged := 0
	defer func() {
		if judged < 50 {
			t.Errorf("only %d lowered assertions were judged", judged)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		d := &drawer{t: t, cases: cases, values: map[string]float64{}}
		for key := range cases.byKey {
			for _, m := range []string{"bandwidth", "ceiling.bandwidth"} {
				d.values[m+"@"+key] = float64(rapid.IntRange(1, 1000).Draw(t, m+key)) / 8
			}
		}
		left, right := d.term(3, true), d.term(3, true)
		text := left.text + " >= " + right.text
		a, err := n.Assertion(text)
		if err != nil {
			if !strings.Contains(err.Message, "no metric") {
				t.Fatalf("%s: %v", text, err)
			}
			return
		}
		// Lowering decides which side is judged, and whether the bound is a lower one. The relative
		// distance from the bound does not depend on that.
		judge := func(out assertion.Assertion, lowerErr *Error, s Scope, own string) {
			if lowerErr != nil {
				if !strings.Contains(lowerErr.Message, "2 cases") {
					t.Fatalf("%s: %v", text, lowerErr)
				}
				return
			}
			judged++
			got, err := out.Subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
				key := leaf.Case
				if key == "" {
					key = own
				}
				return d.value(leaf.Metric, key), nil
			}, out.Unit)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			ratio := 0.
			if out.Bounds.Lower != nil {
				ratio = got / *out.Bounds.Lower
			} else {
				ratio = *out.Bounds.Upper / got
			}
			if want := left.at(s) / right.at(s); math.Abs(ratio/want-1) > 1e-9 {
				t.Fatalf("%s\nlowered to %s\nleft over right is %v, want %v", text, out.Lowered, ratio, want)
			}
		}
		if a.Grouping() == PerCase {
			for _, s := range cases.in("main", nil) {
				out, err := a.Lower(s)
				judge(out, err, s, s.Key)
			}
			return
		}
		for _, g := range cases.groups(a) {
			out, err := a.LowerOver(g)
			judge(out, err, g[0], "every metric has its case")
			for _, key := range out.Subject.Cases() {
				if err == nil && !slices.Contains(out.Cases, key) {
					t.Fatalf("%s: %s is judged and not among %v", text, key, out.Cases)
				}
			}
		}
	})
}

// Conditions evaluate as in Go.
func TestConditionsAreArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, batch := rapid.Int64Range(1, 1<<40).Draw(t, "size"), rapid.Int64Range(1, 1<<20).Draw(t, "batch")
		k, low := rapid.Int64Range(-1000, 1000).Draw(t, "k"), rapid.Int64Range(0, 1<<20).Draw(t, "low")
		s := scope()
		s.Options["block_size"], s.Options["batch"] = quantity.Size(size), batch
		for text, want := range map[string]bool{
			fmt.Sprintf("block_size + batch * %d > %d", k, low):       size+batch*k > low,
			fmt.Sprintf("block_size - batch <= %d B", low):            size-batch <= low,
			fmt.Sprintf("batch in %d..%d", low, low+1000):             batch >= low && batch <= low+1000,
			fmt.Sprintf("not (batch * 2 == %d) or block_size < 0", k): batch*2 != k,
			fmt.Sprintf("block_size == %d B", size):                   true,
		} {
			c, err := names.When(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if got, err := c.Eval(s); got != want || err != nil {
				t.Fatalf("%s: %v, %v with size %d and batch %d", text, got, err, size, batch)
			}
		}
	})
}
