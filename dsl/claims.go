// Claims: what documents say of the metrics of runs.

package dsl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// Claim is what a document says of a metric of a run's cases.
type Claim struct {
	Run       *Run
	Metric    workload.Metric
	Value     float64 // in the unit of the metric; of a gain a share
	Text      string  // the value with its unit, as written
	Gain      bool
	Where     *Condition // nil: all cases
	Requires  []*Condition
	Plausible float64 // in the unit of the metric; 0: not given
	Range     hcl.Range

	Variant       string  `key:"variant"` // "": any
	Against       string  `key:"against"` // of a gain: the variant that it is over
	Tolerance     float64 `key:"tolerance"`
	Source        string  `key:"source"`
	Date          string  `key:"date"`
	Configuration string  `key:"configuration"`
	Says          string  `key:"status"`
}

// claimReader reads the claims of a file about the runs that it sees.
type claimReader struct {
	*loader
	runs []*Run
}

// read reads the list of claims.
func (cr *claimReader) read(content *hcl.BodyContent) []*Claim {
	expr := argument(content, "claims")
	if expr == nil {
		return nil
	}
	items, _ := cr.items(expr, "claims is a list of claims.",
		"Write [{run: NAME, metric: NAME, value: VALUE, source: DOCUMENT}].")
	var out []*Claim
	for _, e := range items {
		if !isMapping(e) {
			cr.error(e.Range(), "Not a mapping", "A claim is a mapping.",
				"Write {run: NAME, metric: NAME, value: VALUE, source: DOCUMENT}.")
			continue
		}
		if c := cr.claim(cr.record(e, schemaOf(grammar.Claim), "a claim")); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// claim reads one claim; nil after an error.
func (cr *claimReader) claim(p part) *Claim {
	before := len(cr.diags)
	c := &Claim{Range: p.at, Tolerance: 0.1}
	cr.fill(p, grammar.Claim, c)
	if !cr.complete(p, grammar.Claim, "a claim") || !cr.subject(p, c) {
		return nil
	}
	cr.value(p, c)
	if c.Source = strings.TrimSpace(c.Source); c.Source == "" {
		cr.invalid(p, "source", "The source is empty.", "Name the document; reports show it.")
	}
	if _, err := time.Parse(time.DateOnly, c.Date); c.Date != "" && err != nil {
		cr.invalid(p, "date", fmt.Sprintf("%q is not a date.", c.Date), "Write the day as 2006-01-31.")
	}
	if e := argument(p.BodyContent, "where"); e != nil {
		c.Where = cr.condition(e, "where", c.Run.names())
	}
	if e := argument(p.BodyContent, "requires"); e != nil {
		c.Requires = cr.conditions(e, c.Run)
	}
	cr.variants(p, c)
	if len(cr.diags) > before {
		return nil
	}
	return c
}

func (cr *claimReader) invalid(p part, key, detail, hint string) {
	at := p.at
	if e := argument(p.BodyContent, key); e != nil {
		at = e.Range()
	}
	cr.error(at, "Invalid value", detail, hint)
}

// subject finds the run and the metric.
func (cr *claimReader) subject(p part, c *Claim) bool {
	run, metric := argument(p.BodyContent, "run"), argument(p.BodyContent, "metric")
	name, named := cr.text(run, "run")
	of, measured := cr.text(metric, "metric")
	if !named || !measured {
		return false
	}
	var names []string
	for _, r := range cr.runs {
		if names = append(names, r.Name); r.Name == name {
			c.Run = r
		}
	}
	switch {
	case c.Run == nil && cr.incomplete:
		return false
	case c.Run == nil:
		cr.error(run.Range(), "Unknown run", fmt.Sprintf("There is no run %q in this file.", name),
			suggest.Sentence(name, names, "runs"))
		return false
	case c.Run.Workload == nil:
		return false
	}
	var known bool
	if c.Metric, known = c.Run.metric(of); !known {
		cr.error(metric.Range(), "Unknown metric", fmt.Sprintf("Run %q has no metric %q.", name, of),
			suggest.Documented(of, metricNames(c.Run), "metrics", "weir docs metrics"))
	}
	return known
}

// value reads the value or the gain, and what is plausible.
func (cr *claimReader) value(p part, c *Claim) {
	value, gain := argument(p.BodyContent, "value"), argument(p.BodyContent, "gain")
	switch {
	case value == nil && gain == nil:
		cr.error(p.at, "Missing key", "The claim has neither a value nor a gain.",
			"Add value: 46.48 GB/s, or gain: 40%.")
	case value != nil && gain != nil:
		cr.error(gain.Range(), "Value and gain", "The claim has both a value and a gain.",
			"Write two claims.")
	case gain != nil:
		k, _ := grammar.Find(grammar.Claim, "gain")
		c.Value, c.Gain = cr.percent(gain, "gain", k.Min, k.Max), true
		c.Text, _ = cr.text(gain, "gain")
		if c.Metric.Better == workload.Neither {
			cr.error(gain.Range(), "Invalid value",
				fmt.Sprintf("No direction of %s is better, so that it has no gain.", c.Metric.Name), "Write a value.")
		}
	default:
		c.Value, c.Text = cr.quantity(value, "value", c.Metric)
	}
	if e := argument(p.BodyContent, "plausible"); e != nil {
		if c.Plausible, _ = cr.quantity(e, "plausible", c.Metric); c.Gain || c.Metric.Better == workload.Lower {
			cr.error(e.Range(), "Invalid value", "plausible is the most of a metric of which more is better.",
				"Remove the key.")
		}
	}
}

// quantity reads a value in the unit of a metric, and its text with a unit.
func (cr *claimReader) quantity(e hcl.Expression, what string, m workload.Metric) (v float64, text string) {
	text, ok := cr.text(e, what)
	if !ok {
		return 0, ""
	}
	v = cr.metricValue(item{text: text, at: e.Range()}, m)
	if u, known := quantity.UnitOf(m.Unit); known {
		v = quantity.Round(v / u.Factor)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		cr.error(e.Range(), "Invalid value", fmt.Sprintf("%s is %s, which is no number.", what, text), "")
	}
	if q, err := quantity.Parse(text); err == nil && q.Unit == "" && m.Unit != "" {
		text += " " + m.Unit
	}
	return v, text
}

// circumstances are the names of requires: options and axes, the number of nodes and the variables of the ranks.
func (r *Run) circumstances() *expression.Names {
	n := r.names()
	if _, option := r.Workload.Option(NodesName); !option && !n.HasAxis(NodesName) {
		n.Axes = append(n.Axes, expression.Axis{Name: NodesName, Type: expression.Number})
	}
	for _, s := range r.settings {
		if name := "env." + s.Name; s.Env && !n.HasAxis(name) {
			n.Axes = append(n.Axes, expression.Axis{Name: name, Null: true})
		}
	}
	return n
}

// NodesName is the name of the number of nodes in requires of a claim.
const NodesName = "nodes"

// conditions compiles the conditions of requires.
func (cr *claimReader) conditions(e hcl.Expression, r *Run) (all []*Condition) {
	items, diags := hcl.ExprList(e)
	if diags.HasErrors() || len(items) == 0 {
		cr.error(e.Range(), "Invalid value", "requires is a list of conditions.",
			`Write [memory == "vram", tokens == 128].`)
	}
	for _, item := range items {
		if c := cr.condition(item, "requires", r.circumstances()); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// condition compiles a condition on names.
func (cr *claimReader) condition(e hcl.Expression, key string, names *expression.Names) *Condition {
	t, ok := cr.locate(e, "`"+key+"`")
	if !ok {
		return nil
	}
	c, err := names.Where(t.text)
	if err != nil {
		cr.diags = append(cr.diags, invalidCondition(t, names, err)...)
		return nil
	}
	return c
}

// variants checks the variants of a claim, and finds the one that a gain is over.
func (cr *claimReader) variants(p part, c *Claim) {
	if c.Gain {
		if c.Against == "" {
			c.Against = c.Run.BaselineVariant()
		}
		switch {
		case c.Variant == "":
			cr.error(p.at, "Missing key", "The claim of a gain names no variant.", "Add variant: NAME.")
		case c.Against == "":
			cr.error(p.at, "Missing key", "The claim of a gain does not say what the gain is over.",
				"Add against: VARIANT, or name a baseline among the variants.")
		case c.Against == c.Variant:
			cr.invalid(p, "against", fmt.Sprintf("The gain of %q is over itself.", c.Variant),
				"Name another variant.")
		}
	} else if c.Against != "" {
		cr.invalid(p, "against", "Only a gain is over another variant.", "Write gain instead of value.")
	}
	for _, key := range []string{"variant", "against"} {
		name := map[string]string{"variant": c.Variant, "against": c.Against}[key]
		var names []string
		if a := c.Run.axis(variantAxis); a != nil {
			for _, v := range a.Values {
				names = append(names, v.Text)
			}
		}
		if name != "" && !slices.Contains(names, name) {
			cr.invalid(p, key, fmt.Sprintf("Run %q does not sweep a variant %q.", c.Run.Name, name),
				suggest.Sentence(name, names, "variants of the run"))
		}
	}
}
