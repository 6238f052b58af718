package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Fabrics returns the fabrics, besides the case's own, that the condition tests for; not ok: it may
// depend on any. To find a fabric, a host must load vendor libraries, so it looks only for these.
func (c *Condition) Fabrics() (names []string, ok bool) {
	if slices.Contains(c.names, "host") || slices.Contains(c.names, "host.backends") {
		return nil, false // a computed field, or what a library beneath has
	}
	v := &fabricVisitor{}
	node := c.program.Node()
	ast.Walk(&node, v)
	return v.names, v.mentioned == v.understood
}

// fabricVisitor counts the uses of host.fabrics, and those in membership tests with a constant left
// side.
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
