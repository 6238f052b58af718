package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/suggest"
	"weir/workload"
)

// run decodes one run. It is returned even if it has errors, for needs to find.
func (l *loader) run(b *hcl.Block, d defaults) *Run {
	r := &Run{Name: b.Labels[0], Range: b.LabelRanges[0], Launches: d.launches, Timeout: d.timeout, eval: l.eval}
	l.places.add(b.DefRange, "run "+r.Name)
	l.checkName(r.Name, r.Range)
	content := l.content(b.Body, schema{
		attributes: []string{"workload", "needs", "when", "launches", "timeout", "assert"},
		sections:   []string{"options", "env", "sweep"},
	}, "a run")
	if a, ok := content.Attributes["launches"]; ok {
		r.Launches = l.launches(a.Expr)
	}
	if a, ok := content.Attributes["timeout"]; ok {
		r.Timeout = l.duration(a.Expr, "timeout")
	}
	if a, ok := content.Attributes["needs"]; ok {
		r.Needs = l.needList(a.Expr)
	}
	if r.Workload = l.workload(content, r); r.Workload == nil {
		return r
	}
	l.settings(content, r, d, l.sweep(content, r))
	names := r.names()
	if a, ok := content.Attributes["when"]; ok {
		r.When = l.condition(a.Expr, names)
	}
	if a, ok := content.Attributes["assert"]; ok {
		r.Asserts = l.asserts(a.Expr, names)
	}
	return r
}

func (l *loader) workload(content *hcl.BodyContent, r *Run) *workload.Kind {
	a, ok := content.Attributes["workload"]
	if !ok {
		l.error(r.Range, "Missing workload", fmt.Sprintf("Run %q does not say what it does.", r.Name), "Add a workload: "+strings.Join(workload.Names(), ", ")+".")
		return nil
	}
	name, ok := l.text(a.Expr, "workload")
	if !ok {
		return nil
	}
	kind, ok := workload.Lookup(name)
	if !ok {
		l.error(a.Expr.Range(), "Unknown workload", fmt.Sprintf("There is no workload %q.", name), suggest.Sentence(name, workload.Names(), "workloads"))
		return nil
	}
	return kind
}

func (l *loader) needList(expr hcl.Expression) []*Need {
	items, ok, _ := l.list(expr, "needs")
	if !ok {
		l.error(expr.Range(), "Not a list", "needs is a list of runs.", "Write [RUN].")
	}
	var needs []*Need
	for _, i := range items {
		needs = append(needs, &Need{Run: i.text, On: "success", Range: i.at})
	}
	return needs
}

// needs checks that every edge between runs has its end. Cycles are the planner's
// to find: they are a matter of the graph, not of the text.
func (l *loader) needs(runs []*Run) {
	byName := map[string]*Run{}
	var names []string
	for _, r := range runs {
		if byName[r.Name] == nil {
			names = append(names, r.Name)
		}
		byName[r.Name] = r
	}
	for _, r := range runs {
		seen := map[string]bool{}
		for _, n := range r.Needs {
			switch {
			case byName[n.Run] == nil:
				l.error(n.Range, "Unknown run", fmt.Sprintf("There is no run %q.", n.Run), suggest.Sentence(n.Run, names, "runs"))
			case seen[n.Run]:
				l.error(n.Range, "Duplicate need", fmt.Sprintf("Run %q is already needed.", n.Run), "Name it once.")
			}
			seen[n.Run] = true
		}
	}
}
