// Metrics that a run declares, and the rows of tables that its axes select.

package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// metricName is the syntax of a metric's name in assertions.
var metricName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// metricsKey is the key of a run; it may also be among the run's options.
const metricsKey = "metrics"

// metrics reads the metrics that a run declares and appends them to those of its workload. It
// returns the options without them.
func (l *loader) metrics(content *hcl.BodyContent, r *Run, options []entry) []entry {
	i := slices.IndexFunc(options, func(e entry) bool { return e.name == metricsKey })
	_, isOption := r.Workload.Option(metricsKey)
	switch beside := hasKey(content, metricsKey); {
	case i < 0 || isOption || !r.Workload.DeclaresMetrics:
		if beside {
			l.declaredMetrics(r, l.section(content, metricsKey))
		}
		return options
	case beside:
		l.error(options[i].at, "Given twice",
			fmt.Sprintf("Run %q has metrics both in its options and beside them.", r.Name),
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
			fmt.Sprintf("Run %q declares metrics, but workload %s has fixed metrics.", r.Name, r.Workload.Name),
			"Leave them out; `weir docs metrics "+r.Workload.Name+"` lists what it measures.")
		return
	}
	var own []workload.Metric
	for _, e := range entries {
		if m, ok := l.metric(e, r); ok {
			own = append(own, m)
		} else {
			r.refusedMetrics = append(r.refusedMetrics, e.name)
		}
	}
	if len(entries) > 0 {
		r.Metrics = append(slices.Clone(r.Workload.Metrics), own...)
	}
}

// axisOfRows makes an axis select rows of the output, if the options of the run name one.
func (sr *settingReader) axisOfRows() {
	k := sr.run.Workload
	rows, ok := k.Behaviour.(workload.RowSplitter)
	if !ok {
		return
	}
	values, _ := sr.run.optionsAtFirstPoint() // errors are reported with the metrics
	name := rows.RowAxis(values)
	if name == "" {
		return
	}
	i := sr.run.axisIndex(name)
	if i < 0 {
		i = sr.run.addRequestedRows(name, rows.RowValues(values))
	}
	if i < 0 {
		sr.warn(
			sr.run.Range,
			"Rows without an axis",
			fmt.Sprintf(
				"The sweep of run %q has no axis %q, so the run has one case. It fails if the output has several rows.",
				sr.run.Name,
				name,
			),
			fmt.Sprintf("Sweep it, with a value for each row: sweep: {%s: […]}.", name),
		)
		return
	}
	sr.used[name] = true
	o, _ := k.Option(rows.Row())
	of := slices.IndexFunc(sr.run.settings, func(s *Setting) bool { return !s.Env && s.Name == rows.Row() })
	sr.run.settings[of] = &Setting{Name: o.Name, Option: o, Axes: []int{i}, run: sr.run, asText: true}
}

// addRequestedRows adds the rows that the command line requests to the axis, and returns the index of
// the axis; -1 if the rows are unknown.
func (r *Run) addRequestedRows(name string, rows []string) int {
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

// optionsAtFirstPoint returns the options of a run at its first point, or at the first of a variant; nil if
// there is none.
func (r *Run) optionsAtFirstPoint(variant ...AxisValue) (values option.Values, diags hcl.Diagnostics) {
	values = option.Values{}
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
			return nil, diags // reported where the setting stands
		}
	}
	return values, diags
}

// resolveMetrics asks the workload for the metrics of a run if they depend on its options. It uses the
// first point, since a run has one table of metrics.
func (l *loader) resolveMetrics(r *Run) {
	by := r.Workload.MeasuredBy
	given := func(s *Setting) bool { return s.Name == by && (s.value != nil || s.expr != nil || len(s.Axes) > 0) }
	if r.Workload.Measures == nil || by != "" && !slices.ContainsFunc(r.settings, given) {
		return
	}
	values, diags := r.optionsAtFirstPoint()
	if values == nil || diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return
	}
	var declared []workload.Metric
	if r.Metrics != nil {
		declared = r.Metrics[len(r.Workload.Metrics):]
	}
	measured := func(v option.Values) ([]workload.Metric, error) { return r.Workload.Measures(v, declared) }
	all, err := measured(values)
	if err == nil {
		all, err = l.mergeVariantMetrics(r, all, measured)
	}
	if err != nil && r.refusedMetrics == nil { // which its own place says
		l.error(r.Range, "Metrics of the run", fmt.Sprintf("Run %q: %v.", r.Name, err),
			"Change metrics, or the option named here.")
	}
	if all != nil {
		r.Metrics = all
	}
	for _, m := range all {
		if _, own := r.Workload.Metric(m.Name); !own && expression.Reserved(m.Name) {
			l.error(r.Range, "Invalid name", fmt.Sprintf("Metric %q of run %q has another meaning in assertions.",
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
	case !metricName().MatchString(e.name) || len(e.name) > 100:
		l.error(e.at, "Invalid name", fmt.Sprintf("%q cannot be used in assertions.", e.name),
			"Use at most 100 letters, digits and _, with dots between words.")
	case expression.Reserved(e.name):
		refuse("Invalid name", "%q has another meaning in assertions.", e.name)
	case isOption:
		refuse("Hidden option", "Metric %q would hide the option of this name of workload %s.", e.name, r.Workload.Name)
	case isMetric:
		refuse("Duplicate metric", "Workload %s measures %q itself.", r.Workload.Name, e.name)
	}
	p := l.record(e.expr, schemaOf(grammar.Metric), "a metric")
	if len(l.diags) == before {
		l.complete(p, grammar.Metric, "a metric")
	}
	l.fill(p, grammar.Metric, &m)
	if expr := argument(p.BodyContent, "unit"); expr != nil {
		unit, known := quantity.UnitOf(m.Unit)
		if !known {
			hint := "Write one such as s, ms, B, MiB, GB/s, Gb/s, 1/s or %; a count or a ratio has none."
			if near := quantity.NearUnit(m.Unit); near != "" {
				hint = "Write " + near + "."
			}
			l.error(expr.Range(), "Unknown unit", fmt.Sprintf("There is no unit %q.", m.Unit), hint)
		}
		m.Unit = unit.Symbol
	}
	return m, len(l.diags) == before
}

// metric finds a metric of the run.
func (r *Run) metric(name string) (workload.Metric, bool) {
	return workload.FindMetric(r.measured(), name)
}

// measured returns the metrics of the run.
func (r *Run) measured() []workload.Metric {
	if r.Metrics != nil {
		return r.Metrics
	}
	return r.Workload.Metrics
}
