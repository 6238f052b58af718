package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Fabrics names the fabrics, besides the case's own, on whose presence the
// condition depends; not ok: it may depend on any. Finding out what a host has
// means loading vendor libraries, so one asks only for what is asked for.
func (c *Condition) Fabrics() (names []string, ok bool) {
	if slices.Contains(c.names, "host") {
		return nil, false // some computed field
	}
	v := &fabricVisitor{}
	node := c.program.Node()
	ast.Walk(&node, v)
	return v.names, v.mentioned == v.understood
}

// fabricVisitor counts how often host.fabrics is mentioned, and how often in a
// membership test of which the left side is known.
type fabricVisitor struct {
	names                 []string
	mentioned, understood int
}

func (v *fabricVisitor) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode:
		if isHostFabrics(n) {
			v.mentioned++
		}
	case *ast.BinaryNode:
		if n.Operator != "in" || !isHostFabrics(n.Right) {
			return
		}
		switch left := n.Left.(type) {
		case *ast.StringNode:
			v.names = append(v.names, left.Value)
			v.understood++
		case *ast.IdentifierNode:
			if left.Value == "fabric" {
				v.understood++
			}
		}
	}
}

func isHostFabrics(n ast.Node) bool {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return false
	}
	host, ok1 := m.Node.(*ast.IdentifierNode)
	field, ok2 := m.Property.(*ast.StringNode)
	return ok1 && ok2 && host.Value == "host" && field.Value == "fabrics"
}
