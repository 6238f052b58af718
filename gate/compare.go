package gate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// A comparison answers two questions for each metric. Is there a change: does the interval of the ratio
// exclude 1? Is it a regression: does the whole interval lie beyond the margin on the worse side? A change
// within the margin is displayed only; a regression needs both size and certainty (non-inferiority, as in
// ICH E10 for trials).

// CompareOptions select what is compared and how it is judged.
type CompareOptions struct {
	Margin  float64  // accepted worsening, as a share of the base: 0.03
	Metrics []string // names; none: those that assertions of either side use
	All     bool     // every metric with a better direction
	Holm    bool     // judge all regressions as one family
	// Noise is the variance between earlier sessions (NoiseOf).
	Noise []results.CaseNoise
}

// ErrNothingCompared says that both sides have no case and metric in common.
var ErrNothingCompared = errors.New("nothing to compare")

// Compare compares the cases of two documents by key. It returns an error for a metric that no case has,
// and ErrNothingCompared.
func Compare(base, now *results.Document, o CompareOptions) (*results.Comparison, error) {
	base, now = base.Undisturbed(), now.Undisturbed()
	c := &comparer{
		options: o, metrics: workload.DefinitionsOf(now, base), measured: workload.DefinitionsOf(base),
		baseMetrics: assertedMetrics(base), newMetrics: assertedMetrics(now),
		out: newComparison(base, now, o), documents: []*results.Document{base, now},
	}
	c.out.CrossSession = base.Session.ID != now.Session.ID || base.Session.ID == ""
	if here, there := now.Environment.Fingerprint, base.Environment.Fingerprint; here != "" && there != "" {
		same := here == there
		c.out.SameEnvironment = &same
	}
	c.out.Differences = results.EnvironmentDifferences(base, now)
	return c.compare(matchCases(base.Cases, now.Cases, func(c *results.Case) string { return c.Key }))
}

// CompareRuns compares the cases of two runs of one document by their points, the part of a key after the
// run's name.
func CompareRuns(doc *results.Document, base, now string, o CompareOptions) (*results.Comparison, error) {
	of := func(run string) []*results.Case {
		return casesWhere(doc, func(c *results.Case) bool { return c.Run == run })
	}
	doc = doc.Undisturbed()
	for _, run := range []string{base, now} {
		if len(of(run)) == 0 {
			return nil, fmt.Errorf("the document has no run %q; it has %s", run,
				strings.Join(distinctTexts(doc, func(c *results.Case) string { return c.Run }), ", "))
		}
	}
	couples := matchCases(of(base), of(now), func(c *results.Case) string { return strings.TrimPrefix(c.Key, c.Run) })
	return compareWithin(doc, "run "+base, "run "+now, couples, o)
}

// CompareAxis compares the cases of one document at values of an axis with those at another value, which
// differ in nothing else. Without values it compares all values of the document. Without a base the base
// is the first value, or the baseline of the variants.
func CompareAxis(doc *results.Document, axis, base string, others []string, o CompareOptions) (*results.Comparison,
	error) {
	values := distinctTexts(doc, func(c *results.Case) string { return valueOf(c, axis) })
	if len(values) == 0 {
		there := ""
		if axes := axesOf(doc); len(axes) > 0 {
			there = "; the axes are " + strings.Join(axes, ", ")
		}
		return nil, fmt.Errorf("no case has an axis %s%s", axis, there)
	}
	if base == "" {
		base = values[0]
		if len(doc.Gains) > 0 && axis == workload.VariantAxis && slices.Contains(values, doc.Gains[0].Baseline) {
			base = doc.Gains[0].Baseline
		}
	}
	if len(others) == 0 {
		others = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == base })
		if len(others) == 0 {
			return nil, fmt.Errorf("all cases have %s=%s: there is no other value to compare with", axis, base)
		}
	}
	for _, value := range append([]string{base}, others...) {
		if !slices.Contains(values, value) {
			return nil, fmt.Errorf("no case has %s=%s; there is %s", axis, value, strings.Join(values, ", "))
		}
	}
	couples := pairsAlongAxis(doc.Cases, axis, base, others)
	return compareWithin(doc, axis+"="+base, axis+"="+strings.Join(others, ", "), couples, o)
}

// axesOf are the axes of all cases, each once.
func axesOf(doc *results.Document) (axes []string) {
	for _, c := range doc.Cases {
		for _, a := range c.AxisOrder {
			axes = ordered.Append(axes, a)
		}
	}
	return axes
}

// valueOf returns a case's value on an axis as text; "": it has none.
func valueOf(c *results.Case, axis string) string {
	if v, ok := c.Axes[axis]; ok {
		return option.Text(v)
	}
	return ""
}

// pairsAlongAxis pairs the cases at each of the values with those at the base that differ in nothing else.
func pairsAlongAxis(cases []*results.Case, axis, base string, values []string) (couples []casePair) {
	at := func(value string) []*results.Case {
		return slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool { return valueOf(c, axis) != value })
	}
	rest := func(c *results.Case) string {
		parts := []string{c.Run}
		for _, name := range slices.Sorted(maps.Keys(c.Axes)) {
			if name != axis {
				parts = append(parts, name+"="+option.Text(c.Axes[name]))
			}
		}
		return strings.Join(parts, "\x00")
	}
	from := at(base)
	for _, value := range values {
		couples = append(couples, matchCases(from, at(value), rest)...)
	}
	return couples
}

func compareWithin(doc *results.Document, base, now string, couples []casePair, o CompareOptions) (*results.Comparison,
	error) {
	return comparerWithin(doc, base, now, o).compare(couples)
}

// comparerWithin compares two parts of a document with the given names.
func comparerWithin(doc *results.Document, base, now string, o CompareOptions) *comparer {
	asserted := assertedMetrics(doc)
	c := &comparer{
		options: o, within: true, metrics: workload.DefinitionsOf(doc), measured: workload.DefinitionsOf(doc),
		baseMetrics: asserted, newMetrics: asserted, out: newComparison(doc, doc, o),
	}
	c.out.Base.Part, c.out.New.Part = base, now
	same := true
	c.out.SameEnvironment = &same
	return c
}

func casesWhere(doc *results.Document, is func(*results.Case) bool) []*results.Case {
	return slices.DeleteFunc(slices.Clone(doc.Cases), func(c *results.Case) bool { return !is(c) })
}

// distinctTexts returns the distinct non-empty texts of the cases.
func distinctTexts(doc *results.Document, text func(*results.Case) string) []string {
	var all []string
	for _, c := range doc.Cases {
		if s := text(c); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func newComparison(base, now *results.Document, o CompareOptions) *results.Comparison {
	side := func(d *results.Document) results.Compared {
		return results.Compared{
			Session: d.Session.ID, Scenario: d.Scenario.Name, Started: d.Session.Started, Weir: d.Weir.Version,
		}
	}
	out := &results.Comparison{
		Schema: results.ComparisonSchema, Base: side(base), New: side(now), Confidence: results.Confidence,
		Margin:    o.Margin,
		Simulated: base.Simulated() || now.Simulated(),
	}
	if o.Holm {
		out.Multiple = "holm"
	}
	return out
}
