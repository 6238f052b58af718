package dsl

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Expressions have no loops but for, yet a line of them can ask for hours: loops
// in loops, numbers of a milliard digits, texts that multiply.

// maxResult bounds the text that one function makes.
const maxResult = 1 << 20

// maxVariables bounds the environment variables of all runs together.
const maxVariables = 50_000

// Bounds of what all expressions of a scenario do together: the bytes of the
// texts that they give, and the items of the lists that they read.
const (
	maxMade = 16 << 20
	maxRead = 1 << 20
)

// spent counts a value that an expression gave.
func (g *loading) spent(v cty.Value) bool {
	if g.made <= maxMade && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		g.made += len(v.AsString())
	}
	return g.made <= maxMade
}

// readable counts the items of the lists that an expression is about to read.
func (l *loader) readable(expr hcl.Expression) bool {
	for _, t := range expr.Variables() {
		if t.RootName() != "var" || len(t) < 2 {
			continue
		}
		attribute, ok := t[1].(hcl.TraverseAttr)
		if !ok {
			continue
		}
		if v, ok := l.eval.variables[attribute.Name]; ok && v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			l.all.read += v.LengthInt()
		}
	}
	return l.all.read <= maxRead
}

// maxItems bounds lists that are calculated with: finding one type for all items
// takes the square of their number.
const maxItems = 1000

// maxBits bounds whole numbers; those of float64 are below it.
const maxBits = 1100

var (
	hugeNumber = regexp.MustCompile(`^\s*[-+]?[0-9._]+[eE][-+]?[0-9]{4,}\s*$`)
	hugeWidth  = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4,}`)
)

// unbounded finds what an expression must not hold before it is evaluated.
func unbounded(expr hcl.Expression) hcl.Diagnostics {
	t, isYAML := expr.(interface{ Template() hclsyntax.Expression })
	if isYAML && t.Template() != nil {
		expr = t.Template()
	}
	if node, ok := expr.(hclsyntax.Node); ok {
		return hclsyntax.Walk(node, &boundsWalker{})
	}
	var diags hcl.Diagnostics
	items, _ := hcl.ExprList(expr)
	for _, item := range items {
		diags = append(diags, unbounded(item)...)
	}
	pairs, _ := hcl.ExprMap(expr)
	for _, p := range pairs {
		diags = append(diags, unbounded(p.Value)...)
	}
	return diags
}

// boundsWalker counts what is open around a node.
type boundsWalker struct{ loops, operations int }

func (w *boundsWalker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	w.count(node, 1)
	switch n := node.(type) {
	case *hclsyntax.ForExpr:
		if w.loops == 2 {
			return hcl.Diagnostics{diagnostic(n.OpenRange, "Expression too costly", "A for stands inside another.", "Write the values out, or make them with two variables.")}
		}
	case *hclsyntax.TupleConsExpr:
		// A list that is read item by item is none of an expression.
		if len(n.Exprs) > maxItems && w.operations+w.loops > 0 {
			return hcl.Diagnostics{diagnostic(n.OpenRange, "Expression too costly", fmt.Sprintf("The list has %d items; in an expression the most is %d.", len(n.Exprs), maxItems), "Give it to a variable of type list.")}
		}
	case *hclsyntax.LiteralValueExpr:
		// A text like 12e34567 is a number only to what calculates with it.
		if (n.Val.Type() != cty.String || w.operations > 0) && huge(n.Val) {
			return hcl.Diagnostics{diagnostic(n.SrcRange, "Expression too costly", "The number is beyond what weir calculates with.", "")}
		}
	}
	return nil
}

func (w *boundsWalker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	w.count(node, -1)
	return nil
}

func (w *boundsWalker) count(node hclsyntax.Node, n int) {
	switch node.(type) {
	case *hclsyntax.ForExpr:
		w.loops += n
	case *hclsyntax.BinaryOpExpr, *hclsyntax.UnaryOpExpr, *hclsyntax.FunctionCallExpr:
		w.operations += n
	}
}

// huge says whether a literal is, or would be read as, a number with so many
// digits that arithmetic with it takes noticeable time.
func huge(v cty.Value) bool {
	switch {
	case !v.IsKnown() || v.IsNull():
		return false
	case v.Type() == cty.String:
		return hugeNumber.MatchString(v.AsString())
	case v.Type() == cty.Number:
		exponent := v.AsBigFloat().MantExp(nil)
		return exponent > maxBits || exponent < -maxBits
	}
	return false
}

// bounded makes a function refuse arguments that check refuses.
func bounded(f function.Function, check func(args []cty.Value) error) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := check(args); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	}
	return function.New(spec)
}

var boundedFormat = bounded(stdlib.FormatFunc, func(args []cty.Value) error {
	if v := args[0]; v.IsKnown() && !v.IsNull() && hugeWidth.MatchString(v.AsString()) {
		return fmt.Errorf("a width has at most 3 digits")
	}
	longest := maxWidth
	for _, v := range args[1:] {
		if huge(v) {
			return fmt.Errorf("the number is beyond what weir calculates with")
		}
		longest = max(longest, textLength(v))
	}
	if v := args[0]; v.IsKnown() && !v.IsNull() {
		text := v.AsString()
		return small(len(text) + strings.Count(text, "%")*longest)
	}
	return nil
})

// maxWidth is what a verb of format takes at least into account.
const maxWidth = 400

// textLength is about how long a value is as a text.
func textLength(v cty.Value) int {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
		return 0
	case v.Type() == cty.String:
		return len(v.AsString())
	case v.CanIterateElements():
		n := 2
		for it := v.ElementIterator(); it.Next(); {
			_, item := it.Element()
			n += textLength(item) + 3
		}
		return n
	}
	return maxWidth
}

func small(bytes int) error {
	if bytes > maxResult {
		return fmt.Errorf("the result would have more than %d bytes", maxResult)
	}
	return nil
}

var boundedJoin = bounded(stdlib.JoinFunc, func(args []cty.Value) error {
	n, items := 0, 0
	for _, v := range args[1:] {
		n += textLength(v)
		if v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			items += v.LengthInt()
		}
	}
	return small(n + items*textLength(args[0]))
})

// boundedConcat keeps lists short enough to calculate with.
var boundedConcat = bounded(stdlib.ConcatFunc, func(args []cty.Value) error {
	n := 0
	for _, v := range args {
		if v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			n += v.LengthInt()
		}
	}
	if n > maxValues {
		return fmt.Errorf("the list would have more than %d items", maxValues)
	}
	return nil
})

// boundedSplit makes no more items than a list may have.
var boundedSplit = bounded(stdlib.SplitFunc, func(args []cty.Value) error {
	for _, v := range args {
		if !v.IsKnown() || v.IsNull() {
			return nil
		}
	}
	if n := strings.Count(args[1].AsString(), args[0].AsString()); n >= maxValues {
		return fmt.Errorf("the list would have more than %d items", maxValues)
	}
	return nil
})

var boundedReplace = bounded(stdlib.ReplaceFunc, func(args []cty.Value) error {
	for _, v := range args {
		if !v.IsKnown() || v.IsNull() {
			return nil
		}
	}
	text, old, new := args[0].AsString(), args[1].AsString(), args[2].AsString()
	return small(len(text) + (strings.Count(text, old)+1)*len(new))
})
