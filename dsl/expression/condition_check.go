package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"weir/dsl/suggest"
	"weir/quantity"
	"weir/workload"
)

// conditionChecker finds what expr-lang's own checker cannot see or explain:
// unknown names with what was meant, values that an option never has, and
// comparisons of a size with a time.
type conditionChecker struct {
	names    *Names // nil: unknown, check nothing by name
	host     bool
	at       map[int]token
	literals map[int]token
	local    map[string]bool // names that the condition defines itself
	used     []string
	err      *Error
}

var hostFields = []string{"host.fabrics", "host.nodes", "host.gpus", "host.cpus"}

type localCollector struct{ into map[string]bool }

func (l localCollector) Visit(node *ast.Node) {
	if v, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		l.into[v.Name] = true
	}
}

func (c *conditionChecker) collectLocals(n ast.Node) {
	ast.Walk(&n, localCollector{c.local})
}

// Visit sees every node, operands before operators.
func (c *conditionChecker) Visit(node *ast.Node) {
	if c.err != nil {
		return
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.name(n)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			t := c.at[id.Location().From]
			c.err = errorf(t.from, t.to, "", "there is no function %s", t.text)
		}
	case *ast.BinaryNode:
		if c.names != nil {
			c.binary(n)
		}
	}
}

func (c *conditionChecker) name(n *ast.IdentifierNode) {
	t, ok := c.at[n.Location().From]
	if _, literal := c.literals[n.Location().From]; literal || !ok || c.local[n.Value] {
		return
	}
	defer func() {
		if c.err == nil {
			c.used = append(c.used, t.text)
		}
	}()
	if c.names == nil {
		return
	}
	root, _, dotted := strings.Cut(t.text, ".")
	switch {
	case root == "host" && !c.host:
		c.err = errorf(t.from, t.to, "a run can be skipped by host with `when`", "`where` chooses cases when they are planned, without a host")
	case root == "host":
		for _, f := range hostFields {
			if t.text == f {
				return
			}
		}
		c.err = errorf(t.from, t.to, lowerFirst(suggest.Sentence(t.text, hostFields, "facts about a host")), "there is no %s", t.text)
	case root == "axis" && dotted:
		c.err = errorf(t.from, t.to, "write "+strings.TrimPrefix(t.text, "axis."), "conditions name an axis by itself")
	default:
		_, option := c.names.Kind.Option(t.text)
		_, axis := c.names.axis(t.text)
		if !option && !axis {
			c.err = c.names.unknownKnob(t)
		}
	}
}

// binary checks one comparison.
func (c *conditionChecker) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=", "in":
	default:
		return
	}
	right := []ast.Node{n.Right}
	if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
		right = list.Nodes
	}
	for _, r := range right {
		c.enumValue(n.Left, r)
		c.enumValue(r, n.Left)
		left, known := c.dimension(n.Left)
		other, alsoKnown := c.dimension(r)
		if known && alsoKnown && left != other && c.err == nil {
			loc := n.Location()
			c.err = errorf(loc.From, max(loc.To, loc.From+1), "compare a "+left.String()+" with a "+left.String(), "a %s is compared with a %s", left, other)
		}
	}
}

// enumValue checks a text that is compared with an option of fixed values.
func (c *conditionChecker) enumValue(name, value ast.Node) {
	id, isName := name.(*ast.IdentifierNode)
	text, isText := value.(*ast.StringNode)
	if !isName || !isText || c.err != nil {
		return
	}
	o, ok := c.names.Kind.Option(id.Value)
	if !ok || o.Type != workload.Enum {
		return
	}
	for _, v := range o.Values {
		if v == text.Value {
			return
		}
	}
	t := c.at[text.Location().From]
	c.err = errorf(t.from, max(t.to, t.from+1), lowerFirst(suggest.Sentence(text.Value, o.Values, "values")), "option %s is never %q", o.Name, text.Value)
}

// dimension is that of an operand, if it is known; bare numbers go with anything.
func (c *conditionChecker) dimension(n ast.Node) (quantity.Dimension, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if t, ok := c.literals[n.Location().From]; ok {
			return t.quantity.Dim, true
		}
		return c.names.dimension(n.Value)
	case *ast.BinaryNode:
		a, known := c.dimension(n.Left)
		b, alsoKnown := c.dimension(n.Right)
		switch {
		case n.Operator == "*" && known && alsoKnown:
			return a.Mul(b), true
		case n.Operator == "/" && known && alsoKnown:
			return a.Div(b), true
		case (n.Operator == "+" || n.Operator == "-") && known:
			return a, true
		case n.Operator == "+" || n.Operator == "-":
			return b, alsoKnown
		}
	}
	return quantity.Dimension{}, false
}
