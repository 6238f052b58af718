// Numbers of HCL whose text is not the one that was written.

package dsl

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/workload"
)

// dateOrRange is a text such as 2027-01-31, 31/01/2027 or 0-7, which HCL reads as a computation.
var dateOrRange = lazyregexp.New(`^\d+(?:-\d+)+$|^\d+(?:/\d+){2,}$`)

// writtenNumbers warns of values such as 1.10 and 0644, which HCL reads as the numbers 1.1 and 644, where a program or
// a name would get their text, and reports those of dateOrRange. YAML keeps them as written.
func writtenNumbers(file *hcl.File) (diags hcl.Diagnostics) {
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	var value func(e hclsyntax.Expression, key string)
	value = func(e hclsyntax.Expression, key string) {
		switch e := e.(type) {
		case *hclsyntax.LiteralValueExpr:
			written := string(e.SrcRange.SliceBytes(file.Bytes))
			text, problem := scalarText(e.Val)
			if problem != "" || text == written || strings.ContainsAny(written, "eE") || numericOptions()[key] {
				return
			}
			diags = append(diags, warning(e.SrcRange, "Number that changes",
				fmt.Sprintf("HCL reads %s as the number %s.", written, text),
				fmt.Sprintf("Write %q to keep it as it is, or %s.", written, text)))
		case *hclsyntax.BinaryOpExpr:
			written := string(e.SrcRange.SliceBytes(file.Bytes))
			if !dateOrRange().MatchString(written) {
				return
			}
			number, _ := e.Value(nil)
			text, _ := plainText(number)
			diags = append(diags, diagnostic(e.SrcRange, "Number that changes",
				fmt.Sprintf("HCL computes %s, which gives the number %s.", written, text),
				fmt.Sprintf("Quote it: %q.", written)))
		case *hclsyntax.TupleConsExpr:
			for _, item := range e.Exprs {
				value(item, key)
			}
		case *hclsyntax.ObjectConsExpr:
			for _, item := range e.Items {
				inner, _ := item.KeyExpr.Value(nil)
				name, _ := plainText(inner)
				value(item.ValueExpr, name)
			}
		case *hclsyntax.ParenthesesExpr:
			value(e.Expression, key)
		case *hclsyntax.ConditionalExpr:
			value(e.TrueResult, key)
			value(e.FalseResult, key)
		}
	}
	var within func(b *hclsyntax.Body)
	within = func(b *hclsyntax.Body) {
		for name, a := range b.Attributes {
			value(a.Expr, name)
		}
		for _, inner := range b.Blocks {
			within(inner.Body)
		}
	}
	within(body)
	return diags
}

// numericOptions are the options, of any workload, that read 1.10 as they read 1.1.
var numericOptions = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			all[o.Name] = all[o.Name] || o.Type.Numeric()
		}
	}
	return all
})
