// Decoding of one run.

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// draft is a run with assertions not yet compiled: they may use runs that come later in the file.
type draft struct {
	run     *Run
	content *hcl.BodyContent
}

// run decodes one run except its assertions. It returns the run even after errors, so that needs
// can find it.
func (l *loader) run(b *hcl.Block, d defaults) *draft {
	r := &Run{Name: b.Labels[0], Range: b.LabelRanges[0], Launches: d.launches, Retry: d.retry, eval: l.eval}
	defer l.beginRun(r)()
	l.places.add(b.DefRange, "run "+r.Name)
	l.checkName(r.Name, r.Range)
	before := len(l.diags)
	content := l.content(b.Body, schemaOf(grammar.Run), "a run")
	r.lacksOptions = len(l.diags) > before && !hasKey(content, "options")
	out := &draft{run: r, content: content}
	if expr := argument(content, "launches"); expr != nil {
		r.Launches = l.launches(expr)
	}
	t := l.deadlines(content, d.deadlines)
	r.Timeout, r.Phases = t.launch, t.phases
	if hasKey(content, "retry") {
		r.Retry = l.retry(content)
	}
	if p, ok := l.sectionPart(content, "may_fail", schemaOf(grammar.MayFail)); ok {
		r.MayFail = l.mayFail(p)
	}
	r.Place = l.place(content)
	r.Stage, r.Tags = l.stage(content), l.tags(content, d.tags)
	r.Needs, r.While = l.needList(content), l.whileRun(content)
	l.hooks(content, runScope).addTo(r)
	if r.Workload = l.workload(content, r); r.Workload == nil {
		return out
	}
	before = len(l.diags)
	options := l.section(content, "options")
	r.lacksOptions = r.lacksOptions || len(l.diags) > before
	own := l.metrics(content, r, options)
	l.settingsOf(r).read(content, own, d, l.sweep(content, r, slices.Concat(own, d.options[r.Workload.Name])))
	l.resolveMetrics(r)
	if expr := argument(content, "when"); expr != nil {
		r.When, r.WhenWritten = l.condition(expr, r.names())
		r.WhenRange = expr.Range()
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

// hasKey reports whether a key is given, as an argument or as a block.
func hasKey(content *hcl.BodyContent, name string) bool {
	for _, b := range content.Blocks {
		if b.Type == name {
			return true
		}
	}
	return argument(content, name) != nil
}

func (l *loader) workload(content *hcl.BodyContent, r *Run) *workload.Kind {
	expr := argument(content, "workload")
	if expr == nil && l.faulty[content] {
		return nil // its wrong key may mean it
	}
	if expr == nil {
		l.error(r.Range, "Missing workload", fmt.Sprintf("Run %q has no workload.", r.Name),
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

// compileAssertions compiles the assertions of the file's own runs, which may use all runs that the file sees.
func (l *loader) compileAssertions(m *module, drafts []*draft, tables map[string]*expression.Reference) {
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
		read := l.beginRun(d.run)
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
		l.checkRunValues([]*Run{d.run}, names)
	}
}
