package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// AxisType is the type of an axis that does not set an option.
type AxisType int

// The types of such axes.
const (
	Text AxisType = iota
	Number
	Flag
)

// Axis is an axis as expressions see it.
type Axis struct {
	Name string
	Type AxisType           // of an axis that does not set an option
	Dim  quantity.Dimension // of its values, if they are numbers
	Null bool               // whether it leaves its variable unset at some points
}

// Names are the names that an expression may use.
type Names struct {
	Kind    *workload.Kind
	Metrics []workload.Metric // of the run; nil: those of Kind
	Axes    []Axis            // every axis of the run, in file order
	Partial bool              // because of reported errors, axes or values of them are missing
	Refused []string          // metrics of the run that are missing because of reported errors

	Run       string            // the run's own name
	Runs      map[string]*Names // all runs of the scenario, by name
	Reference *Reference        // nil: the scenario has none for this run
	Baseline  string            // the variant that gain compares with; "": none
}

func (n *Names) axis(name string) (Axis, bool) {
	for _, a := range n.Axes {
		if a.Name == name {
			return a, true
		}
	}
	return Axis{}, false
}

// HasAxis reports whether the run has the axis.
func (n *Names) HasAxis(name string) bool {
	if n == nil {
		return false
	}
	_, ok := n.axis(name)
	return ok
}

// signed reports whether a metric may be negative: a plain number that the run declares, and that may be 0.
func (n *Names) signed(metric string) bool {
	_, own := workload.FindMetric(n.Kind.Metrics, metric)
	m, known := n.metric(metric)
	u, ok := quantity.UnitOf(m.Unit)
	return known && !own && m.MayBeZero && (!ok || u.Dim == quantity.Number)
}

// metric finds a metric of the run.
func (n *Names) metric(name string) (workload.Metric, bool) {
	return workload.FindMetric(n.measured(), name)
}

func (n *Names) measured() []workload.Metric {
	if n.Metrics != nil {
		return n.Metrics
	}
	return n.Kind.Metrics
}

// Reserved reports whether a name has a meaning in assertions, so that no metric can have it.
func Reserved(name string) bool {
	root, _, _ := strings.Cut(name, ".")
	words := append(Functions(), transportWord, workload.Availability.Name)
	roots := []string{"reference", "baseline", "run", "axis", "env", "host", providerRoot}
	return keywords[name] || slices.Contains(words, name) || slices.Contains(roots, root)
}

func (n *Names) metricNames() []string {
	var out []string
	for _, m := range n.measured() {
		out = append(out, m.Name)
	}
	return append(out, workload.Availability.Name)
}

// knobNames are the options and axes: the values known before a case runs.
func (n *Names) knobNames() []string {
	var out []string
	for _, o := range n.Kind.Options {
		out = append(out, o.Name)
	}
	for _, a := range n.Axes {
		if _, ok := n.Kind.Option(a.Name); !ok {
			out = append(out, a.Name)
		}
	}
	return out
}

// dimension returns the dimension of an option or axis used as a number.
func (n *Names) dimension(name string) (quantity.Dimension, bool) {
	if o, ok := n.Kind.Option(name); ok {
		switch o.Type {
		case option.Size:
			return quantity.SizeDim, true
		case option.Time:
			return quantity.TimeDim, true
		case option.Rate:
			return quantity.RateDim, true
		case option.Frequency:
			return quantity.Frequency, true
		case option.Count, option.Percent, option.Factor:
			return quantity.Number, true
		}
		return quantity.Dimension{}, false
	}
	a, ok := n.axis(name)
	return a.Dim, ok && a.Type == Number
}

// The commands that list all names of a kind.
const (
	optionsListed   = "weir docs workloads"
	metricsListed   = "weir docs metrics"
	functionsListed = "weir docs functions"
)

// sources are the prefixes of metrics of other sessions and of reference tables.
var sources = []string{"baseline", "reference"}

// suggestCorrection suggests a correction of a name in an assertion that is not close to a metric: the small s
// of a unit, or a metric of a source with a truncated or misspelt prefix. "" if there is none.
func (n *Names) suggestCorrection(name string) string {
	if name == "S" {
		return "did you mean /s? Rates are written as GB/s"
	}
	root, rest, ok := strings.Cut(name, ".")
	if _, known := n.metric(rest); !ok || !known || len(root) < 3 {
		return ""
	}
	for _, s := range sources {
		if s != root && strings.HasPrefix(s, root) || suggest.Nearest(root, []string{s}) != "" {
			return "did you mean " + s + "." + rest + "?"
		}
	}
	return ""
}

// templateName is the hint for a name of the file that expressions have only as ${NAME}; "": it is none.
func templateName(text string) string {
	root, rest, _ := strings.Cut(text, ".")
	if rest == "" || !slices.Contains([]string{"var", "variant", "service"}, root) {
		return ""
	}
	return "write ${" + text + "}, and quotes around the expression if it is in […]"
}

// mostMetrics is how many metrics of a run are listed beside another hint.
const mostMetrics = 8

// measuredBy names the workloads that have a metric, and the few metrics of a run; "": none has it.
func measuredBy(name string, metrics []string) string {
	var kinds []string
	for _, k := range workload.Kinds() {
		if _, ok := k.Metric(name); ok {
			kinds = append(kinds, k.Name)
		}
	}
	if kinds == nil {
		return ""
	}
	hint := "it is a metric of workload " + strings.Join(kinds, " and ")
	if len(metrics) <= mostMetrics {
		hint += "; the run has " + strings.Join(metrics, ", ")
	}
	return hint
}

// unknownMetric reports an unknown name in an assertion.
func (n *Names) unknownMetric(t token) *Error {
	metrics := n.metricNames()
	hint := cmp.Or(templateName(t.text), n.suggestCorrection(t.text))
	if hint == "" {
		hint = usualMetric(t.text, metrics)
	}
	if hint == "" {
		hint = measuredBy(t.text, metrics)
	}
	if hint != "" {
		return errorf(t.from, t.to, hint, "workload %s has no metric %q", n.Kind.Name, t.text)
	}
	if near := suggest.Nearest(t.text, append(metrics, transportWord)); near == transportWord {
		return errorf(t.from, t.to, "did you mean transport? "+suggest.Known(t.text, metrics, "metrics", metricsListed),
			"workload %s has no metric %q", n.Kind.Name, t.text)
	}
	if near := suggest.Nearest(t.text, metrics); near == "" {
		if knob := suggest.Nearest(t.text, n.knobNames()); knob != "" {
			return errorf(t.from, t.to, "did you mean the option "+knob+"? "+suggest.Known(t.text, metrics, "metrics",
				metricsListed), "workload %s has no metric %q", n.Kind.Name, t.text)
		}
	}
	return errorf(t.from, t.to, lowerFirst(suggest.Documented(t.text, metrics, "metrics", metricsListed)),
		"workload %s has no metric %q", n.Kind.Name, t.text)
}

// unknownKnob reports an unknown name in a condition.
func (n *Names) unknownKnob(t token) *Error {
	if _, ok := n.metric(t.text); ok || t.text == transportWord || providerFact(t) != "" {
		return errorf(t.from, t.to, "use options and axes: "+suggest.Few(t.text, n.knobNames(), optionsListed),
			"%q is a metric, but conditions are evaluated before anything runs", t.text)
	}
	if hint := templateName(t.text); hint != "" {
		return errorf(t.from, t.to, hint, "there is no option or axis %q", t.text)
	}
	if root, rest, ok := strings.Cut(t.text, "."); ok && suggest.Nearest(root, []string{"host"}) != "" &&
		slices.Contains(hostFields, "host."+rest) {
		return errorf(t.from, t.to, "did you mean host."+rest+"?", "there is no %q", t.text)
	}
	for _, o := range n.Kind.Options {
		for _, v := range o.Values {
			if v == t.text {
				return errorf(t.from, t.to, `write a text in quotes: "`+t.text+`"`,
					"there is no option %s; it is a value of %s", t.text, o.Name)
			}
		}
	}
	if t.text == "variant" {
		return errorf(t.from, t.to, "add the axis to the run: sweep: {variant: [A, B]}",
			"the run does not sweep variant")
	}
	return errorf(t.from, t.to, lowerFirst(suggest.Documented(t.text, n.knobNames(), "options and axes",
		optionsListed)), "workload %s has no option %q, and the run has no such axis", n.Kind.Name, t.text)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
