package dsl

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/expression"
	"weir/dsl/grammar"
	"weir/quantity"
	"weir/workload"
)

// metricName is what assertions can mention.
var metricName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// maxMetrics is how many metrics a run may declare.
const maxMetrics = 100

// metricsKey is the key of a run, which may stand in its options too.
const metricsKey = "metrics"

// metrics reads the metrics that a run declares, behind those of its workload. It gives the options
// without them.
func (l *loader) metrics(content *hcl.BodyContent, r *Run, options []entry) []entry {
	i := slices.IndexFunc(options, func(e entry) bool { return e.name == metricsKey })
	_, isOption := r.Workload.Option(metricsKey)
	switch beside := has(content, metricsKey); {
	case i < 0 || isOption || !r.Workload.DeclaresMetrics:
		if beside {
			l.declaredMetrics(r, l.section(content, metricsKey))
		}
		return options
	case beside:
		l.error(options[i].at, "Given twice", fmt.Sprintf("Run %q has metrics beside its options too.", r.Name),
			"Keep one of the two.")
	default:
		l.declaredMetrics(r, l.mapping(options[i].expr, metricsKey))
	}
	return slices.Delete(slices.Clone(options), i, i+1)
}

func (l *loader) declaredMetrics(r *Run, entries []entry) {
	if !r.Workload.DeclaresMetrics {
		at := r.Range
		if len(entries) > 0 {
			at = entries[0].at
		}
		l.error(at, "Metrics of the workload",
			fmt.Sprintf("Run %q declares metrics, and workload %s measures its own.", r.Name, r.Workload.Name),
			"Leave them out; `weir docs metrics "+r.Workload.Name+"` lists what it measures.")
		return
	}
	if len(entries) > maxMetrics {
		l.error(entries[maxMetrics].at, "Too many metrics",
			fmt.Sprintf("Run %q declares more than %d metrics.", r.Name, maxMetrics),
			"Declare fewer, or divide the run.")
		return
	}
	var own []workload.Metric
	for _, e := range entries {
		if m, ok := l.metric(e, r); ok {
			own = append(own, m)
		}
	}
	if len(entries) > 0 {
		r.Metrics = append(slices.Clone(r.Workload.Metrics), own...)
	}
}

// rowsOf has an axis tell the cases of a launch apart, where the options of the run name one.
func (l *loader) rowsOf(r *Run, used map[string]bool) {
	k := r.Workload
	if k.RowAxis == nil {
		return
	}
	values, _ := r.atFirst() // whose errors are reported with the metrics
	name := k.RowAxis(values)
	if name == "" {
		return
	}
	i := r.axisIndex(name)
	if i < 0 && k.RowValues != nil {
		i = r.rowsAskedFor(name, k.RowValues(values))
	}
	if i < 0 {
		d := diagnostic(r.Range, "Rows without an axis",
			fmt.Sprintf("The sweep of run %q has no axis %q, so the run has one case, which fails if the output has several rows.",
				r.Name, name),
			fmt.Sprintf("Add the values whose rows are cases: sweep: {%s: […]}.", name))
		d.Severity = hcl.DiagWarning
		l.diags = append(l.diags, d)
		return
	}
	used[name] = true
	o, _ := k.Option(k.Row)
	of := slices.IndexFunc(r.settings, func(s *Setting) bool { return !s.Env && s.Name == k.Row })
	r.settings[of] = &Setting{Name: o.Name, Option: o, Axes: []int{i}, run: r, asText: true}
}

// rowsAskedFor sweeps the rows that a program is asked for by its command line, and gives the index of
// their axis; -1: it is not known which they are.
func (r *Run) rowsAskedFor(name string, rows []string) int {
	if len(rows) == 0 {
		return -1
	}
	a, i := &Axis{Name: name, Range: r.Range}, len(r.Axes)
	node := &SweepNode{Op: AxisNode, Axis: i, Range: r.Range}
	for k, row := range rows {
		a.Values = append(a.Values, AxisValue{Value: row, Text: row, Range: r.Range})
		node.Values, node.Ranges = append(node.Values, k), append(node.Ranges, r.Range)
	}
	inferType(a.Values)
	r.Axes = append(r.Axes, a)
	members := []*SweepNode{node}
	if r.Sweep.Root != nil {
		members = []*SweepNode{r.Sweep.Root, node}
	}
	r.Sweep.Root = combined(ProductNode, members, r.Range)
	return i
}

// atFirst are the options of a run at its first point, or at the first of a variant; nil: it has none.
func (r *Run) atFirst(variant ...AxisValue) (values workload.Values, diags hcl.Diagnostics) {
	values = workload.Values{}
	for _, s := range r.settings {
		if s.Env {
			continue
		}
		var at []AxisValue
		for _, i := range s.Axes {
			if len(r.Axes[i].Values) == 0 {
				return nil, nil
			}
			if len(variant) > 0 && r.Axes[i].Name == variantAxis {
				at = append(at, variant[0])
				continue
			}
			at = append(at, r.Axes[i].Values[0])
		}
		v, wrong := s.Value(at)
		if diags = append(diags, wrong...); v != nil {
			values[s.Name] = v
		} else if _, given := s.Given(); given {
			return nil, diags // it is wrong, which is reported where it stands
		}
	}
	return values, diags
}

// measures asks the workload for the metrics of a run, where they depend on its options. It
// looks at the first point: a table is one for the run.
func (l *loader) measures(r *Run) {
	by := r.Workload.MeasuredBy
	given := func(s *Setting) bool { return s.Name == by && (s.value != nil || s.expr != nil || len(s.Axes) > 0) }
	if r.Workload.Measures == nil || by != "" && !slices.ContainsFunc(r.settings, given) {
		return
	}
	values, diags := r.atFirst()
	if values == nil || diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return
	}
	var declared []workload.Metric
	if r.Metrics != nil {
		declared = r.Metrics[len(r.Workload.Metrics):]
	}
	measured := func(v workload.Values) ([]workload.Metric, error) { return r.Workload.Measures(v, declared) }
	all, err := measured(values)
	if err == nil {
		all, err = l.unitedMetrics(r, all, measured)
	}
	if err != nil {
		l.error(r.Range, "Metrics of the run", fmt.Sprintf("Run %q: %v.", r.Name, err),
			"Change metrics or the option that it speaks of.")
	}
	if all != nil {
		r.Metrics = all
	}
	for _, m := range all {
		if _, own := r.Workload.Metric(m.Name); !own && expression.Reserved(m.Name) {
			l.error(r.Range, "Invalid name", fmt.Sprintf("Metric %q of run %q means something else in assertions.",
				m.Name, r.Name), "Give the metric another name.")
		}
	}
}

// metric reads one metric.
func (l *loader) metric(e entry, r *Run) (workload.Metric, bool) {
	m, before := workload.Metric{Name: e.name, Better: workload.Neither}, len(l.diags)
	_, isOption := r.Workload.Option(e.name)
	_, isMetric := r.Workload.Metric(e.name)
	refuse := func(summary, format string, args ...any) {
		l.error(e.at, summary, fmt.Sprintf(format, args...), "Give the metric another name.")
	}
	switch {
	case !metricName.MatchString(e.name) || len(e.name) > 100:
		l.error(e.at, "Invalid name", fmt.Sprintf("%q is mentioned in assertions.", e.name),
			"Use letters, digits and _, with dots between words, at most 100 of them.")
	case expression.Reserved(e.name):
		refuse("Invalid name", "%q means something else in assertions.", e.name)
	case isOption:
		refuse("Hidden option", "Metric %q would hide the option of this name of workload %s.", e.name, r.Workload.Name)
	case isMetric:
		refuse("Duplicate metric", "Workload %s measures %q itself.", r.Workload.Name, e.name)
	}
	p := l.record(e.expr, schemaOf(grammar.Metric), "a metric")
	if len(l.diags) == before {
		l.complete(p, grammar.Metric, "a metric")
	}
	if expr := argument(p.BodyContent, "unit"); expr != nil {
		text, ok := l.text(expr, "unit")
		unit, known := quantity.UnitOf(text)
		if ok && !known {
			l.error(expr.Range(), "Unknown unit", fmt.Sprintf("There is no unit %q.", text),
				"Write one such as s, ms, B, MiB, GB/s, 1/s or %; a count or a ratio has none.")
		}
		m.Unit = unit.Symbol
	}
	if expr := argument(p.BodyContent, "better"); expr != nil {
		text, _ := l.oneOf(expr, grammar.Metric, "better")
		m.Better = workload.Direction(text)
	}
	if expr := argument(p.BodyContent, "may_be_zero"); expr != nil {
		m.MayBeZero = l.flag(expr, "may_be_zero")
	}
	if expr := argument(p.BodyContent, "doc"); expr != nil {
		m.Doc, _ = l.text(expr, "doc")
	}
	return m, len(l.diags) == before
}

// metric finds a metric of the run.
func (r *Run) metric(name string) (workload.Metric, bool) {
	return workload.FindMetric(r.measured(), name)
}

// measured are the metrics of the run.
func (r *Run) measured() []workload.Metric {
	if r.Metrics != nil {
		return r.Metrics
	}
	return r.Workload.Metrics
}
