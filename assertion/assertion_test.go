package assertion

import (
	"math"
	"strings"
	"testing"
)

func metric(name, unit string) *Expr { return &Expr{Op: Metric, Metric: name, Unit: unit} }
func number(v float64) *Expr         { return &Expr{Op: Const, Value: v} }
func op(o Op, a, b *Expr) *Expr      { return &Expr{Op: o, Args: []*Expr{a, b}} }

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
		got, err := c.e.Eval(m, c.unit)
		switch {
		case c.wrong == "" && (err != nil || math.Abs(got/c.want-1) > 1e-12):
			t.Errorf("%s in %q = %v, %v, want %v", c.e, c.unit, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: error %v, want %q", c.e, err, c.wrong)
		}
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
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := strings.Join(op(Add, a, op(Mul, b, a)).Metrics(), " "); got != "a b" {
		t.Errorf("metrics %q", got)
	}
}

func TestKeyIsOfTheMeaning(t *testing.T) {
	lower := 1.
	a := Assertion{Name: "n", Text: "bandwidth >= 1", File: "a.yaml", Line: 3, Severity: Gate, Subject: metric("bandwidth", "GB/s"), Unit: "GB/s", Bounds: Bounds{Lower: &lower}}
	b := a
	b.File, b.Line, b.Text = "b.hcl", 9, "bandwidth >= 1 GB/s"
	if a.Key() != b.Key() {
		t.Error("the place or the spelling changed the key")
	}
	a.Name, b.Name = a.Text, b.Text // as without a name of the author's
	if a.Key() != b.Key() {
		t.Error("the spelling changed the key by way of the name")
	}
	b.Severity = Warn
	if a.Key() == b.Key() {
		t.Error("the severity did not change the key")
	}
}
