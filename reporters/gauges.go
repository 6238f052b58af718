package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// gauge has the samples of one quantity.
type gauge struct {
	name, unit, help string // the name is unique and ends in the unit
	samples          []gaugeSample
}

type gaugeSample struct {
	labels []gaugeLabel
	value  string // a number, or +Inf
}

type gaugeLabel struct{ name, value string }

// gaugesOf lists the gauges of a document: for each metric its median and interval in base units, and a gauge of 1 for
// the verdict of each case and assertion. Values have the digits that their interval supports: GitLab compares them as
// text. Of a session that still runs (soFar) there are only metrics and launches.
func gaugesOf(doc *results.Document, soFar bool) []*gauge {
	m := &gauges{
		doc: doc, metrics: workload.DefinitionsOf(doc), names: map[string]bool{}, axes: axisLabels(axes(doc.Cases)),
	}
	for _, c := range doc.Cases {
		m.labels = append(m.labels, m.ofCase(c))
	}
	if !soFar {
		m.session()
		m.verdicts()
	}
	m.launches()
	if !soFar {
		m.scales()
		m.assertions()
	}
	for _, f := range m.families() {
		m.metric(f)
	}
	return m.list
}

type gauges struct {
	doc     *results.Document
	metrics *workload.Definitions
	names   map[string]bool   // of gauges
	axes    map[string]string // label of each axis
	labels  [][]gaugeLabel    // of each case
	list    []*gauge
}

// add begins a gauge with a unique name.
func (m *gauges) add(name, unit, help string) *gauge {
	ending := ""
	if unit != "" {
		ending = "_" + unit
	}
	name = strings.TrimSuffix("weir_"+metricName(name), ending)
	unique := name + ending
	for n := 2; m.names[unique]; n++ {
		unique = fmt.Sprintf("%s_%d%s", name, n, ending)
	}
	m.names[unique] = true
	g := &gauge{name: unique, unit: unit, help: help}
	m.list = append(m.list, g)
	return g
}

func (g *gauge) sample(value string, labels []gaugeLabel, more ...gaugeLabel) {
	g.samples = append(g.samples, gaugeSample{slices.Concat(labels, more), value})
}

// scales are the factors of scaled sleeps.
func (m *gauges) scales() {
	if scaledBanner(m.doc) == "" {
		return
	}
	g := m.add("time_scale", "", "time scale of the sleeps in a case's sequence: actual divided by declared duration")
	for i, c := range m.doc.Cases {
		if scale := timeScale(c); scale != "" && len(c.Launches) > 0 {
			g.sample(scale, m.labels[i])
		}
	}
}

func (m *gauges) session() {
	labels := []gaugeLabel{label("scenario", m.doc.Scenario.Name)}
	m.add("session_exit_code", "", "exit code of the session: weir docs exit-codes").
		sample(strconv.Itoa(m.doc.Session.ExitCode), labels)
	if t := m.doc.Session.Finished; !t.IsZero() {
		m.add("session_finished_timestamp", "seconds", "when the session ended, since the epoch").
			sample(strconv.FormatInt(t.Unix(), 10), labels)
	}
}

func (m *gauges) verdicts() {
	g := m.add("case_verdict", "", "1 for the worst verdict on the case; skipped or excluded if it was not run, - without assertions")
	for i, c := range m.doc.Cases {
		g.sample("1", m.labels[i], label("verdict", standing(c)))
	}
}

func (m *gauges) launches() {
	g := m.add("case_launches", "", "usable launches of the case")
	for i, c := range m.doc.Cases {
		g.sample(strconv.Itoa(len(c.Succeeded())), m.labels[i])
	}
	g = m.add("case_launches_retried", "", "launches of the case that failed and were retried")
	for i, c := range m.doc.Cases {
		g.sample(strconv.Itoa(c.Retried()), m.labels[i])
	}
}

func (m *gauges) assertions() {
	g := m.add("assertion_verdict", "", "1 for the verdict on the assertion")
	waived := &waivers{of: m}
	verdicts := func(labels []gaugeLabel, all []*results.AssertionVerdict) {
		seen := map[string]bool{}
		for _, a := range all {
			called := title(a)
			for n := 2; seen[called]; n++ {
				called = fmt.Sprintf("%s #%d", title(a), n)
			}
			seen[called] = true
			g.sample("1", labels, label("assertion", called), label("severity", string(a.Severity)),
				label("verdict", a.Standing()))
			waived.add(a.XFail, append(slices.Clone(labels), label("assertion", called)))
		}
	}
	for i, c := range m.doc.Cases {
		verdicts(m.labels[i], c.Assertions)
		if c.MayFail != nil {
			waived.add(&c.MayFail.XFail, m.labels[i])
		}
	}
	verdicts([]gaugeLabel{label("scenario", m.doc.Scenario.Name)}, m.doc.Assertions)
}

// metricFamily is a metric in one unit.
type metricFamily struct{ metric, unit string }

// families lists all metrics of the document, by name.
func (m *gauges) families() []metricFamily {
	seen := map[metricFamily]bool{}
	for _, c := range m.doc.Cases {
		for name, e := range c.Metrics.All() {
			seen[metricFamily{name, e.Unit}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b metricFamily) int {
		return strings.Compare(a.metric+"\x00"+a.unit, b.metric+"\x00"+b.unit)
	})
}

func (m *gauges) metric(f metricFamily) {
	unit, factor := baseUnit(f.unit)
	var g *gauge
	for i, c := range m.doc.Cases {
		e, ok := c.Metrics.Get(f.metric)
		if !ok || e.Unit != f.unit {
			continue
		}
		if g == nil { // the first case's workload defines it
			help := f.metric
			if known, ok := m.metrics.Metric(c, f.metric); ok && known.Doc != "" {
				help = known.Doc
			}
			g = m.add(f.metric, unit, help+" (the estimate with its interval, and the median of the launches)")
		}
		scale := results.ScaleFor(e.Median, e.Unit)
		median, low, high := scale.Estimate(e.Median, e.CI, boundsOf(c, e.Unit, f.metric)...)
		value, _, _ := scale.Estimate(e.Value, e.CI, boundsOf(c, e.Unit, f.metric)...)
		for _, s := range []struct{ estimate, text string }{
			{"value", value}, {"median", median}, {"ci_low", low}, {"ci_high", high},
		} {
			if value, ok := inBase(s.text, factor/scale.Factor); ok {
				g.sample(value, m.labels[i], gaugeLabel{"estimate", s.estimate})
			}
		}
	}
}

// inBase scales a formatted number, keeping its digits; unbounded times are +Inf. ok is false if it is no
// number.
func inBase(text string, factor float64) (number string, ok bool) {
	if text == quantity.UnboundedText {
		return "+Inf", true
	}
	v, err := strconv.ParseFloat(text, 64)
	return raw(quantity.Round(v * factor)), err == nil
}

// baseNames are the names of base units, by dimension.
var baseNames = map[quantity.Dimension]string{
	quantity.SizeDim: "bytes", quantity.TimeDim: "seconds", quantity.RateDim: "bytes_per_second",
	quantity.Frequency: "per_second", quantity.TimeEach: "seconds_per_byte",
}

// baseUnit is the name of a unit's base unit, "" for plain numbers, and the factor to it.
func baseUnit(symbol string) (name string, factor float64) {
	u, ok := quantity.UnitOf(symbol)
	if !ok {
		return metricName(symbol), 1
	}
	return baseNames[u.Dim], u.Factor
}

// ofCase are the labels of a case.
func (m *gauges) ofCase(c *results.Case) []gaugeLabel {
	labels := []gaugeLabel{label("scenario", m.doc.Scenario.Name), label("run", c.Run), label("case", c.Key)}
	for _, a := range c.AxisOrder {
		if v, ok := c.Axes[a]; ok {
			labels = append(labels, label(m.axes[a], option.Text(v)))
		}
	}
	if c.Simulated() {
		labels = append(labels, label("simulated", "true"))
	}
	return labels
}

// ownLabels are reserved for weir.
var ownLabels = []string{
	"scenario", "run", "case", "simulated", "verdict", "assertion", "severity", "estimate", "reason", "until",
	"xfail_ceiling",
}

// axisLabels gives each axis a unique valid label.
func axisLabels(names []string) map[string]string {
	taken := slices.Clone(ownLabels)
	out := map[string]string{}
	for _, a := range names {
		l := metricName(a)
		if strings.HasPrefix(l, "__") { // reserved for Prometheus
			l = "axis" + l
		}
		out[a] = distinct(l, "axis_", taken)
		taken = append(taken, out[a])
	}
	return out
}

// metricName replaces characters that metric and label names cannot have.
func metricName(s string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// label is a label with invalid UTF-8 replaced.
func label(name, value string) gaugeLabel {
	return gaugeLabel{name, strings.ToValidUTF8(value, "\uFFFD")}
}
