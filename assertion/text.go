package assertion

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/quantity"
)

// String writes the expression as a person would: another case's metric as
// metric@KEY, the baseline's as baseline.metric. Constants have no unit of their
// own here, so they are written in base units. Of an aggregate over many values
// it writes some.
func (e *Expr) String() string {
	if e == nil {
		return "?"
	}
	switch {
	case e.Op == Metric && e.Baseline:
		return "baseline." + e.Metric
	case e.Op == Metric && e.Case != "":
		return e.Metric + "@" + e.Case
	case e.Op == Metric:
		return e.Metric
	case e.Op == Const && e.Value == math.Trunc(e.Value) && math.Abs(e.Value) < 1e6:
		return strconv.FormatFloat(e.Value, 'f', -1, 64)
	case e.Op == Const:
		return quantity.Digits(e.Value, 6)
	case e.Op.Aggregates():
		return string(e.Op) + "(" + e.operands() + ")"
	}
	if len(e.Args) != 2 {
		return string(e.Op) + "?"
	}
	return operand(e.Args[0], e.Op, false) + " " + string(e.Op) + " " + operand(e.Args[1], e.Op, true)
}

// mostOperands is how many operands of an aggregate a line can hold.
const mostOperands = 4

func (e *Expr) operands() string {
	shown := e.Args
	if len(shown) > mostOperands {
		shown = shown[:mostOperands-2]
	}
	var texts []string
	for _, arg := range shown {
		texts = append(texts, arg.String())
	}
	if len(shown) < len(e.Args) {
		texts = append(texts, fmt.Sprintf("… %d values", len(e.Args)))
	}
	return strings.Join(texts, ", ")
}

func operand(e *Expr, parent Op, right bool) string {
	if e == nil || e.Op == Metric || e.Op == Const || e.Op.Aggregates() {
		return e.String()
	}
	weak := e.Op == Add || e.Op == Sub
	strongParent := parent == Mul || parent == Div
	if weak && strongParent || right && (parent == Sub || parent == Div) {
		return "(" + e.String() + ")"
	}
	return e.String()
}
