// Mappings with keys of the author's own, and how they are written.

package dsl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// entry is one key of a section.
type entry struct {
	name      string
	at        hcl.Range
	expr      hcl.Expression
	inherited bool // from the defaults
}

// section reads a mapping, in file order, from its block or its attribute.
func (d *decoder) section(content *hcl.BodyContent, name string) []entry {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			var out []entry
			for _, a := range d.bodyAttributes(b.Body) {
				out = append(out, entry{name: a.Name, at: a.NameRange, expr: a.Expr})
			}
			slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.at.Start.Byte, b.at.Start.Byte) })
			return out
		}
	}
	if a, ok := content.Attributes[name]; ok {
		return d.mapping(a.Expr, name)
	}
	return nil
}

// bodyAttributes are the attributes of a block, which may have no blocks.
func (d *decoder) bodyAttributes(body hcl.Body) hcl.Attributes {
	native, ok := body.(*hclsyntax.Body)
	if !ok || len(native.Blocks) == 0 {
		attrs, diags := body.JustAttributes()
		d.diags = append(d.diags, diags...)
		return attrs
	}
	for _, b := range native.Blocks {
		form := b.Type + " = { … }"
		if len(b.Labels) > 0 {
			form = b.Type + " = { " + b.Labels[0] + " = { … } }"
		}
		d.error(b.TypeRange, "Unexpected block", quote(b.Type)+" is not written as a block.", "Write "+form+".")
	}
	attrs := hcl.Attributes{}
	for name, a := range native.Attributes {
		attrs[name] = a.AsHCLAttribute()
	}
	return attrs
}

// mapping reads an expression that holds pairs.
func (d *decoder) mapping(expr hcl.Expression, name string) []entry {
	return d.mappingLike(expr, name, d.sample())
}

// mappingLike reads an expression that holds pairs, as sample shows them.
func (d *decoder) mappingLike(expr hcl.Expression, name, sample string) []entry {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		d.error(expr.Range(), "Not a mapping", quote(name)+" must be a mapping.", d.mappingHint(expr, name, sample))
		return nil
	}
	var out []entry
	seen := map[string]bool{}
	for _, p := range pairs {
		key, diags := p.Key.Value(nil)
		text, ok := plainText(key)
		if diags.HasErrors() || !ok {
			d.error(p.Key.Range(), "Invalid key", "A key is a plain text.", "Write it without ${…}.")
			continue
		}
		if seen[text] {
			d.error(p.Key.Range(), "Duplicate key", quote(text)+" was already given.", "Keep one of the two.")
			continue
		}
		seen[text] = true
		out = append(out, entry{name: text, at: p.Key.Range(), expr: p.Value})
	}
	return out
}

// unspaced finds a key of YAML without a space after its colon, which is a text.
var unspaced = lazyregexp.New(`^[a-z_]+:[^:/ ]`)

// mappingHint says how a mapping is written that is something else.
func (d *decoder) mappingHint(expr hcl.Expression, name, sample string) string {
	if v, diags := expr.Value(nil); d.yaml && !diags.HasErrors() {
		if text, ok := plainText(v); ok && unspaced().MatchString(text) {
			return "Write a space after the colon of " + text + "."
		}
	}
	if d.yaml {
		return "Write it as " + name + ": " + sample + "."
	}
	return "Write it as " + name + " " + sample + "."
}

// sample shows a mapping with keys of the author's choice.
func (d *decoder) sample() string {
	if d.yaml {
		return "{key: value}"
	}
	return "{ key = value }"
}

// sampleOf shows a mapping with some keys in the author's syntax.
func (d *decoder) sampleOf(s schema) string {
	equals := " = …"
	if d.yaml {
		equals = ": …"
	}
	var keys []string
	for _, k := range d.known(s) {
		keys = append(keys, k+equals)
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
