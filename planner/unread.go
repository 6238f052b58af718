package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/fabric"
	"weir/workload"
)

// unread is a variable of the scenario, by where it stands, as long as no run is known that reads it.
type unread struct {
	name string
	why  string   // of the first run
	runs []string // that have it
	read bool
}

// unreadVariables warns of variables that tune a library which nothing that has them uses.
func (t *Table) unreadVariables() {
	found := map[hcl.Range]*unread{}
	var order []hcl.Range
	for _, s := range t.sheets {
		if s.live == 0 {
			continue
		}
		for _, c := range s.settings {
			at := c.At()
			if !c.Env || at == (hcl.Range{}) || slices.ContainsFunc(c.values.values, isUnset) {
				continue
			}
			u := found[at]
			if u == nil {
				u = &unread{name: c.Name}
				found[at], order = u, append(order, at)
			}
			why := t.unreadIn(s, c.Name)
			u.read = u.read || why == ""
			u.runs = append(u.runs, s.run.Name)
			if u.why == "" {
				u.why = why
			}
		}
	}
	for _, at := range order {
		u := found[at]
		if u.read {
			continue
		}
		where := fmt.Sprintf("run %q", u.runs[0])
		if len(u.runs) > 1 {
			where = fmt.Sprintf("%d runs", len(u.runs))
		}
		t.report(&hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Variable without effect", Subject: &at,
			Detail: fmt.Sprintf("%s does nothing in %s: %s.", u.name, where, u.why),
			Extra:  dsl.Hint("Name the fabric that reads it, or remove the variable."),
		})
	}
}

func isUnset(v any) bool {
	_, unset := v.(dsl.Unset)
	return unset
}

// unreadIn says why no case of a run reads a variable; "": one may.
func (t *Table) unreadIn(s *sheet, name string) (why string) {
	options := []string{"fabric", "memory", "initiator", "target", "services", "roles"}
	read := false
	work(s.by(s.axesOf(append(options, s.run.Workload.RanksOptions()...))), func(i int) bool {
		if read {
			return false
		}
		own := t.unreadAt(s, i, name)
		if read = own == ""; !read && why == "" {
			why = own
		}
		return true
	})
	if read {
		return ""
	}
	return why
}

// unreadAt says it of a case. Programs that weir did not write may read anything.
func (t *Table) unreadAt(s *sheet, i int, name string) string {
	if text, _ := s.option("services", i).(string); s.option("roles", i) != nil || text != "" && text != "{}" {
		return ""
	}
	env, _ := s.env(i)
	moves, _ := s.option("fabric", i).(string)
	if moves != fabric.AutoName {
		return fabric.Unread(name, moves, env["FI_PROVIDER"])
	}
	gpu := slices.ContainsFunc([]string{"memory", "initiator", "target"},
		func(o string) bool { return s.option(o, i) == fabric.VRAM })
	nodes := max(t.place(s.run, s.ranks(i)).Nodes, t.scenario.Cluster.Nodes)
	all := fabric.Candidates(workload.Demand{Fabric: fabric.AutoName, GPU: gpu}, nodes)
	if slices.ContainsFunc(all, func(f string) bool { return fabric.Unread(name, f, env["FI_PROVIDER"]) == "" }) {
		return ""
	}
	where := " (fabric auto)"
	if nodes == 1 {
		where = " (fabric auto on one node)"
	}
	return fabric.Unread(name, strings.Join(all, " or ")+where, env["FI_PROVIDER"])
}
