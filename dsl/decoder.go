// The decoder, which reads sections and expressions as Go values.

package dsl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// decoder reads sections and expressions of one file as Go values, and reports errors at their
// places. It knows the grammar and the file, but no other file, run or variant.
type decoder struct {
	file   string
	src    []byte
	yaml   bool
	diags  hcl.Diagnostics
	places *places
	// faulty are the sections with a reported error about a key. What they lack may be what the key means.
	faulty map[*hcl.BodyContent]bool
	// evaluate returns the value of an expression that depends on no point. On failure it reports
	// the error and returns an unknown value.
	evaluate func(hcl.Expression) cty.Value
}

// markFaulty marks a section as faulty if errors were reported since there were `before` diagnostics.
func (d *decoder) markFaulty(content *hcl.BodyContent, before int) *hcl.BodyContent {
	if d.diags[before:].HasErrors() {
		if d.faulty == nil {
			d.faulty = map[*hcl.BodyContent]bool{}
		}
		d.faulty[content] = true
	}
	return content
}

func (d *decoder) error(at hcl.Range, summary, detail, hint string) {
	d.diags = append(d.diags, diagnostic(at, summary, detail, hint))
}

func (d *decoder) warn(at hcl.Range, summary, detail, hint string) {
	d.diags = append(d.diags, warning(at, summary, detail, hint))
}

// items returns the items of an expression; not ok if it is no list, which it reports.
func (d *decoder) items(expr hcl.Expression, detail, hint string) ([]hcl.Expression, bool) {
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		d.error(expr.Range(), "Not a list", detail, hint)
		return nil, false
	}
	return items, true
}
