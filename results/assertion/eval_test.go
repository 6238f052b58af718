package assertion

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func metric(name, unit string) *Expr { return &Expr{Op: Metric, Metric: name, Unit: unit} }
func at(name, key string) *Expr      { return &Expr{Op: Metric, Metric: name, Case: key} }
func number(v float64) *Expr         { return &Expr{Op: Const, Value: v} }
func op(o Op, args ...*Expr) *Expr   { return &Expr{Op: o, Args: args} }

func TestEvalWorksInBaseUnits(t *testing.T) {
	m := map[string]float64{"bandwidth": 40, "latency": 0.002, "zero": 0, "bad": math.NaN(), "huge": math.MaxFloat64}
	bandwidth, latency := metric("bandwidth", "GB/s"), metric("latency", "s")
	for _, c := range []struct {
		e     *Expr
		unit  string
		want  float64
		wrong string
	}{
		{bandwidth, "GB/s", 40, ""},
		{bandwidth, "MB/s", 40000, ""},
		{op(Mul, bandwidth, latency), "MB", 80, ""}, // a rate times a time is a size
		{op(Div, bandwidth, number(20e9)), "", 2, ""},
		{op(Sub, bandwidth, number(10e9)), "GB/s", 30, ""},
		{op(Add, latency, latency), "ms", 4, ""},
		{op(Div, bandwidth, metric("zero", "")), "", 0, "division by zero: zero is 0"},
		{metric("bad", ""), "", 0, "metric bad is NaN"},
		{metric("absent", ""), "", 0, "metric absent is missing"},
		{op(Mul, metric("huge", ""), metric("huge", "")), "", 0, "is +Inf"},
		{&Expr{Op: "?", Args: []*Expr{number(1), number(1)}}, "", 0, "unknown operation"},
		{&Expr{Op: Add}, "", 0, "0 operands"},
		{bandwidth, "furlong", 0, "unknown unit"},
	} {
		got, err := c.e.Eval(in(m), c.unit)
		switch {
		case c.wrong == "" && (err != nil || math.Abs(got/c.want-1) > 1e-12):
			t.Errorf("%s in %q = %v, %v, want %v", c.e, c.unit, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: error %v, want %q", c.e, err, c.wrong)
		}
	}
}

func TestAggregates(t *testing.T) {
	for _, c := range []struct {
		e     *Expr
		want  float64
		wrong string
	}{
		{op(Min, number(3), number(1), number(2)), 1, ""},
		{op(Max, number(3), number(1), number(2)), 3, ""},
		{op(Mean, number(3), number(1), number(5)), 3, ""},
		{op(Median, number(3), number(1), number(100)), 3, ""},
		{op(Median, number(3), number(1), number(100), number(4)), 3.5, ""},
		{op(Median, number(7)), 7, ""},
		{op(Geomean, number(2), number(8)), 4, ""},
		{op(Geomean, number(1e300), number(1e300), number(1e-300), number(1e-300)), 1, ""}, // no overflow on the way
		{op(Div, op(Mean, number(2), number(4)), op(Min, number(6), number(9))), 0.5, ""},
		{op(Geomean, number(2), number(0)), 0, "geomean needs positive values"},
		{op(Geomean, number(2), number(-1)), 0, "geomean needs positive values"},
		{op(Mean, number(math.MaxFloat64), number(math.MaxFloat64)), 0, "+Inf"},
		{op(Max, number(1), number(math.NaN())), 0, "NaN"},
		{op(Max, number(1), nil), 0, "missing"},
		{op(Median), 0, "median of no values"},
		{op(Min, metric("absent", "")), 0, "metric absent is missing"},
	} {
		got, err := c.e.Eval(in(nil), "")
		switch {
		case c.wrong == "" && (err != nil || math.Abs(got/c.want-1) > 1e-12):
			t.Errorf("%s = %v, %v, want %v", c.e, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: error %v, want %q", c.e, err, c.wrong)
		}
	}
}

// in finds the metrics of a map.
func in(m map[string]float64) func(string) (float64, bool) {
	return func(name string) (float64, bool) { v, ok := m[name]; return v, ok }
}

// A launch's own metrics must not stand in for those of another case.
func TestEvalRefusesOtherCases(t *testing.T) {
	own := map[string]float64{"bandwidth": 40}
	for _, leaf := range []*Expr{
		at("bandwidth", "k"), {Op: Metric, Metric: "bandwidth", Case: "k", Baseline: true},
		{Op: Metric, Metric: "bandwidth", Baseline: true},
	} {
		if v, err := op(Add, metric("bandwidth", ""), leaf).Eval(in(own), ""); err == nil {
			t.Errorf("%s of the launch is %v", leaf, v)
		}
	}
}

func TestEvalWithTakesUnitsFromLeaves(t *testing.T) {
	e := op(Div, metric("bandwidth", "GB/s"),
		op(Max, &Expr{Op: Metric, Metric: "bandwidth", Unit: "MB/s", Case: "k"}, metric("bandwidth", "GB/s")))
	v, err := e.EvalWith(func(leaf *Expr) (float64, error) {
		if leaf.Case == "k" {
			return 4000, nil
		}
		return 2, nil
	}, "")
	if err != nil || v != 0.5 {
		t.Error(v, err)
	}
	broken := errors.New("broken")
	if _, err := e.EvalWith(func(*Expr) (float64, error) { return 0, broken }, ""); !errors.Is(err, broken) {
		t.Error(err)
	}
	// the last is infinite in bytes
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		if v, err := e.EvalWith(func(*Expr) (float64, error) { return bad, nil }, ""); err == nil {
			t.Errorf("%v gives %v", bad, v)
		}
	}
	if _, err := number(1).EvalWith(nil, "furlong"); err == nil {
		t.Error("an unknown unit was taken")
	}
	var none *Expr
	if _, err := none.EvalWith(nil, ""); err == nil || none.Leaves() != nil || none.String() == "" {
		t.Error("nothing was evaluated")
	}
}

// Aggregates lie between their least and their largest value, geomean not above
// mean, and their order does not matter.
func TestAggregatesAreBetweenTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-9, 1e9), 1, 30).Draw(t, "values")
		shuffled := rapid.Permutation(values).Draw(t, "shuffled")
		eval := func(o Op, values []float64) float64 {
			e := &Expr{Op: o}
			for _, v := range values {
				e.Args = append(e.Args, number(v))
			}
			got, err := e.Eval(in(nil), "")
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		const slack = 1 + 1e-9
		low, high := slices.Min(values), slices.Max(values)
		for _, o := range []Op{Min, Max, Mean, Geomean, Median} {
			v := eval(o, values)
			if v*slack < low || v > high*slack {
				t.Fatalf("%s is %v", o, v)
			}
			if w := eval(o, shuffled); math.Abs(v/w-1) > 1e-9 {
				t.Fatalf("%s is %v or %v", o, v, w)
			}
		}
		if eval(Geomean, values) > eval(Mean, values)*slack {
			t.Fatal("geomean is above mean")
		}
	})
}

func TestLeavesAndCases(t *testing.T) {
	e := op(Div, op(Max, metric("a", ""), at("a", "k"), at("b", "l")),
		op(Add, &Expr{Op: Metric, Metric: "a", Case: "own", Baseline: true}, op(Mul, at("c", "k"), number(2))))
	var names []string
	for _, leaf := range e.Leaves() {
		names = append(names, leaf.String())
	}
	if want := []string{"a", "a@k", "b@l", "baseline.a", "c@k"}; !slices.Equal(names, want) {
		t.Errorf("leaves %v, want %v", names, want)
	}
	if want := []string{"k", "l", "own"}; !slices.Equal(e.Cases(), want) {
		t.Errorf("cases %v, want %v", e.Cases(), want)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(e.Metrics(), want) {
		t.Errorf("metrics %v, want %v", e.Metrics(), want)
	}
}

func TestString(t *testing.T) {
	a, b, c := metric("a", ""), metric("b", ""), metric("c", "")
	for want, e := range map[string]*Expr{
		"a + b * c":   op(Add, a, op(Mul, b, c)),
		"(a + b) * c": op(Mul, op(Add, a, b), c),
		"a - (b - c)": op(Sub, a, op(Sub, b, c)),
		"a / (b * c)": op(Div, a, op(Mul, b, c)),
		"a * b / c":   op(Div, op(Mul, a, b), c),

		"a / max(b@k, c)":       op(Div, a, op(Max, at("b", "k"), c)),
		"mean(a - b, c)":        op(Mean, op(Sub, a, b), c),
		"min(a, b, c, a)":       op(Min, a, b, c, a),
		"min(a, b, … 5 values)": op(Min, a, b, c, a, b),
		"a / baseline.b":        op(Div, a, &Expr{Op: Metric, Metric: "b", Case: "k", Baseline: true}),
		"a - (? + b)":           op(Sub, a, op(Add, nil, b)),
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := strings.Join(op(Add, a, op(Mul, b, a)).Metrics(), " "); got != "a b" {
		t.Errorf("metrics %q", got)
	}
}
