// Package assertion is the lowered form of an assertion: plain data that says
// which value to take from each launch and what it must be. The language
// compiles text to it, plan and result documents carry it, and the gate judges
// it, so that stored results can be judged again without the scenario.
package assertion

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"weir/quantity"
)

// Severity says what an assertion that does not hold means.
type Severity string

// The severities.
const (
	Gate Severity = "gate" // decides the exit code
	Warn Severity = "warn" // shown as a warning
	Info Severity = "info" // shown
)

// Assertion is one judged statement over one case, or over several (Trend).
type Assertion struct {
	Name     string   `json:"name"`
	Text     string   `json:"text"`    // as the author wrote it, ${…} resolved
	Lowered  string   `json:"lowered"` // as weir understood it, with numeric bounds
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Severity Severity `json:"severity"`
	// Subject is the value judged, taken once per launch. Its bounds are in Unit.
	Subject *Expr  `json:"subject"`
	Unit    string `json:"unit"`
	Bounds  Bounds `json:"bounds"`
	// Trend is set for assertions over several cases; Bounds is then empty.
	Trend *Trend `json:"trend,omitempty"`
	// Quantifier is "all" or "any" where the statement is about Parts, each of
	// which is a band over one case; Subject and Bounds are then empty.
	Quantifier string `json:"quantifier,omitempty"`
	Parts      []Part `json:"parts,omitempty"`
	// Cases are the keys of the cases of an assertion that belongs to no single
	// case: of a trend in the order of its axis, of all others in plan order.
	Cases []string `json:"cases,omitempty"`
	// Halo widens the bounds, as a share of them, for failing only: a value outside
	// of the bounds but inside of the halo warns.
	Halo float64 `json:"halo,omitempty"`
	// Multiple is "holm" where the assertions that one text makes for several
	// cases are judged as one family, otherwise "".
	Multiple string  `json:"multiple,omitempty"`
	Decide   *Decide `json:"decide,omitempty"` // nil: the defaults
	XFail    *XFail  `json:"xfail,omitempty"`
}

// Part is one band of a quantified assertion.
type Part struct {
	Subject *Expr  `json:"subject"`
	Unit    string `json:"unit"`
	Bounds  Bounds `json:"bounds"`
	Case    string `json:"case"` // key
}

// Decide overrides how an assertion is decided.
type Decide struct {
	Confidence float64 `json:"confidence,omitempty"` // of the interval, between 0.5 and 1; 0: the default
	// OnInconclusive is the verdict that stands in for inconclusive after the last
	// look: "fail", "warn" or "pass"; "": it stays inconclusive.
	OnInconclusive string `json:"on_inconclusive,omitempty"`
}

// XFail marks an assertion that is known not to hold. Not holding is then
// expected, and holding is reported, until the day has passed.
type XFail struct {
	Reason string `json:"reason"`
	Until  string `json:"until"` // 2006-01-02; the last day on which it counts
}

// Bounds is the band that the subject must lie in; a nil end is open.
type Bounds struct {
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

// Trend says that the subject moves one way along an axis.
type Trend struct {
	Axis      string  `json:"axis"`
	Direction string  `json:"direction"` // increases | decreases
	Tolerance float64 `json:"tolerance"` // relative step in the wrong direction that is still allowed
}

// Op is the operation of an expression node.
type Op string

// The operations.
const (
	Metric Op = "metric" // value of Expr.Metric, which is in Expr.Unit
	Const  Op = "const"  // Expr.Value, in base units
	Add    Op = "+"
	Sub    Op = "-"
	Mul    Op = "*"
	Div    Op = "/"

	// Aggregates over their operands, of which there is at least one.
	Min     Op = "min"
	Max     Op = "max"
	Mean    Op = "mean"
	Geomean Op = "geomean"
	Median  Op = "median"
)

// Expr is an arithmetic expression over the metrics of one launch. It is
// evaluated in base units (bytes, seconds), so units cannot be mixed up.
type Expr struct {
	Op     Op     `json:"op"`
	Metric string `json:"metric,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Case is the key of the case that a Metric is of; "": the assertion's own.
	Case string `json:"case,omitempty"`
	// Baseline says that a Metric is taken from the baseline's case of that key.
	Baseline bool    `json:"baseline,omitempty"`
	Value    float64 `json:"value,omitempty"`
	Args     []*Expr `json:"args,omitempty"`
}

// Metrics are the names of all metrics in the expression, each once, in order.
func (e *Expr) Metrics() []string {
	var names []string
	seen := map[string]bool{}
	var walk func(*Expr)
	walk = func(e *Expr) {
		if e.Op == Metric && !seen[e.Metric] {
			seen[e.Metric] = true
			names = append(names, e.Metric)
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return names
}

// Eval computes the expression from the metrics of one launch (each in its
// registry's unit) and gives it in the unit asked for. A metric that is missing
// and a result that is not finite are errors: a value that nobody measured must
// never satisfy a bound.
func (e *Expr) Eval(metrics map[string]float64, unit string) (float64, error) {
	v, err := e.eval(metrics)
	if err != nil {
		return 0, err
	}
	u, ok := quantity.UnitOf(unit)
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", unit)
	}
	return v / u.Factor, nil
}

func (e *Expr) eval(metrics map[string]float64) (float64, error) {
	switch e.Op {
	case Const:
		return e.Value, nil
	case Metric:
		v, ok := metrics[e.Metric]
		if !ok {
			return 0, fmt.Errorf("metric %s is missing", e.Metric)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("metric %s is %v", e.Metric, v)
		}
		u, ok := quantity.UnitOf(e.Unit)
		if !ok {
			return 0, fmt.Errorf("metric %s has unknown unit %q", e.Metric, e.Unit)
		}
		return v * u.Factor, nil
	}
	if len(e.Args) != 2 {
		return 0, fmt.Errorf("operation %q has %d operands, not 2", e.Op, len(e.Args))
	}
	a, err := e.Args[0].eval(metrics)
	if err != nil {
		return 0, err
	}
	b, err := e.Args[1].eval(metrics)
	if err != nil {
		return 0, err
	}
	var v float64
	switch e.Op {
	case Add:
		v = a + b
	case Sub:
		v = a - b
	case Mul:
		v = a * b
	case Div:
		if b == 0 {
			return 0, fmt.Errorf("division by zero: %s is 0", e.Args[1])
		}
		v = a / b
	default:
		return 0, fmt.Errorf("unknown operation %q", e.Op)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is %v", e, v)
	}
	return v, nil
}

// String writes the expression as a person would; constants have no unit of
// their own here, so they are written in base units.
func (e *Expr) String() string {
	switch e.Op {
	case Metric:
		return e.Metric
	case Const:
		return quantity.Digits(e.Value, 6)
	}
	if len(e.Args) != 2 {
		return string(e.Op) + "?"
	}
	return operand(e.Args[0], e.Op, false) + " " + string(e.Op) + " " + operand(e.Args[1], e.Op, true)
}

func operand(e *Expr, parent Op, right bool) string {
	weak := e.Op == Add || e.Op == Sub
	strongParent := parent == Mul || parent == Div
	if weak && strongParent || right && (parent == Sub || parent == Div) && len(e.Args) == 2 {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// Key is a stable text of everything that the verdict depends on, for digests:
// neither the place in a file nor the author's spelling.
func (a Assertion) Key() string {
	name := strings.TrimPrefix(a.Name, a.Text) // a name made of the text says nothing of its own
	b, err := json.Marshal(struct {
		Name     string
		Severity Severity
		Subject  *Expr
		Unit     string
		Bounds   Bounds
		Trend    *Trend
		Cases    []string
	}{name, a.Severity, a.Subject, a.Unit, a.Bounds, a.Trend, a.Cases})
	if err != nil {
		panic(err) // a NaN bound: the language never makes one
	}
	return string(b)
}
