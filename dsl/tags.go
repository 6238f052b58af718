package dsl

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/ordered"
)

// tags reads the tags of a scenario or of a run, which are added to those of the file.
func (d *decoder) tags(content *hcl.BodyContent, ofFile []string) []string {
	expr := argument(content, "tags")
	if expr == nil {
		return ofFile
	}
	names, isList, _ := d.list(expr, "tags")
	if !isList {
		d.error(expr.Range(), "Not a list", "tags is a list of names.", "Write [nightly].")
	}
	all := slices.Clone(ofFile)
	for _, n := range names {
		d.checkName(n.text, n.at)
		all = ordered.Append(all, n.text)
	}
	return all
}
