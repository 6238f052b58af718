// Paths within structures, which become options of type File.

package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/workload"
)

// renamePathKeys renames keys that hold the path of a structure's file to the options that read it.
func renamePathKeys(k *workload.Kind, entries []entry) []entry {
	var all []entry
	for _, e := range entries {
		o, _ := k.Option(e.name)
		pairs, diags := hcl.ExprMap(e.expr)
		if o.Forms.Moved == nil || diags.HasErrors() {
			all = append(all, e)
			continue
		}
		rest := &mappingExpression{at: e.at}
		var files []entry
		for _, p := range pairs {
			key, _ := p.Key.Value(nil)
			if name, ok := plainText(key); ok && o.Forms.Moved[name] != "" {
				files = append(files, entry{name: o.Forms.Moved[name], at: p.Key.Range(), expr: p.Value})
			} else {
				rest.pairs = append(rest.pairs, p)
			}
		}
		if files != nil {
			e.expr = rest
		}
		all = append(append(all, e), files...)
	}
	return all
}
