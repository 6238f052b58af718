package planner

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// need draws the edges between runs and, from them, between cases: axes that
// both runs have match point by point, all others fan in.
func need(d *draft) {
	if cycle := findCycle(d.scenario.Runs); cycle != nil {
		d.report(cycleDiagnostic(cycle))
		return
	}
	byName := map[string]*draftRun{}
	for _, r := range d.runs {
		byName[r.run.Name] = r
	}
	for _, r := range d.runs {
		for _, c := range r.cases {
			c.Needs = []string{}
		}
		for _, n := range r.run.Needs {
			upstream, ok := byName[n.Run]
			if !ok {
				d.fail(n.Range, "Unknown run", fmt.Sprintf("Run %q needs %q, which the scenario does not have.", r.run.Name, n.Run))
				continue
			}
			d.connect(r, upstream, n)
		}
	}
}

// connect adds the edges of one need to the cases.
func (d *draft) connect(r, upstream *draftRun, n *dsl.Need) {
	shared := sharedAxes(r.run, upstream.run)
	at := map[string][]string{}
	for _, u := range upstream.cases {
		k := u.project(upstream.run, shared)
		at[k] = append(at[k], u.Key)
	}
	for _, c := range r.cases {
		keys := at[c.project(r.run, shared)]
		if len(keys) == 0 && len(upstream.cases) > 0 {
			d.fail(n.Range, "No matching case", fmt.Sprintf("The case %s has no counterpart in run %q: axes of the same name (%s) are matched value by value. Give both runs the same values.", c.Key, n.Run, strings.Join(shared, ", ")))
			return
		}
		c.Needs = append(c.Needs, keys...)
	}
}

func sharedAxes(a, b *dsl.Run) []string {
	var names []string
	for _, x := range a.Axes {
		for _, y := range b.Axes {
			if x.Name == y.Name {
				names = append(names, x.Name)
			}
		}
	}
	return names
}

// project is the part of a case's point that lies on the named axes.
func (c *draftCase) project(r *dsl.Run, axes []string) string {
	texts := map[string]string{}
	for _, name := range axes {
		for i, a := range r.Axes {
			if a.Name == name {
				texts[name] = c.point[i].Text
			}
		}
	}
	return Key("", texts)
}

// edge is a need together with the run that has it.
type edge struct {
	from string
	need *dsl.Need
}

// findCycle walks the needs depth first, in file order, and returns the edges of
// the first cycle, nil if there is none.
func findCycle(runs []*dsl.Run) []edge {
	byName := map[string]*dsl.Run{}
	for _, r := range runs {
		byName[r.Name] = r
	}
	const active, done = 1, 2
	state := map[string]int{}
	var path, cycle []edge
	var visit func(r *dsl.Run) bool
	visit = func(r *dsl.Run) bool {
		state[r.Name] = active
		for _, n := range r.Needs {
			next, ok := byName[n.Run]
			if !ok || state[n.Run] == done {
				continue
			}
			path = append(path, edge{r.Name, n})
			if state[n.Run] == active {
				for i, e := range path {
					if e.from == n.Run {
						cycle = path[i:]
					}
				}
				return true
			}
			if visit(next) {
				return true
			}
			path = path[:len(path)-1]
		}
		state[r.Name] = done
		return false
	}
	for _, r := range runs {
		if state[r.Name] == 0 && visit(r) {
			return cycle
		}
	}
	return nil
}

func cycleDiagnostic(cycle []edge) *hcl.Diagnostic {
	names := []string{cycle[0].from}
	var places []string
	for _, e := range cycle {
		names = append(names, e.need.Run)
		places = append(places, fmt.Sprintf("  %s needs %s at %s", e.from, e.need.Run, e.need.Range))
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Runs need each other",
		Detail:  fmt.Sprintf("The cycle %s:\n%s\nRemove one of these needs.", strings.Join(names, " → "), strings.Join(places, "\n")),
		Subject: cycle[0].need.Range.Ptr(),
	}
}
