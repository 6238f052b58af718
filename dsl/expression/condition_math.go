package expression

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// expr-lang wraps whole numbers around and makes a list of every range. In a
// condition a wrong number decides silently what is judged, and a list of a
// billion numbers is the end of the planner, so these operations are ours. Their
// names are no identifiers and cannot be called from a text.
var checkedFunctions = map[string]*builtin.Function{
	"+":    arithmeticFunction("+", addWhole, func(a, b float64) float64 { return a + b }),
	"-":    arithmeticFunction("-", subtractWhole, func(a, b float64) float64 { return a - b }),
	"*":    arithmeticFunction("*", multiplyWhole, func(a, b float64) float64 { return a * b }),
	"/":    {Name: "/", Func: divide, Validate: validateDivision},
	"%":    {Name: "%", Func: remainder, Validate: validateRemainder},
	"**":   powerFunction("**"),
	"^":    powerFunction("^"),
	"in..": {Name: "in..", Func: inRange, Validate: validateRange},
}

// arithmeticPatcher puts the checked operations in the place of expr-lang's.
type arithmeticPatcher struct{}

// Visit patches one node.
func (arithmeticPatcher) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok {
		return
	}
	name, args := n.Operator, []ast.Node{n.Left, n.Right}
	switch n.Operator {
	case "+", "-", "*", "/", "%", "**", "^":
	case "in":
		r, ok := n.Right.(*ast.BinaryNode)
		if !ok || r.Operator != ".." {
			return
		}
		name, args = "in..", []ast.Node{n.Left, r.Left, r.Right}
	default:
		return
	}
	callee := &ast.IdentifierNode{Value: name}
	callee.SetLocation(n.Location())
	ast.Patch(node, &ast.CallNode{Callee: callee, Arguments: args})
}

func arithmeticFunction(name string, whole func(a, b int) (int, bool), real func(a, b float64) float64) *builtin.Function {
	return &builtin.Function{
		Name: name,
		Func: func(args ...any) (any, error) {
			a, isWhole := args[0].(int)
			b, alsoWhole := args[1].(int)
			if isWhole && alsoWhole {
				v, ok := whole(a, b)
				if !ok {
					return nil, fmt.Errorf("%d %s %d is too large for a whole number", a, name, b)
				}
				return v, nil
			}
			x, ok := asReal(args[0])
			y, also := asReal(args[1])
			if !ok || !also {
				return nil, fmt.Errorf("%s takes numbers, not %T and %T", name, args[0], args[1])
			}
			return bounded(name, x, y, real(x, y))
		},
		Validate: func(args []reflect.Type) (reflect.Type, error) {
			if err := numeric(name, args); err != nil {
				return nil, err
			}
			for _, kind := range []reflect.Type{anything, reflect.TypeFor[float64]()} {
				if args[0] == kind || args[1] == kind {
					return kind, nil
				}
			}
			return reflect.TypeFor[int](), nil
		},
	}
}

var anything = reflect.TypeFor[any]()

// numeric refuses operands that are known to be no numbers.
func numeric(name string, args []reflect.Type) error {
	for _, t := range args {
		if t == nil {
			return fmt.Errorf("%s takes numbers, not nil", name)
		}
		switch t.Kind() {
		case reflect.Int, reflect.Float64, reflect.Interface:
		default:
			return fmt.Errorf("%s takes numbers, not a %s", name, t)
		}
	}
	return nil
}

func asReal(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func addWhole(a, b int) (int, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

func subtractWhole(a, b int) (int, bool) {
	difference := a - b
	return difference, (difference < a) == (b > 0)
}

func multiplyWhole(a, b int) (int, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	return a * b, high == 0 && low <= math.MaxInt64
}

func magnitude(a int) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// divide gives a real number also for whole ones, as expr-lang does.
func divide(args ...any) (any, error) {
	a, ok := asReal(args[0])
	b, also := asReal(args[1])
	switch {
	case !ok || !also:
		return nil, fmt.Errorf("/ takes numbers, not %T and %T", args[0], args[1])
	case b == 0:
		return nil, fmt.Errorf("%v / 0 divides by zero", args[0])
	}
	return bounded("/", a, b, a/b)
}

// bounded refuses a result that is no number: an infinity is larger than any bound.
func bounded(name string, a, b, result float64) (any, error) {
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return nil, fmt.Errorf("%v %s %v is not a finite number", a, name, b)
	}
	return result, nil
}

// powerFunction gives a real number also for whole ones, as expr-lang does.
func powerFunction(name string) *builtin.Function {
	return &builtin.Function{
		Name: name,
		Func: func(args ...any) (any, error) {
			a, ok := asReal(args[0])
			b, also := asReal(args[1])
			if !ok || !also {
				return nil, fmt.Errorf("%s takes numbers, not %T and %T", name, args[0], args[1])
			}
			return bounded(name, a, b, math.Pow(a, b))
		},
		Validate: func(args []reflect.Type) (reflect.Type, error) {
			return reflect.TypeFor[float64](), numeric(name, args)
		},
	}
}

func validateDivision(args []reflect.Type) (reflect.Type, error) {
	return reflect.TypeFor[float64](), numeric("/", args)
}

func remainder(args ...any) (any, error) {
	a, ok := args[0].(int)
	b, also := args[1].(int)
	switch {
	case !ok || !also:
		return nil, fmt.Errorf("%% takes whole numbers, not %T and %T", args[0], args[1])
	case b == 0:
		return nil, fmt.Errorf("%d %% 0 divides by zero", a)
	}
	return a % b, nil
}

func validateRemainder(args []reflect.Type) (reflect.Type, error) {
	for _, t := range args {
		if t != nil && t.Kind() == reflect.Float64 {
			return nil, errors.New("% takes whole numbers")
		}
	}
	return reflect.TypeFor[int](), numeric("%", args)
}

func validateRange(args []reflect.Type) (reflect.Type, error) {
	if err := numeric("in a..b", args); err != nil {
		return nil, err
	}
	for _, end := range args[1:] {
		if end.Kind() == reflect.Float64 {
			return nil, errors.New("the ends of a range are whole numbers")
		}
	}
	return reflect.TypeFor[bool](), nil
}

// inRange says whether a number is one of the whole numbers from the second to
// the third, both included.
func inRange(args ...any) (any, error) {
	v, ok := asReal(args[0])
	from, low := args[1].(int)
	to, high := args[2].(int)
	if !ok || !low || !high {
		return nil, fmt.Errorf("in a..b takes whole numbers, not %T, %T and %T", args[0], args[1], args[2])
	}
	if whole, ok := args[0].(int); ok {
		return from <= whole && whole <= to, nil
	}
	return v == math.Trunc(v) && float64(from) <= v && v <= float64(to), nil
}
