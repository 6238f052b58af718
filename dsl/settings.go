package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/suggest"
	"weir/workload"
)

// Setting is an option or an environment variable of a run, whatever gives it
// its value: an axis, an expression, the registry's default.
type Setting struct {
	Name   string
	Option workload.Option // of an option
	Env    bool            // else it is an option
	Axes   []int           // of Run.Axes: those that the value depends on, ascending

	run   *Run
	given hcl.Range      // where the run itself sets it; zero if it does not
	expr  hcl.Expression // nil: the value is that of the only axis, or constant
	parts hcl.Expression // of a structure, as it is written
	where hcl.Range      // of an environment variable: where it stands, if no axis sets it
	value any            // if it depends on no axis

	// of the files that an axis names, by their names as the axis has them; of the items of a sequence, by their places
	contents map[string]any
	// otherwise has the value of items that do not say it themselves, and item is the
	// index in Axes of the places; nil: contents have all values
	otherwise *Setting
	item      int
	variants  map[string]*Setting // of those that set it, by name, instead of contents
	usual     *Setting            // the option that decides its default
	ranksOf   *Setting            // the matrix whose number of ranks it is
	asText    bool                // it is the text of its axis
	file      *DataFile           // that the value was read from; nil: none, or its axis names it
}

// DataFile is a file from which an option of a run took its value, as the scenario names it.
type DataFile struct{ Option, Path string }

// DataFiles are those that the run's options name; files of an axis are the axis' values.
func (r *Run) DataFiles() []DataFile {
	var all []DataFile
	if r.metadata != "" {
		all = append(all, DataFile{"metadata_file", r.metadata})
	}
	for _, s := range r.settings {
		for s.otherwise != nil {
			s = s.otherwise
		}
		if s.file != nil {
			all = append(all, *s.file)
		}
	}
	return all
}

// Given is the place where the run itself, by its options or an axis, sets it.
// Defaults do not count: they are for whichever run can use them.
func (s *Setting) Given() (hcl.Range, bool) { return s.given, s.given != hcl.Range{} }

// At is where an environment variable stands, of the run or of defaults; zero if an axis or a variant sets it.
func (s *Setting) At() hcl.Range { return s.where }

// Settings are everything that is set for the run's cases: options in the order
// of the workload's registry, then environment variables by name.
func (r *Run) Settings() []*Setting { return r.settings }

// settings reads options and env of a run, its own before the defaults. swept
// says that the sweep is sound: otherwise what is missing may be missing in it.
func (l *loader) settings(content *hcl.BodyContent, r *Run, own []entry, d defaults, swept bool) {
	given := map[string]bool{}
	isGiven := func(e entry) bool { return given[e.name] }
	own = moved(r.Workload, own)
	for _, e := range own {
		given[e.name] = true
	}
	inherited := moved(r.Workload, slices.DeleteFunc(slices.Clone(d.options[r.Workload.Name]), isGiven))
	inherited = slices.DeleteFunc(inherited, isGiven)
	entries := slices.Concat(own, l.exclusive(r, own, inherited, swept))
	if served, any := l.servicesOf(content, r, entries); any {
		entries = append(entries, served)
	}
	used := map[string]bool{} // axes that have an effect
	byName := map[string]*Setting{}
	for i, e := range entries {
		o, ok := r.Workload.Option(e.name)
		if i < len(own) && e.name == servicesName {
			continue // which has been reported
		}
		if !ok {
			if i < len(own) {
				l.unknownOption(r.Workload, e)
			}
			continue
		}
		if o.Item == workload.OnlyItem {
			l.error(e.at, "Of a pattern", fmt.Sprintf("%s is of each pattern of the sequence, not of the run.",
				capital(quote(e.name))), "Write it into the items of "+strings.Join(r.Workload.OneOf, " or ")+".")
			continue
		}
		if r.Workload.Sequence != "" && slices.Contains(r.Workload.OneOf, e.name) {
			continue // it was read with the sweep, since it makes axes
		}
		if a := r.axis(e.name); a != nil {
			if i < len(own) {
				l.error(e.at, "Option and axis",
					fmt.Sprintf("Option %q is also an axis of the sweep on line %d, which sets it.", e.name,
						a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		s, read := l.matrixSetting(e, o, r)
		if !read {
			s = l.setting(&Setting{Name: e.name, Option: o, run: r, expr: e.expr}, used)
		}
		if s != nil {
			if i < len(own) {
				s.given = e.expr.Range()
			}
			byName[s.Name] = s
		}
	}
	for _, a := range r.Axes {
		used[a.Name] = used[a.Name] || a.Item
	}
	l.checkVariants(r)
	l.optionsOfVariants(r, byName, used)
	l.servicesOfVariants(r, byName, entries, used)
	l.registered(r, byName, used)
	l.rowsOf(r, used)
	l.environment(content, r, d, used)
	if swept {
		l.required(r, entries)
	}
	for _, a := range r.Axes {
		if used[a.Name] {
			continue
		}
		if len(r.Values) > 0 {
			r.unused = append(r.unused, a) // it may choose the case whose value is used
			continue
		}
		l.withoutEffect(r, a)
	}
}

// withoutEffect reports an axis that nothing of a run depends on.
func (l *loader) withoutEffect(r *Run, a *Axis) {
	if why := r.Workload.Without[a.Name]; why != "" {
		l.error(a.Range, "Axis without effect",
			fmt.Sprintf("Workload %s has no option %q: %s.", r.Workload.Name, a.Name, why), "Remove the axis.")
		return
	}
	near := ""
	if n := suggest.Nearest(a.Name, optionNames(r.Workload)); n != "" {
		near = fmt.Sprintf("Did you mean %q? ", n)
	}
	l.error(a.Range, "Axis without effect",
		fmt.Sprintf("Workload %s has no option %q, and neither options nor env of the run use axis.%s.",
			r.Workload.Name, a.Name, a.Name),
		near+"An axis sets the option of its name, env.NAME sets a variable, and any other is used as axis.NAME.")
}

// registered gives the run its options in the order of the registry, with those
// that axes and defaults set.
func (l *loader) registered(r *Run, byName map[string]*Setting, used map[string]bool) {
	for _, o := range r.Workload.Options {
		i := r.axisIndex(o.Name)
		if i < 0 {
			continue
		}
		used[o.Name] = true
		switch {
		case o.Type == workload.File && r.Workload.Sequence != "": // which is reported with the sweep
		case o.Type == workload.File:
			byName[o.Into] = l.fileAxis(o, r, i)
		default:
			byName[o.Name] = &Setting{Name: o.Name, Option: o, Axes: []int{i}, run: r, given: r.Axes[i].Range}
		}
	}
	l.sequenced(r, byName)
	for _, o := range r.Workload.Options {
		s := byName[o.Name]
		switch {
		case s != nil && o.RanksOf != "":
			l.asManyRanks(s, byName[o.RanksOf])
		case s != nil:
		case o.RanksOf != "":
			s = l.ranksOf(o, r, byName)
		case o.Default != nil:
			s = usual(o, r, byName)
		}
		if s != nil {
			r.settings = append(r.settings, s)
		}
	}
	l.refuseOwnCells(r)
}

// usual is the setting of an option that nobody gives: its default.
func usual(o workload.Option, r *Run, others map[string]*Setting) *Setting {
	if o.DefaultBy != nil {
		if of := others[o.DefaultBy.Option]; of != nil {
			return &Setting{Name: o.Name, Option: o, Axes: of.Axes, run: r, usual: of}
		}
	}
	return &Setting{Name: o.Name, Option: o, run: r, value: o.Default}
}

func optionNames(k *workload.Kind) []string {
	var names []string
	for _, o := range k.Options {
		names = append(names, o.Name)
	}
	return names
}

// environment reads the run's variables, which are its own, those of the
// defaults, and axes named env.NAME.
func (l *loader) environment(content *hcl.BodyContent, r *Run, d defaults, used map[string]bool) {
	var env []*Setting
	entries := l.envEntries(content, r, d)
	for _, e := range entries {
		if s := l.setting(&Setting{Name: e.name, Env: true, run: r, expr: e.expr, where: e.at}, used); s != nil {
			env = append(env, s)
		}
	}
	for i, a := range r.Axes {
		if name, ok := strings.CutPrefix(a.Name, "env."); ok {
			env = append(env, &Setting{Name: name, Env: true, Axes: []int{i}, run: r})
			used[a.Name] = true
		}
	}
	env = l.envOfVariants(r, env, used)
	slices.SortFunc(env, func(a, b *Setting) int { return cmp.Compare(a.Name, b.Name) })
	r.settings = append(r.settings, env...)
}

// setting checks one value, and computes it if it is the same at every point.
func (l *loader) setting(s *Setting, used map[string]bool) *Setting {
	names := []string{}
	unknown := map[string]cty.Value{}
	for _, a := range s.run.Axes {
		names = append(names, a.Name)
		unknown[a.Name] = cty.DynamicVal
		if len(a.Values) > 0 {
			unknown[a.Name] = cty.UnknownVal(ctyOf(a.Values[0].Value).Type())
		}
	}
	onPoint, diags := l.eval.references(s.expr, names, s.Option.Late)
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return nil
	}
	if l.late(s.expr.Range()) {
		return nil
	}
	l.useValues(s)
	if s.Option.Type == workload.Structure && !s.Env {
		s.parts = s.expr
	}
	if !onPoint {
		v, diags := s.Value(nil)
		l.diags = append(l.diags, diags...)
		s.value, s.expr = v, nil
		return s
	}
	for _, name := range l.eval.axesOf(s.expr, s.run) {
		used[name] = true
		s.Axes = append(s.Axes, s.run.axisIndex(name))
	}
	slices.Sort(s.Axes)
	s.Axes = slices.Compact(s.Axes)
	// With unknown axes, wrong types and functions show before any point does.
	if _, diags := s.expr.Value(s.context(l.eval, unknown)); diags.HasErrors() {
		l.diags = append(l.diags, explain(diags)...)
		return nil
	}
	return s
}

// axesOf are the names of the axes of a run that an expression depends on.
func (e *evaluator) axesOf(expr hcl.Expression, r *Run) []string {
	var names []string
	if r.axis(variantAxis) != nil && e.follows(expr) {
		names = append(names, variantAxis)
	}
	for _, t := range expr.Variables() {
		if t.RootName() == variantAxis {
			names = append(names, variantAxis)
		}
		if t.RootName() != "axis" || len(t) < 2 {
			continue
		}
		switch step := t[1].(type) {
		case hcl.TraverseAttr:
			names = append(names, step.Name)
		case hcl.TraverseIndex:
			names = append(names, step.Key.AsString())
		}
	}
	return names
}

// required reports options that have no default and that nothing sets.
func (l *loader) required(r *Run, entries []entry) {
	names := optionNames(r.Workload)
	for _, o := range r.Workload.Options {
		if !o.Required {
			continue
		}
		given := r.axis(o.Name) != nil
		for _, e := range entries {
			_, known := r.Workload.Option(e.name)
			// A misspelt option has been reported, with this one as advice.
			given = given || e.name == o.Name || !known && suggest.Nearest(e.name, names) == o.Name
		}
		if !given {
			l.error(r.Range, "Missing option", fmt.Sprintf("Run %q sets no %s (%s), which workload %s cannot do without.",
				r.Name, o.Name, firstSentence(o.Doc), r.Workload.Name),
				fmt.Sprintf("Add %s to its options, or sweep it.", o.Name))
		}
	}
}

func (r *Run) axis(name string) *Axis {
	if i := r.axisIndex(name); i >= 0 {
		return r.Axes[i]
	}
	return nil
}

func (r *Run) axisIndex(name string) int {
	return slices.IndexFunc(r.Axes, func(a *Axis) bool { return a.Name == name })
}
