// Variables that nothing reads.

package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/fabric"
)

// unread is a variable of the scenario that no run is known to read, by its place.
type unread struct {
	name string
	why  string   // the reason in the first run
	runs []string // that have it
	read bool
}

// warnUnreadVariables warns of variables of a library that none of their runs uses, and of those that look misspelt.
func (t *Table) warnUnreadVariables() {
	found := map[hcl.Range]*unread{}
	var order []hcl.Range
	for _, run := range t.runs {
		if len(run.rows) == 0 {
			continue
		}
		for _, c := range run.columns {
			at := c.At()
			if !c.Env || at == (hcl.Range{}) || slices.ContainsFunc(c.cells, isUnset) {
				continue
			}
			u := found[at]
			if u == nil {
				u = &unread{name: c.Name}
				found[at], order = u, append(order, at)
			}
			why := t.unreadIn(run, c.Name)
			u.read = u.read || why == ""
			u.runs = append(u.runs, run.run.Name)
			if u.why == "" {
				u.why = why
			}
		}
	}
	for _, at := range order {
		u := found[at]
		if near := fabric.Misspelt(u.name); near != "" {
			t.warn(at, "Misspelt variable", fmt.Sprintf("%s looks like a misspelling of %s.", u.name, near),
				"Correct the name, or remove the variable.")
			continue
		}
		if u.read {
			continue
		}
		where := fmt.Sprintf("run %q", u.runs[0])
		if len(u.runs) > 1 {
			where = fmt.Sprintf("%d runs", len(u.runs))
		}
		t.warn(at, "Variable without effect", fmt.Sprintf("%s has no effect in %s: %s.", u.name, where, u.why),
			"Name the fabric that reads it, or remove the variable.")
	}
}

func isUnset(c *cell) bool {
	_, unset := c.value.(dsl.Unset)
	return unset
}

// unreadIn returns why no case of a run reads a variable; "" if one may.
func (t *Table) unreadIn(run *runTable, name string) (why string) {
	options := []string{"fabric", "memory", "initiator", "target", "services", "roles"}
	for r := range run.distinctBy(append(options, run.run.Workload.RanksOptions()...)...) {
		own := t.unreadAt(r, name)
		if own == "" {
			return ""
		}
		why = cmp.Or(why, own)
	}
	return why
}

// unreadAt is unreadIn for one case. Foreign programs may read any variable.
func (t *Table) unreadAt(r *row, name string) string {
	if text, _ := r.option("services").(string); r.option("roles") != nil || text != "" && text != "{}" {
		return ""
	}
	env, _, _ := r.env()
	moves, _ := r.option("fabric").(string)
	if moves != fabric.AutoName {
		return fabric.Unread(name, moves, env["FI_PROVIDER"])
	}
	gpu := slices.ContainsFunc([]string{"memory", "initiator", "target"},
		func(o string) bool { return r.option(o) == fabric.VRAM })
	nodes := max(t.place(r.run, r.ranks()).Nodes, t.scenario.Cluster.Nodes)
	all := fabric.Candidates(fabric.Demand{Fabric: fabric.AutoName, GPU: gpu}, nodes)
	if slices.ContainsFunc(all, func(f string) bool { return fabric.Unread(name, f, env["FI_PROVIDER"]) == "" }) {
		return ""
	}
	where := " (fabric auto)"
	if nodes == 1 {
		where = " (fabric auto on one node)"
	}
	return fabric.Unread(name, strings.Join(all, " or ")+where, env["FI_PROVIDER"])
}
