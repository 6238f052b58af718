package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// conditionChecker finds errors that expr-lang's checker cannot find or explain: unknown names,
// values that an option never has, and comparisons of different dimensions.
type conditionChecker struct {
	names    *Names // nil: unknown, no check of names
	host     bool
	at       map[int]token
	literals map[int]token   // quantities with a unit
	nulls    map[int]bool    // positions of null
	callees  map[int]bool    // positions of names of functions
	compared map[int]token   // what is behind == and !=, with the token before the operator
	local    map[string]bool // names that the condition itself defines
	used     []string
	stray    []ast.Node // ranges
	err      *Error
}

func newConditionChecker(tokens []token, names *Names, host bool) *conditionChecker {
	c := &conditionChecker{
		names: names, host: host,
		at: map[int]token{}, literals: map[int]token{}, nulls: map[int]bool{},
		callees: map[int]bool{}, compared: map[int]token{}, local: map[string]bool{},
	}
	before, first := token{}, token{}
	for _, t := range tokens {
		c.at[t.from] = t
		if before.is("==") || before.is("!=") {
			c.compared[t.from] = first
		}
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
		first, before = before, t
	}
	return c
}

var hostFields = []string{"host.fabrics", "host.backends", "host.nodes", "host.gpus", "host.cpus"}

// Visit checks a node; expr-lang visits operands before operators.
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
		c.checkWholeNumbers(n)
		if c.names != nil && c.err == nil {
			c.binary(n)
		}
	}
}

// conditionFunctions are the functions that a condition may call. The result of each is at most as
// large as its arguments.
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

// checkWholeNumbers checks a..b and %, which take whole numbers. A range is allowed only after `in`; elsewhere
// it would be a list. Operands are visited first, so a range is stray until its `in` is visited.
func (c *conditionChecker) checkWholeNumbers(n *ast.BinaryNode) {
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

// finish returns the error found, if any.
func (c *conditionChecker) finish() *Error {
	if c.err == nil && len(c.stray) > 0 {
		return c.errorAt(c.stray[0], "write x in a..b", "a range can only follow in")
	}
	return c.err
}

// errorAt returns an error at an operator or a literal.
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
		c.err = t.errorf("to skip a run by host, use `when`",
			"`where` selects cases at planning, before a host is known")
	case root == "host":
		for _, f := range hostFields {
			if t.text == f {
				return
			}
		}
		c.err = t.errorf(lowerFirst(suggest.Sentence(t.text, hostFields, "facts about a host")), "there is no %s",
			t.text)
	case root == "axis" && dotted:
		c.err = t.errorf("write "+strings.TrimPrefix(t.text, "axis."),
			"conditions use the name of an axis without prefix")
	default:
		_, option := c.names.Kind.Option(t.text)
		_, axis := c.names.axis(t.text)
		if !option && !axis {
			c.err = cmp.Or(c.unquoted(t), c.names.unknownKnob(t))
		}
	}
}

// unquoted reports an unknown name that is compared with a text, and so is meant as one; nil: it is not.
func (c *conditionChecker) unquoted(t token) *Error {
	with := c.compared[t.from].text
	option, known := c.names.Kind.Option(with)
	_, axis := c.names.axis(with)
	_, number := c.names.dimension(with)
	if number || !known && !axis || slices.Contains(option.Values, t.text) {
		return nil
	}
	text := cmp.Or(suggest.Nearest(t.text, option.Values), t.text)
	return t.errorf(`write a text in quotes: `+with+` == "`+text+`"`, "there is no option or axis %s", t.text)
}

// binary checks a comparison, a sum or a difference.
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

// sum refuses to add values of different dimensions. A plain number fits any.
func (c *conditionChecker) sum(n *ast.BinaryNode) {
	left, known := c.dimension(n.Left)
	right, alsoKnown := c.dimension(n.Right)
	if known && alsoKnown && left != right && left != quantity.Number && right != quantity.Number {
		c.err = c.errorAt(n, "add and subtract values of the same dimension",
			"a %s and a %s cannot be added or subtracted", left, right)
	}
}

// null is the value of a variable that is unset.
const null = "null"

// nullValue refuses comparisons with null of values that are never null.
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

// firstOf returns the first node of a dotted name.
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
	if !ok || o.Type != option.Enum {
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

// fabricName checks a name in a membership test of host.fabrics.
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

// fabricValues returns the values of option fabric in all workloads.
func fabricValues() (all []string) {
	for _, k := range workload.Kinds() {
		o, _ := k.Option("fabric")
		for _, v := range o.Values {
			all = ordered.Append(all, v)
		}
	}
	return all
}

// dimension returns the dimension of an operand, if it is known. Plain numbers fit any.
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
