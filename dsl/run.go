package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/expression"
	"weir/dsl/grammar"
	"weir/suggest"
	"weir/workload"
)

// draft is a run whose assertions are not compiled yet: they may speak of runs
// that come after it.
type draft struct {
	run     *Run
	content *hcl.BodyContent
}

// run decodes one run but for its assertions. It is returned even if it has
// errors, for needs to find.
func (l *loader) run(b *hcl.Block, d defaults) *draft {
	r := &Run{Name: b.Labels[0], Range: b.LabelRanges[0], Launches: d.launches, Retry: d.retry, eval: l.eval}
	defer l.reading(r)()
	l.places.add(b.DefRange, "run "+r.Name)
	l.checkName(r.Name, r.Range)
	content := l.content(b.Body, schemaOf(grammar.Run), "a run")
	out := &draft{run: r, content: content}
	if expr := argument(content, "launches"); expr != nil {
		r.Launches = l.launches(expr)
	}
	t := l.deadlines(content, d.deadlines)
	r.Timeout, r.Phases = t.launch, t.phases
	if has(content, "retry") {
		r.Retry = l.retry(content)
	}
	if p, ok := l.sectionPart(content, "may_fail", schemaOf(grammar.MayFail)); ok {
		r.MayFail = l.mayFail(p)
	}
	r.Place = l.place(content)
	r.Stage = l.stage(content)
	r.Needs, r.While = l.needList(content), l.whileRun(content)
	l.hooks(content, runScope).surround(r)
	if r.Workload = l.workload(content, r); r.Workload == nil {
		return out
	}
	own := l.metrics(content, r, l.section(content, "options"))
	l.settings(content, r, own, d, l.sweep(content, r, slices.Concat(own, d.options[r.Workload.Name])))
	l.measures(r)
	if expr := argument(content, "when"); expr != nil {
		r.When, r.WhenRange = l.condition(expr, r.names()), expr.Range()
	}
	return out
}

func (l *loader) stage(content *hcl.BodyContent) string {
	expr := argument(content, "stage")
	if expr == nil {
		return ""
	}
	text, ok := l.text(expr, "stage")
	stage := strings.Join(strings.Fields(text), " ")
	if ok && stage == "" {
		l.error(expr.Range(), "Invalid value", "The stage has no name.", "Name it, or leave the key out.")
	}
	return stage
}

// has says whether a key is given, as an argument or as a block.
func has(content *hcl.BodyContent, name string) bool {
	for _, b := range content.Blocks {
		if b.Type == name {
			return true
		}
	}
	return argument(content, name) != nil
}

func (l *loader) workload(content *hcl.BodyContent, r *Run) *workload.Kind {
	expr := argument(content, "workload")
	if expr == nil {
		l.error(r.Range, "Missing workload", fmt.Sprintf("Run %q does not say what it does.", r.Name),
			"Add a workload: "+strings.Join(workload.Names(), ", ")+".")
		return nil
	}
	name, ok := l.text(expr, "workload")
	if !ok {
		return nil
	}
	kind, ok := workload.Lookup(name)
	if !ok {
		l.error(expr.Range(), "Unknown workload", fmt.Sprintf("There is no workload %q.", name),
			suggest.Documented(name, workload.Names(), "workloads", "weir docs workloads"))
		return nil
	}
	return kind
}

// judge compiles the assertions of the file's own runs, which may speak of all
// runs that the file sees.
func (l *loader) judge(m *module, drafts []*draft, tables map[string]*expression.Reference) {
	names, byName := map[string]*expression.Names{}, map[string]*Run{}
	for _, r := range m.runs {
		if r.Workload == nil {
			l.incomplete = true
			continue
		}
		if byName[r.Name] == nil {
			n := r.names()
			n.Run, n.Runs = r.Name, names
			names[r.Name], byName[r.Name] = n, r
		}
	}
	for _, d := range drafts {
		if d.run.Workload == nil {
			continue
		}
		read := l.reading(d.run)
		n := d.run.names()
		n.Run, n.Runs, n.Reference = d.run.Name, names, tables[d.run.Name]
		if byName[d.run.Name] == d.run {
			names[d.run.Name] = n
		}
		if expr := argument(d.content, "assert"); expr != nil {
			d.run.Asserts = l.asserts(expr, n, byName)
		}
		read()
	}
	for _, d := range drafts {
		l.checkValues([]*Run{d.run}, names)
	}
}
