package expression

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
)

// numberFunctions makes all numbers of a condition float64, exact up to 2^53, so that nothing
// overflows. An infinite or NaN result is an error, since comparisons with it would be wrong. % and
// a..b become functions, since expr-lang has them for integers only. Their names are not
// identifiers, so that texts cannot call them.
func numberFunctions(c *conf.Config) {
	for _, operator := range computed {
		c.Functions[operator] = numberFunction(operator, 1, reflect.TypeFor[float64](), func(v []float64) (any, error) {
			return finiteResult(operator, v[0])
		})
	}
	c.Functions["%"] = numberFunction("%", 2, reflect.TypeFor[float64](), func(v []float64) (any, error) {
		if !whole(v...) {
			return nil, errors.New("% takes whole numbers")
		}
		return finiteResult("%", math.Mod(v[0], v[1]))
	})
	c.Functions["in a..b"] = numberFunction("in a..b", 3, reflect.TypeFor[bool](), func(v []float64) (any, error) {
		if !whole(v[1:]...) {
			return nil, errors.New("the ends of a range are whole numbers")
		}
		return whole(v[0]) && v[1] <= v[0] && v[0] <= v[2], nil
	})
}

// computed are the operators that expr-lang evaluates.
var computed = []string{"+", "-", "*", "/", "**", "^"}

// numberFunction makes a function of a number of operands.
func numberFunction(name string, operands int, result reflect.Type, of func([]float64) (any, error)) *builtin.Function {
	return &builtin.Function{
		Name: name,
		Func: func(args ...any) (any, error) {
			values := make([]float64, operands)
			for i, arg := range args {
				switch arg := arg.(type) {
				case float64:
					values[i] = arg
				case int: // of len and count
					values[i] = float64(arg)
				default:
					return nil, fmt.Errorf("%s takes numbers, not a %T", name, arg)
				}
			}
			return of(values)
		},
		Validate: func(args []reflect.Type) (reflect.Type, error) {
			for _, t := range args {
				if !numeric(t) {
					return nil, fmt.Errorf("%s takes numbers, not a %s", name, t)
				}
			}
			return result, nil
		},
	}
}

// numeric reports whether a type can be a number.
func numeric(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Float64 || t.Kind() == reflect.Interface
}

func finiteResult(operator string, v float64) (any, error) {
	switch {
	case finite(&v):
		return v, nil
	case operator == "/" || operator == "%":
		return nil, fmt.Errorf("%s gives %v, which is not a finite number: the divisor is zero or almost zero",
			operator, v)
	}
	return nil, fmt.Errorf("%s gives %v, which is not a finite number", operator, v)
}

func whole(values ...float64) bool {
	for _, v := range values {
		if v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// numberPatcher replaces numbers and operators of expr-lang by these functions.
type numberPatcher struct{ check *conditionChecker }

// Visit patches one node, after its operands.
func (p numberPatcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if t, ok := p.check.literals[n.Location().From]; ok {
			ast.Patch(node, &ast.FloatNode{Value: exact(t.quantity.Value)})
		}
	case *ast.IntegerNode:
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	case *ast.MemberNode:
		integer(&n.Property)
	case *ast.SliceNode:
		integer(&n.From)
		integer(&n.To)
	case *ast.BinaryNode:
		p.operator(node, n)
	}
}

func (p numberPatcher) operator(node *ast.Node, n *ast.BinaryNode) {
	function, args := n.Operator, []ast.Node{n.Left, n.Right}
	switch r, ok := n.Right.(*ast.BinaryNode); {
	case slices.Contains(computed, n.Operator) || n.Operator == "%":
	case n.Operator == "in" && ok && r.Operator == "..":
		function, args = "in a..b", []ast.Node{n.Left, r.Left, r.Right}
	default:
		return
	}
	if p.check.err == nil {
		p.check.err = p.check.numbers(n, function, args)
	}
	if slices.Contains(computed, n.Operator) {
		args = []ast.Node{n}
	}
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: args}
	call.SetLocation(n.Location())
	call.Callee.SetLocation(n.Location())
	*node = call // without the type of the replaced node: expr-lang does not check calls that have one
}

// numbers refuses operands that cannot be numbers.
func (c *conditionChecker) numbers(n ast.Node, function string, operands []ast.Node) *Error {
	for _, o := range operands {
		t := o.Type()
		if _, is := o.(*ast.NilNode); is {
			return c.errorAt(n, "", "%s takes numbers, not nil", function)
		}
		if !numeric(t) {
			return c.errorAt(n, "", "%s takes numbers, not a %s", function, t)
		}
	}
	return nil
}

// integer converts an index back to the integer that expr-lang requires.
func integer(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.FloatNode:
		if whole(n.Value) {
			ast.Patch(node, &ast.IntegerNode{Value: int(n.Value)})
		}
	case *ast.UnaryNode:
		integer(&n.Node)
	}
}
