package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/weir-bench/weir/internal/quantity"
)

// quoted reads texts that are compared with a value with a dimension as quantities: "64KiB" is
// 64KiB.
func (c *conditionChecker) quoted(n *ast.BinaryNode) {
	sides := []*ast.Node{&n.Right}
	if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
		sides = nil
		for i := range list.Nodes {
			sides = append(sides, &list.Nodes[i])
		}
	}
	for _, side := range sides {
		c.quotedBeside(n.Left, side)
	}
	c.quotedBeside(n.Right, &n.Left)
}

func (c *conditionChecker) quotedBeside(other ast.Node, side *ast.Node) {
	text, isText := (*side).(*ast.StringNode)
	dim, known := c.dimension(other)
	if !isText || !known || dim == quantity.Number || c.err != nil {
		return
	}
	q, err := quantity.Parse(text.Value)
	if err != nil || q.Dim != dim && q.Value != 0 {
		t := c.at[text.Location().From]
		c.err = errorf(t.from, max(t.to, t.from+1), "", "a %s is compared with the text %q", dim, text.Value)
		return
	}
	number := &ast.FloatNode{Value: exact(q.Value)}
	number.SetLocation(text.Location())
	*side = number
}
