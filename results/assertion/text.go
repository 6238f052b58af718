package assertion

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// String formats the expression: another case's metric as metric@KEY, the baseline's as baseline.metric.
// Constants have no unit and are in base units. Long aggregates are abbreviated.
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

// mostOperands is the number of operands of an aggregate that are written.
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
