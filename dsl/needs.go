// Needs between runs, and background load.

package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
)

// The outcomes of a needed case on which another case may run.
const (
	onSuccess = "success"
	onAlways  = "always"
)

// needList reads a name, a mapping {run, on}, or a list of both.
func (l *loader) needList(content *hcl.BodyContent) []*Need {
	var out []*Need
	for _, b := range content.Blocks {
		if b.Type == "needs" {
			out = append(out, l.longNeed(part{l.content(b.Body, schemaOf(grammar.Need), "a need"), b.DefRange})...)
		}
	}
	expr := argument(content, "needs")
	if expr == nil {
		return out
	}
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		items = []hcl.Expression{expr}
	}
	for _, e := range items {
		if isMapping(e) {
			out = append(out, l.longNeed(l.record(e, schemaOf(grammar.Need), "a need"))...)
			continue
		}
		out = append(out, l.shortNeeds(e)...)
	}
	return out
}

func (l *loader) longNeed(p part) []*Need {
	n, before := &Need{On: onSuccess}, len(l.diags)
	l.fill(p, grammar.Need, n)
	if !l.complete(p, grammar.Need, "a need") || n.Run == "" && len(l.diags) > before {
		return nil
	}
	n.Range = argument(p.BodyContent, "run").Range()
	return []*Need{n}
}

// shortNeeds reads a name, or an expression that gives names.
func (l *loader) shortNeeds(expr hcl.Expression) []*Need {
	v := l.value(expr)
	if !v.IsWhollyKnown() {
		return nil
	}
	if text, ok := plainText(v); ok {
		return []*Need{{Run: text, On: onSuccess, Range: expr.Range()}}
	}
	if v.IsNull() || !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		l.error(expr.Range(), "Invalid need", "needs names runs.",
			"Write a run's name, [RUN, RUN], or run and on of one.")
		return nil
	}
	var out []*Need
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		text, problem := scalarText(e)
		if problem != "" {
			l.error(expr.Range(), "Invalid value", "an item of needs "+problem+".", "")
			continue
		}
		out = append(out, &Need{Run: text, On: onSuccess, Range: expr.Range()})
	}
	return out
}

// whileRun reads the run during which this one runs as background load.
func (l *loader) whileRun(content *hcl.BodyContent) *Need {
	expr := argument(content, "while")
	if expr == nil {
		return nil
	}
	name, ok := l.text(expr, "while")
	if !ok {
		return nil
	}
	return &Need{Run: name, On: onAlways, Range: expr.Range()}
}

// checkNeeds checks needs and while of runs. known are all runs that the file sees, in order. The
// planner finds cycles, since they depend on the graph.
func (l *loader) checkNeeds(own []*Run, known []*Run) {
	byName := map[string]*Run{}
	var names []string
	for _, r := range known {
		if byName[r.Name] == nil {
			names = append(names, r.Name)
		}
		byName[r.Name] = r
	}
	exists := func(r *Run, n *Need) bool {
		if byName[n.Run] == nil && !l.incomplete {
			others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == r.Name })
			l.error(n.Range, "Unknown run", fmt.Sprintf("There is no run %q.", n.Run),
				suggest.Sentence(n.Run, others, "other runs"))
		}
		return byName[n.Run] != nil
	}
	for _, r := range own {
		seen := map[string]bool{}
		for _, n := range r.Needs {
			switch {
			case n.Run == r.Name:
				l.error(n.Range, "Run needs itself", fmt.Sprintf("Run %q would wait for itself.", r.Name),
					"Remove it.")
			case !exists(r, n):
			case seen[n.Run]:
				l.error(n.Range, "Duplicate need", fmt.Sprintf("Run %q is already in needs.", n.Run), "Name it once.")
			}
			seen[n.Run] = true
		}
		if r.While != nil && r.While.Run == r.Name {
			l.error(r.While.Range, "Run needs itself", fmt.Sprintf("Run %q cannot be its own background load.", r.Name),
				"Name the run during which it runs.")
		} else if r.While != nil && exists(r, r.While) {
			l.background(r, byName[r.While.Run])
		}
	}
}

// background checks a background load against the run that it accompanies.
func (l *loader) background(load, of *Run) {
	if of.While != nil {
		l.error(load.While.Range, "Load of a load", fmt.Sprintf("Run %q is itself background load of %q.", of.Name,
			of.While.Run), "Name a run that is not background load.")
	}
	if n := load.need(of.Name); n != nil {
		l.error(n.Range, "Load comes after its run",
			fmt.Sprintf("Run %q runs during %q, so it cannot wait for its end.", load.Name, of.Name),
			"Remove needs or while.")
	}
	if n := of.need(load.Name); n != nil {
		l.error(n.Range, "Run comes after its load",
			fmt.Sprintf("Run %q runs during %q, which therefore cannot wait for its end.", load.Name, of.Name),
			"Remove this need, or while from the other run.")
	}
}

func (r *Run) need(name string) *Need {
	for _, n := range r.Needs {
		if n.Run == name {
			return n
		}
	}
	return nil
}
