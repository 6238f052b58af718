// Included files: reading, prefixes, and merging into the including scenario.

package dsl

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// module is a decoded file with the files that it includes.
type module struct {
	*Scenario
	runs    []*Run // all runs that the file sees, under the names that it uses
	session hooks  // commands around the session

	ownBaseline bool // the file has a baseline, which overrides those of included files
	// ownInconclusive says that the file sets inconclusive, which overrides included files.
	ownInconclusive bool
	incomplete      bool // runs are missing because of errors already reported
}

// included is one item of include.
type included struct {
	file        string
	at          hcl.Range // of the file's name
	as          string
	asAt        hcl.Range
	runs        []item // nil: all
	choosesRuns bool   // runs was given
	variables   map[string]*given
	module      *module // nil: it could not be read
}

// prefixName is narrower than a run's name, since --var PREFIX.NAME is split at its first dot.
var prefixName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// includes reads the included files. from has values of their variables from the command line, by
// PREFIX.NAME.
func (l *loader) includes(content *hcl.BodyContent, from map[string]*given) []*included {
	var out []*included
	add := func(inc *included) {
		if inc != nil {
			out = append(out, inc)
		}
	}
	for _, b := range content.Blocks {
		if b.Type == "include" {
			add(l.includeOf(part{l.content(b.Body, schemaOf(grammar.Include), "an include"), b.DefRange}))
		}
	}
	expr := argument(content, "include")
	if expr != nil {
		items, diags := hcl.ExprList(expr)
		if diags.HasErrors() {
			items = []hcl.Expression{expr}
		}
		for _, e := range items {
			add(l.include(e))
		}
	}
	l.distributeVariables(out, from)
	for i, inc := range out {
		if inc.as != "" && slices.ContainsFunc(out[:i], func(o *included) bool { return o.as == inc.as }) {
			l.error(inc.asAt, "Duplicate prefix", fmt.Sprintf("%q is already the prefix of another file.", inc.as),
				"Choose another.")
			l.incomplete = true
			continue
		}
		l.open(inc)
	}
	return out
}

// include reads one item of the list.
func (l *loader) include(expr hcl.Expression) *included {
	if !isMapping(expr) {
		inc := &included{at: expr.Range(), variables: map[string]*given{}}
		var ok bool
		inc.file, ok = l.text(expr, "include")
		l.incomplete = l.incomplete || !ok
		return inc.orNil(ok)
	}
	return l.includeOf(l.record(expr, schemaOf(grammar.Include), "an include"))
}

// includeOf reads the long form.
func (l *loader) includeOf(p part) *included {
	if !l.complete(p, grammar.Include, "an include") {
		l.incomplete = true
		return nil
	}
	file := argument(p.BodyContent, "file")
	inc := &included{at: file.Range(), variables: map[string]*given{}}
	var ok bool
	inc.file, ok = l.text(file, "file")
	l.incomplete = l.incomplete || !ok
	if as := argument(p.BodyContent, "as"); as != nil {
		var isText bool
		inc.as, isText = l.text(as, "as")
		inc.asAt = as.Range()
		if isText && !prefixName().MatchString(inc.as) || len(inc.as) > 50 {
			l.error(inc.asAt, "Invalid name", fmt.Sprintf("%q is not a valid prefix of run names.", inc.as),
				"Use at most 50 letters, digits, _ and -.")
		}
	}
	if runs := argument(p.BodyContent, "runs"); runs != nil {
		var isList, whole bool
		inc.runs, isList, whole = l.list(runs, "runs")
		switch {
		case !isList:
			l.error(runs.Range(), "Not a list", "runs is a list of the runs to take.",
				"Write [RUN], or leave it out for all.")
		case whole && len(inc.runs) == 0:
			l.error(runs.Range(), "Empty list", "Nothing is taken from the included file.",
				"Name runs of it, or leave runs out for all.")
		}
		inc.choosesRuns = true
	}
	for _, e := range l.section(p.BodyContent, "variables") {
		if g := l.givenBy(e); g != nil {
			inc.variables[e.name] = g
		}
	}
	return inc.orNil(ok)
}

func (inc *included) orNil(ok bool) *included {
	if !ok {
		return nil
	}
	return inc
}

// givenBy reads the value of a variable of an included file.
func (l *loader) givenBy(e entry) *given {
	items, isList, whole := l.list(e.expr, e.name)
	if isList {
		g := &given{name: e.name, isList: true, by: l, at: e.expr.Range()}
		for _, i := range items {
			g.items = append(g.items, i.text)
		}
		if !whole {
			return nil
		}
		return g
	}
	text, ok := l.text(e.expr, e.name)
	if !ok {
		return nil
	}
	return &given{name: e.name, text: text, by: l, at: e.expr.Range()}
}

// distributeVariables passes each PREFIX.NAME of the command line to the file with the prefix.
func (l *loader) distributeVariables(all []*included, from map[string]*given) {
	var prefixes []string
	for _, inc := range all {
		if inc.as != "" {
			prefixes = append(prefixes, inc.as)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		prefix, name, _ := strings.Cut(key, ".")
		i := slices.IndexFunc(all, func(inc *included) bool { return inc.as == prefix && prefix != "" })
		if i >= 0 {
			all[i].variables[name] = from[key]
			continue
		}
		if l.incomplete {
			continue
		}
		if by := from[key].by; by != nil {
			by.error(from[key].at, "Unknown variable", fmt.Sprintf("%s includes no file with the prefix %q.", l.file,
				prefix), suggest.Sentence(prefix, prefixes, "prefixes"))
			continue
		}
		d := &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Unknown variable",
			Detail: fmt.Sprintf("--var %s: no included file has the prefix %q.", from[key].name, prefix),
		}
		d.Extra = Hint(suggest.Sentence(prefix, prefixes, "prefixes"))
		l.diags = append(l.diags, d)
	}
}

// open reads the file of an include.
func (l *loader) open(inc *included) {
	path := l.relative(inc.file)
	g := l.all
	switch cycle := slices.Index(g.open, filepath.Clean(path)); {
	case cycle >= 0:
		l.error(inc.at, "Files include each other", "The cycle "+strings.Join(append(slices.Clone(g.open[cycle:]),
			filepath.Clean(path)), " → ")+".", "Remove one of these includes.")
	default:
		src, err := g.options.Read(path)
		if err != nil {
			l.cannotRead(inc.at, "Cannot read the included file", path, err)
			break
		}
		prefix := ""
		if inc.as != "" && (g.main == l.file || l.prefix != "") {
			prefix = l.prefix + inc.as + "."
		}
		inc.module = g.module(path, src, inc.variables, prefix, inc)
	}
	l.incomplete = l.incomplete || inc.module == nil || inc.module.incomplete
}

// relative returns a path in this file relative to the working directory.
func (l *loader) relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.file), path)
}

// merge adds the included files to the scenario, their runs first.
func (l *loader) merge(m *module, all []*included) {
	for _, inc := range all {
		if inc.module == nil {
			continue
		}
		inc.selectRuns(l)
		inc.rename()
		for _, r := range inc.module.runs {
			if i := slices.IndexFunc(m.runs, func(o *Run) bool { return o.Name == r.Name }); i >= 0 {
				l.error(inc.at, "Duplicate run", fmt.Sprintf("Run %q of %s is also at %s.", r.Name, placeText(r.Range),
					placeText(m.runs[i].Range)), "Give the include a prefix with as, or choose its runs.")
				continue
			}
			m.runs = append(m.runs, r)
		}
		m.addIncluded(l, inc)
	}
}

func placeText(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// selectRuns keeps the requested runs, with everything that they need and their background load:
// without it they would measure something else.
func (inc *included) selectRuns(l *loader) {
	if !inc.choosesRuns {
		return
	}
	byName := map[string]*Run{}
	loads := map[string][]*Run{}
	var names []string
	for _, r := range inc.module.runs {
		byName[r.Name] = r
		names = append(names, r.Name)
		if r.While != nil {
			loads[r.While.Run] = append(loads[r.While.Run], r)
		}
	}
	wanted := map[*Run]bool{}
	var want func(r *Run)
	want = func(r *Run) {
		if r == nil || wanted[r] {
			return
		}
		wanted[r] = true
		for _, n := range r.Needs {
			want(byName[n.Run])
		}
		if r.While != nil {
			want(byName[r.While.Run])
		}
		for _, load := range loads[r.Name] {
			want(load)
		}
		for _, a := range r.Asserts {
			for _, x := range a.mentioned() {
				want(x)
			}
		}
	}
	for _, i := range inc.runs {
		if byName[i.text] == nil {
			l.error(i.at, "Unknown run", fmt.Sprintf("%s has no run %q.", inc.file, i.text),
				suggest.Sentence(i.text, names, "runs"))
		}
		want(byName[i.text])
	}
	inc.module.runs = slices.DeleteFunc(inc.module.runs, func(r *Run) bool { return !wanted[r] })
}

// rename adds the prefix to all names that the including file sees.
func (inc *included) rename() {
	if inc.as == "" {
		return
	}
	in := func(name string) string { return inc.as + "." + name }
	for _, r := range inc.module.runs {
		r.Name, r.Prefix = in(r.Name), inc.as+"."+r.Prefix
		for _, v := range r.Values {
			v.Run = in(v.Run)
		}
		for _, n := range r.Needs {
			n.Run = in(n.Run)
		}
		if r.While != nil {
			r.While.Run = in(r.While.Run)
		}
	}
	var commands []*Command
	for _, c := range slices.Concat(inc.module.session.setup, inc.module.session.teardown) {
		commands = append(commands, c.Command)
	}
	for _, r := range inc.module.runs {
		commands = slices.Concat(commands, r.Setup, r.LaunchSetup, r.Teardown, r.LaunchTeardown)
	}
	for _, c := range commands {
		if c.named {
			c.Name = in(c.Name)
		}
	}
	for _, v := range inc.module.Variables {
		v.Name = in(v.Name)
	}
	for _, c := range inc.module.Checks {
		c.Name = in(c.Name)
	}
	for _, a := range inc.module.Artifacts {
		a.Name = in(a.Name)
	}
}

// addIncluded adds everything of an included file besides its runs. Its setup runs after this file's, its
// teardown before.
func (m *module) addIncluded(l *loader, inc *included) {
	from := inc.module
	if inc.as != "" {
		m.Variables = append(m.Variables, from.Variables...)
	}
	l.mergeCluster(&m.Cluster, from.Cluster, inc)
	for _, c := range from.Checks {
		i := slices.IndexFunc(m.Checks, func(o *Check) bool { return o.Name == c.Name })
		switch {
		case i < 0:
			m.Checks = append(m.Checks, c)
		case !m.Checks[i].equal(c):
			l.error(inc.at, "Duplicate check", fmt.Sprintf("Check %q of %s differs from that of %s.",
				c.Name, placeText(c.Range), placeText(m.Checks[i].Range)),
				"Rename one of the two, or give the include a prefix with as.")
		}
	}
	for _, a := range from.Artifacts {
		l.addArtifact(m, a, inc)
	}
	for _, c := range from.Claims {
		if slices.Contains(from.runs, c.Run) {
			m.Claims = append(m.Claims, c)
		}
	}
	m.session.setup = append(m.session.setup, from.session.setup...)
	m.session.teardown = append(slices.Clone(from.session.teardown), m.session.teardown...)
	switch none := (assertion.Inconclusive{}); {
	case m.Inconclusive == none:
		m.Inconclusive = from.Inconclusive
	case !m.ownInconclusive && from.Inconclusive != none && from.Inconclusive != m.Inconclusive:
		l.error(inc.at, "Second policy", fmt.Sprintf("%s and another included file set different values of inconclusive.",
			inc.file), "Set inconclusive in this file: fail, warn or pass.")
	}
	switch {
	case m.Baseline == "":
		m.Baseline, m.BaselineMissing, m.BaselineAt = from.Baseline, from.BaselineMissing, from.BaselineAt
	case !m.ownBaseline && from.Baseline != "" && from.Baseline != m.Baseline:
		l.error(inc.at, "Second baseline", fmt.Sprintf("%s has baseline %s, but another included file has %s.",
			inc.file, from.Baseline, m.Baseline), "Set the baseline in this file.")
	}
}
