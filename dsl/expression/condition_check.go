package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"weir/quantity"
	"weir/suggest"
	"weir/workload"
)

// conditionChecker finds what expr-lang's own checker cannot see or explain:
// unknown names with what was meant, values that an option never has, and
// comparisons of a size with a time.
type conditionChecker struct {
	names    *Names // nil: unknown, check nothing by name
	host     bool
	at       map[int]token
	literals map[int]token   // quantities with a unit
	nulls    map[int]bool    // places of null
	callees  map[int]bool    // places of names of functions
	local    map[string]bool // names that the condition defines itself
	used     []string
	stray    []ast.Node // ranges
	err      *Error
}

func newConditionChecker(tokens []token, names *Names, host bool) *conditionChecker {
	c := &conditionChecker{
		names: names, host: host,
		at: map[int]token{}, literals: map[int]token{}, nulls: map[int]bool{},
		callees: map[int]bool{}, local: map[string]bool{},
	}
	before := token{}
	for _, t := range tokens {
		c.at[t.from] = t
		switch {
		case t.kind == quantityToken && t.quantity.Unit != "":
			c.literals[t.from] = t
		case t.kind == nameToken && t.text == null:
			c.nulls[t.from] = true
		case t.is("(") && before.kind == nameToken && !strings.Contains(before.text, "."):
			c.callees[before.from] = true
		case before.is("let"):
			c.local[t.text] = true
		}
		before = t
	}
	return c
}

var hostFields = []string{"host.fabrics", "host.nodes", "host.gpus", "host.cpus"}

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
		c.whole(n)
		if c.names != nil && c.err == nil {
			c.binary(n)
		}
	}
}

// conditionFunctions are the functions that a condition may call: none of them
// gives back more than it was given.
var conditionFunctions = []string{
	"abs", "all", "any", "ceil", "count", "floor",
	"hasPrefix", "hasSuffix", "len", "lower", "max", "min", "none", "one", "round", "trim", "upper",
}

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
	c.err = t.errorf(lowerFirst(suggest.Documented(t.text, conditionFunctions, "functions", functionsListed)),
		"conditions have no function %s", t.text)
}

// whole checks a..b and %, which are about whole numbers. A range stands only after
// `in`: elsewhere it would be a list. expr-lang shows a node after its operands, so a
// range is stray until its `in` is seen.
func (c *conditionChecker) whole(n *ast.BinaryNode) {
	fraction := func(n ast.Node) bool { f, ok := n.(*ast.FloatNode); return ok && !whole(f.Value) }
	switch n.Operator {
	case "..":
		c.stray = append(c.stray, n)
	case "in":
		r, ok := n.Right.(*ast.BinaryNode)
		if !ok || r.Operator != ".." {
			return
		}
		c.stray = c.stray[:len(c.stray)-1]
		if fraction(r.Left) || fraction(r.Right) {
			c.err = c.errorAt(n, "", "the ends of a range are whole numbers")
		}
	case "%":
		if fraction(n.Left) || fraction(n.Right) {
			c.err = c.errorAt(n, "", "%% takes whole numbers")
		}
	}
}

// finish gives the fault that was found, if there is one.
func (c *conditionChecker) finish() *Error {
	if c.err == nil && len(c.stray) > 0 {
		return c.errorAt(c.stray[0], "write x in a..b", "a range stands only after in")
	}
	return c.err
}

// errorAt is a fault at an operator or a literal.
func (c *conditionChecker) errorAt(n ast.Node, hint, format string, args ...any) *Error {
	at := n.Location()
	return errorf(at.From, max(at.To, at.From+1), hint, format, args...)
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
		c.err = t.errorf("a run can be skipped by host with `when`",
			"`where` chooses cases when they are planned, without a host")
	case root == "host":
		for _, f := range hostFields {
			if t.text == f {
				return
			}
		}
		c.err = t.errorf(lowerFirst(suggest.Sentence(t.text, hostFields, "facts about a host")), "there is no %s",
			t.text)
	case root == "axis" && dotted:
		c.err = t.errorf("write "+strings.TrimPrefix(t.text, "axis."), "conditions name an axis by itself")
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
	c.nullValue(n)
	c.quoted(n)
	for _, r := range right {
		c.enumValue(n.Left, r)
		c.enumValue(r, n.Left)
		left, known := c.dimension(n.Left)
		other, alsoKnown := c.dimension(r)
		if known && alsoKnown && left != other && c.err == nil {
			c.err = c.errorAt(n, "compare a "+left.String()+" with a "+left.String(), "a %s is compared with a %s",
				left, other)
		}
	}
}

// sum refuses to add a time to a size. A plain number may count either.
func (c *conditionChecker) sum(n *ast.BinaryNode) {
	left, known := c.dimension(n.Left)
	right, alsoKnown := c.dimension(n.Right)
	if known && alsoKnown && left != right && left != quantity.Number && right != quantity.Number {
		c.err = c.errorAt(n, "add and subtract what is of one kind",
			"a %s and a %s have no sum and no difference", left, right)
	}
}

// null stands for the value of a variable that is left unset.
const null = "null"

// nullValue refuses to compare with null what always has a value.
func (c *conditionChecker) nullValue(n *ast.BinaryNode) {
	for _, sides := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		_, isNull := sides[1].(*ast.NilNode)
		if !isNull || c.err != nil {
			continue
		}
		t := c.at[firstOf(sides[0]).Location().From]
		if a, ok := c.names.axis(t.text); !ok || !a.Null || n.Operator != "==" && n.Operator != "!=" {
			c.err = c.errorAt(n, "compare an axis env.NAME that has the value null with == or !=",
				"only a variable that the sweep leaves unset is null")
		}
	}
}

// firstOf is the node at which a name with dots begins.
func firstOf(n ast.Node) ast.Node {
	for {
		m, ok := n.(*ast.MemberNode)
		if !ok {
			return n
		}
		n = m.Node
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
	c.err = errorf(t.from, max(t.to, t.from+1), lowerFirst(suggest.Sentence(text.Value, o.Values, "values")),
		"option %s is never %q", o.Name, text.Value)
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
	c.err = errorf(t.from, max(t.to, t.from+1), lowerFirst(suggest.Sentence(text.Value, fabrics, "fabrics")),
		"no host has a fabric %q", text.Value)
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
