// Settings of a run: its options and environment variables.

package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// Setting is an option or an environment variable of a run. An axis, an expression or the
// registry's default gives its value.
type Setting struct {
	Name   string
	Option option.Option // of an option
	Env    bool          // an environment variable, not an option
	Axes   []int         // indices into Run.Axes that the value depends on, ascending

	run   *Run
	given hcl.Range      // where the run itself sets it; zero if it does not
	expr  hcl.Expression // nil: the value is constant, or that of the only axis
	parts hcl.Expression // of a structure, as it is written
	where hcl.Range      // place of an environment variable, unless an axis sets it
	value any            // if it depends on no axis

	// contents of the files of an axis by name, or values of the items of a sequence by position
	contents map[string]any
	// otherwise has the value of items that do not set it, and item is the index in Axes of the
	// positions; nil: contents have all values
	otherwise *Setting
	item      int
	variants  map[string]*Setting // of those that set it, by name; used instead of contents
	decides   *Setting            // the option that decides its default
	matrix    *Setting            // the matrix with this number of ranks
	asText    bool                // the value is the text of its axis
	file      *DataFile           // the source of the value; nil: none, or its axis names it
}

// DataFile is a file, as the scenario names it, that an option of a run was read from.
type DataFile struct{ Option, Path string }

// DataFiles returns the files of the run's options, without those of an axis.
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

// Given returns the place where the run itself sets it, by its options or an axis. Defaults do not
// count, since they apply to every run that can use them.
func (s *Setting) Given() (hcl.Range, bool) { return s.given, s.given != hcl.Range{} }

// At is the place of an environment variable of the run or of defaults; zero if an axis or a
// variant sets it.
func (s *Setting) At() hcl.Range { return s.where }

// Settings returns all settings of the run's cases: options in the order of the workload's
// registry, then environment variables by name.
func (r *Run) Settings() []*Setting { return r.settings }

// settingReader reads the options and the environment of a run.
type settingReader struct {
	*loader
	run    *Run
	byName map[string]*Setting // options already read
	used   map[string]bool     // axes with an effect
}

func (l *loader) settingsOf(r *Run) *settingReader {
	return &settingReader{loader: l, run: r, byName: map[string]*Setting{}, used: map[string]bool{}}
}

// read reads options and env, the run's own before the defaults. swept says that the sweep has no
// errors: otherwise it may contain what seems to be missing.
func (sr *settingReader) read(content *hcl.BodyContent, own []entry, d defaults, swept bool) {
	given := map[string]bool{}
	isGiven := func(e entry) bool { return given[e.name] }
	own = renamePathKeys(sr.run.Workload, own)
	for _, e := range own {
		given[e.name] = true
	}
	inherited := renamePathKeys(sr.run.Workload,
		slices.DeleteFunc(slices.Clone(d.options[sr.run.Workload.Name]), isGiven))
	inherited = slices.DeleteFunc(inherited, isGiven)
	entries := slices.Concat(own, sr.chooseExclusive(own, inherited, swept))
	if served, any := sr.servicesOf(content, entries); any {
		entries = append(entries, served)
	}
	for i, e := range entries {
		o, ok := sr.run.Workload.Option(e.name)
		if i < len(own) && e.name == servicesName {
			continue // reported
		}
		if !ok {
			if i < len(own) {
				sr.unknownOption(sr.run.Workload, e)
			}
			continue
		}
		if o.Item == option.OnlyItem {
			sr.error(e.at, "Of a pattern", fmt.Sprintf("%s belongs to each pattern of the sequence, not to the run.",
				capital(quote(e.name))), "Write it into the items of "+strings.Join(sr.run.Workload.OneOf, " or ")+".")
			continue
		}
		if sr.run.Workload.Sequence != "" && slices.Contains(sr.run.Workload.OneOf, e.name) {
			continue // read with the sweep, since it makes axes
		}
		if a := sr.run.axis(e.name); a != nil {
			if i < len(own) {
				sr.error(e.at, "Option and axis",
					fmt.Sprintf("Option %q is also an axis of the sweep on line %d, which sets it.", e.name,
						a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		s, read := sr.matrixSetting(e, o)
		if !read {
			s = sr.setting(&Setting{Name: e.name, Option: o, run: sr.run, expr: e.expr})
		}
		if sr.warnBareSize(o, e.expr.Range()); s != nil {
			if i < len(own) {
				s.given = e.expr.Range()
			}
			sr.byName[s.Name] = s
		}
	}
	for _, a := range sr.run.Axes {
		sr.used[a.Name] = sr.used[a.Name] || a.Item
	}
	sr.checkVariants()
	sr.optionsOfVariants()
	sr.servicesOfVariants(entries)
	sr.readOptions()
	sr.axisOfRows()
	sr.environment(content, d)
	if swept {
		sr.required(entries)
	}
	for _, a := range sr.run.Axes {
		if sr.used[a.Name] {
			continue
		}
		if len(sr.run.Values) > 0 {
			sr.run.unused = append(sr.run.unused, a) // it may select the case of a run value
			continue
		}
		sr.reportUnusedAxis(a)
	}
}

// reportUnusedAxis reports an axis without effect on the run.
func (sr *settingReader) reportUnusedAxis(a *Axis) {
	if why := whyNoOption(sr.run.Workload, a.Name); why != "" {
		sr.error(a.Range, "Axis without effect",
			fmt.Sprintf("Workload %s has no option %q: %s.", sr.run.Workload.Name, a.Name, why), "Remove the axis.")
		return
	}
	near := ""
	if n := suggest.Nearest(a.Name, optionNames(sr.run.Workload)); n != "" {
		near = fmt.Sprintf("Did you mean %q? ", n)
	}
	sr.error(a.Range, "Axis without effect",
		fmt.Sprintf("Workload %s has no option %q, and neither options nor env of the run use axis.%s.",
			sr.run.Workload.Name, a.Name, a.Name),
		near+"An axis sets the option of its name, env.NAME sets a variable, and any other is used as axis.NAME.")
}

// readOptions sorts the options of a run in the order of the registry, with those that axes and
// defaults set.
func (sr *settingReader) readOptions() {
	for _, o := range sr.run.Workload.Options {
		i := sr.run.axisIndex(o.Name)
		if i < 0 {
			continue
		}
		sr.used[o.Name] = true
		switch {
		case o.Type == option.File && sr.run.Workload.Sequence != "": // reported with the sweep
		case o.Type == option.File:
			sr.byName[o.Into] = sr.fileAxis(o, i)
		default:
			sr.byName[o.Name] = &Setting{
				Name:   o.Name,
				Option: o,
				Axes:   []int{i},
				run:    sr.run,
				given:  sr.run.Axes[i].Range,
			}
		}
	}
	sr.sequenceSettings()
	for _, o := range sr.run.Workload.Options {
		s := sr.byName[o.Name]
		switch {
		case s != nil && o.RanksOf != "":
			sr.checkRanks(s, sr.byName[o.RanksOf])
		case s != nil:
		case o.RanksOf != "":
			s = sr.ranksOfMatrix(o)
		case o.Default != nil:
			s = defaultSetting(o, sr.run, sr.byName)
		}
		if s != nil {
			sr.run.settings = append(sr.run.settings, s)
		}
	}
	sr.refuseOwnCells()
}

// defaultSetting is the setting of an option that is not given: its default.
func defaultSetting(o option.Option, r *Run, others map[string]*Setting) *Setting {
	if o.DefaultBy != nil {
		if of := others[o.DefaultBy.Option]; of != nil {
			return &Setting{Name: o.Name, Option: o, Axes: of.Axes, run: r, decides: of}
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

// environment reads the run's variables: its own, those of the defaults, and axes named env.NAME.
func (sr *settingReader) environment(content *hcl.BodyContent, d defaults) {
	var env []*Setting
	entries := sr.envEntries(content, d)
	for _, e := range entries {
		if s := sr.setting(&Setting{Name: e.name, Env: true, run: sr.run, expr: e.expr, where: e.at}); s != nil {
			env = append(env, s)
		}
	}
	for i, a := range sr.run.Axes {
		if name, ok := strings.CutPrefix(a.Name, "env."); ok {
			env = append(env, &Setting{Name: name, Env: true, Axes: []int{i}, run: sr.run})
			sr.used[a.Name] = true
		}
	}
	env = sr.envOfVariants(env)
	slices.SortFunc(env, func(a, b *Setting) int { return cmp.Compare(a.Name, b.Name) })
	sr.run.settings = append(sr.run.settings, env...)
}

// setting checks one value, and computes it if it is the same at every point.
func (sr *settingReader) setting(s *Setting) *Setting {
	names := []string{}
	unknown := map[string]cty.Value{}
	for _, a := range s.run.Axes {
		names = append(names, a.Name)
		unknown[a.Name] = cty.DynamicVal
		if len(a.Values) > 0 {
			unknown[a.Name] = cty.UnknownVal(ctyOf(a.Values[0].Value).Type())
		}
	}
	onPoint, diags := sr.eval.references(s.expr, names, s.Option.Late)
	if diags.HasErrors() {
		sr.diags = append(sr.diags, diags...)
		return nil
	}
	if sr.deadlineExceeded(s.expr.Range()) {
		return nil
	}
	sr.recordRunValues(s)
	if s.Option.Type == option.Structure && !s.Env {
		s.parts = s.expr
	}
	if !onPoint {
		v, diags := s.Value(nil)
		sr.diags = append(sr.diags, diags...)
		s.value, s.expr = v, nil
		return s
	}
	for _, name := range sr.eval.axesOf(s.expr, s.run) {
		sr.used[name] = true
		s.Axes = append(s.Axes, s.run.axisIndex(name))
	}
	slices.Sort(s.Axes)
	s.Axes = slices.Compact(s.Axes)
	// With unknown axes, wrong types and functions are found before points exist.
	if _, diags := s.expr.Value(s.context(sr.eval, unknown)); diags.HasErrors() {
		sr.diags = append(sr.diags, explain(diags)...)
		return nil
	}
	return s
}

// axesOf returns the names of the run's axes that an expression depends on.
func (e *evaluator) axesOf(expr hcl.Expression, r *Run) []string {
	var names []string
	if r.axis(variantAxis) != nil && e.usesVariantVariable(expr) {
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

func (r *Run) axis(name string) *Axis {
	if i := r.axisIndex(name); i >= 0 {
		return r.Axes[i]
	}
	return nil
}

func (r *Run) axisIndex(name string) int {
	return slices.IndexFunc(r.Axes, func(a *Axis) bool { return a.Name == name })
}
