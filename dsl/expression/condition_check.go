package expression

import (
	"slices"
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
	callees  map[int]bool    // places of names of functions
	used     []string
	ranges   []*ast.BinaryNode // those after in
	err      *Error
}

var hostFields = []string{"host.fabrics", "host.nodes", "host.gpus", "host.cpus"}

// collector finds the names that are no options or axes, before the walk comes
// to them.
type collector struct{ c *conditionChecker }

// Visit looks at one node.
func (v collector) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		v.c.local[n.Name] = true
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			v.c.callees[callee.Location().From] = true
		}
	}
}

// Visit sees every node, operands before operators.
func (c *conditionChecker) Visit(node *ast.Node) {
	if c.err != nil {
		return
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.name(n)
	case *ast.CallNode, *ast.BuiltinNode:
		c.call(n)
	case *ast.BinaryNode:
		c.bounded(n)
		if c.names != nil && c.err == nil {
			c.binary(n)
		}
	}
}

// conditionFunctions are the functions that a condition may call: none of them
// gives back more than it was given.
var conditionFunctions = []string{"abs", "all", "any", "ceil", "count", "floor", "hasPrefix", "hasSuffix", "len", "lower", "max", "min", "none", "one", "round", "trim", "upper"}

func (c *conditionChecker) call(n ast.Node) {
	at := n.Location().From
	if b, ok := n.(*ast.BuiltinNode); ok && slices.Contains(conditionFunctions, b.Name) {
		return
	}
	if call, ok := n.(*ast.CallNode); ok {
		at = call.Callee.Location().From
	}
	t, ok := c.at[at]
	if !ok || t.kind != nameToken {
		c.err = errorf(at, at+1, "", "only functions can be called")
		return
	}
	c.err = errorf(t.from, t.to, lowerFirst(suggest.Sentence(t.text, conditionFunctions, "functions")), "conditions have no function %s", t.text)
}

// bounded refuses operations whose cost does not show in the text.
func (c *conditionChecker) bounded(n *ast.BinaryNode) {
	at := n.Location()
	switch n.Operator {
	case "in":
		if r, ok := n.Right.(*ast.BinaryNode); ok && r.Operator == ".." {
			c.ranges = append(c.ranges, r)
		}
	case "matches":
		if pattern, ok := n.Right.(*ast.StringNode); !ok {
			c.err = errorf(at.From, max(at.To, at.From+1), "write the pattern as a text in quotes", "the pattern of matches is computed")
		} else if patternSize(pattern.Value) > mostPattern {
			t := c.at[pattern.Location().From]
			c.err = errorf(t.from, max(t.to, t.from+1), "repeat less", "the pattern is too large")
		}
	}
}

// strayRange refuses a..b where it would be a list of numbers. Operands are
// visited before their operators, so only the end of the walk can tell.
type strayRange struct{ c *conditionChecker }

// Visit looks at one node.
func (v strayRange) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != ".." || v.c.err != nil || slices.Contains(v.c.ranges, n) {
		return
	}
	at := n.Location()
	v.c.err = errorf(at.From, max(at.To, at.From+1), "write x in a..b", "a range stands only after in")
}

func (c *conditionChecker) name(n *ast.IdentifierNode) {
	t, ok := c.at[n.Location().From]
	if _, literal := c.literals[n.Location().From]; literal || !ok || c.local[n.Value] || c.callees[t.from] {
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

// binary checks one comparison or sum.
func (c *conditionChecker) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=", "in":
	case "+", "-":
		c.sum(n)
		return
	default:
		return
	}
	right := []ast.Node{n.Right}
	if n.Operator == "in" {
		c.fabricName(n)
		switch r := n.Right.(type) {
		case *ast.ArrayNode:
			right = r.Nodes
		case *ast.BinaryNode:
			if r.Operator == ".." {
				right = []ast.Node{r.Left, r.Right}
			}
		}
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

// sum refuses to add a time to a size. A plain number may count either.
func (c *conditionChecker) sum(n *ast.BinaryNode) {
	left, known := c.dimension(n.Left)
	right, alsoKnown := c.dimension(n.Right)
	if known && alsoKnown && left != right && left != quantity.Number && right != quantity.Number {
		loc := n.Location()
		c.err = errorf(loc.From, max(loc.To, loc.From+1), "add and subtract what is of one kind", "a %s and a %s have no sum and no difference", left, right)
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

// fabricName checks a name that is sought among the fabrics of a host.
func (c *conditionChecker) fabricName(n *ast.BinaryNode) {
	text, ok := n.Left.(*ast.StringNode)
	if !ok || !isHostFabrics(n.Right) || c.err != nil {
		return
	}
	fabrics := fabricValues()
	if slices.Contains(fabrics, text.Value) {
		return
	}
	t := c.at[text.Location().From]
	c.err = errorf(t.from, max(t.to, t.from+1), lowerFirst(suggest.Sentence(text.Value, fabrics, "fabrics")), "no host has a fabric %q", text.Value)
}

// fabricValues are the values of option fabric in any workload.
func fabricValues() (all []string) {
	for _, k := range workload.Kinds() {
		o, _ := k.Option("fabric")
		for _, v := range o.Values {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
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
		case (n.Operator == "+" || n.Operator == "-") && known && !(alsoKnown && a == quantity.Number):
			return a, true
		case n.Operator == "+" || n.Operator == "-":
			return b, alsoKnown
		}
	}
	return quantity.Dimension{}, false
}
