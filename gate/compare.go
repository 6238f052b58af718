package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// Comparing asks two things of each metric. Is there a change: does the interval of
// the ratio exclude 1? And is it a regression: does the whole interval lie beyond
// the margin on the worse side? A change within the margin is shown and does no
// harm; a regression needs both size and certainty (non-inferiority, as ICH E10 has
// it for trials).

// CompareOptions say what is compared and how it is judged.
type CompareOptions struct {
	Margin  float64  // by how much a metric may be worse, as a share of the base: 0.03
	Metrics []string // by name; none: those that the assertions of either side are about
	All     bool     // every metric with a better direction
	Holm    bool     // judge regressions as one family
	// Noise is what earlier sessions say of how sessions differ (NoiseOf).
	Noise []results.CaseNoise
}

// ErrNothingCompared says that there is no case and metric that both sides have.
var ErrNothingCompared = errors.New("nothing to compare")

// Compare holds the cases of two documents against each other by their keys. It
// fails on a metric that no case has, and with ErrNothingCompared.
func Compare(base, now *results.Document, o CompareOptions) (*results.Comparison, error) {
	base, now = base.Undisturbed(), now.Undisturbed()
	c := &comparer{
		options: o, metrics: workload.DefinitionsOf(now, base),
		baseMetrics: assertedMetrics(base), newMetrics: assertedMetrics(now),
		out: newComparison(base, now, o), documents: []*results.Document{base, now},
	}
	c.out.CrossSession = base.Session.ID != now.Session.ID || base.Session.ID == ""
	if here, there := now.Environment.Fingerprint, base.Environment.Fingerprint; here != "" && there != "" {
		same := here == there
		c.out.SameEnvironment = &same
	}
	c.out.Differences = results.EnvironmentDifferences(base, now)
	return c.compare(matched(base.Cases, now.Cases, func(c *results.Case) string { return c.Key }))
}

// CompareRuns holds the cases of two runs of one document against each other by
// what follows the run's name in their keys: their points.
func CompareRuns(doc *results.Document, base, now string, o CompareOptions) (*results.Comparison, error) {
	of := func(run string) []*results.Case {
		return casesWhere(doc, func(c *results.Case) bool { return c.Run == run })
	}
	doc = doc.Undisturbed()
	for _, run := range []string{base, now} {
		if len(of(run)) == 0 {
			return nil, fmt.Errorf("the document has no run %q; it has %s", run,
				strings.Join(each(doc, func(c *results.Case) string { return c.Run }), ", "))
		}
	}
	couples := matched(of(base), of(now), func(c *results.Case) string { return strings.TrimPrefix(c.Key, c.Run) })
	return compareWithin(doc, "run "+base, "run "+now, couples, o)
}

// CompareAxis holds the cases of one document at values of an axis against those at
// another: those of one run that differ in nothing else of their points. Without values
// these are all that the document has; without a base it is the first, or the baseline of
// the variants.
func CompareAxis(doc *results.Document, axis, base string, others []string, o CompareOptions) (*results.Comparison,
	error) {
	values := each(doc, func(c *results.Case) string { return valueOf(c, axis) })
	if len(values) == 0 {
		return nil, fmt.Errorf("no case has an axis %s", axis)
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
			return nil, fmt.Errorf("all cases have %s=%s, so there is nothing to compare it with", axis, base)
		}
	}
	for _, value := range append([]string{base}, others...) {
		if !slices.Contains(values, value) {
			return nil, fmt.Errorf("no case has %s=%s; there is %s", axis, value, strings.Join(values, ", "))
		}
	}
	couples := alongAxis(doc.Cases, axis, base, others)
	return compareWithin(doc, axis+"="+base, axis+"="+strings.Join(others, ", "), couples, o)
}

// valueOf is the text of a case's value on an axis; "": it has none.
func valueOf(c *results.Case, axis string) string {
	if v, ok := c.Axes[axis]; ok {
		return workload.Text(v)
	}
	return ""
}

// alongAxis couples the cases at each of the values with those at the base that differ in
// nothing else.
func alongAxis(cases []*results.Case, axis, base string, values []string) (couples []couple) {
	at := func(value string) []*results.Case {
		return slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool { return valueOf(c, axis) != value })
	}
	rest := func(c *results.Case) string {
		parts := []string{c.Run}
		for _, name := range slices.Sorted(maps.Keys(c.Axes)) {
			if name != axis {
				parts = append(parts, name+"="+workload.Text(c.Axes[name]))
			}
		}
		return strings.Join(parts, "\x00")
	}
	from := at(base)
	for _, value := range values {
		couples = append(couples, matched(from, at(value), rest)...)
	}
	return couples
}

func compareWithin(doc *results.Document, base, now string, couples []couple, o CompareOptions) (*results.Comparison,
	error) {
	return comparerWithin(doc, base, now, o).compare(couples)
}

// comparerWithin compares two parts of a document, which are called so.
func comparerWithin(doc *results.Document, base, now string, o CompareOptions) *comparer {
	asserted := assertedMetrics(doc)
	c := &comparer{
		options: o, within: true, metrics: workload.DefinitionsOf(doc),
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

// each are the different texts of the cases, but "".
func each(doc *results.Document, text func(*results.Case) string) []string {
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

// couple is a case of the one side with its like of the other; one may be nil.
type couple struct{ base, now *results.Case }

// matched couples cases in the order of the new ones, those of the base alone last.
func matched(base, now []*results.Case, name func(*results.Case) string) []couple {
	old := make(map[string]*results.Case, len(base))
	for _, c := range base {
		old[name(c)] = c
	}
	var out []couple
	for _, c := range now {
		out = append(out, couple{old[name(c)], c})
		delete(old, name(c))
	}
	for _, c := range base {
		if old[name(c)] != nil {
			out = append(out, couple{c, nil})
		}
	}
	return out
}

type comparer struct {
	options                 CompareOptions
	within                  bool // one document
	shares                  bool // also of metrics that may be zero, where none is, the change is a ratio
	metrics                 *workload.Definitions
	baseMetrics, newMetrics map[string][]string // by key
	out                     *results.Comparison
	contrasts               []*contrast
	documents               []*results.Document // the base and the new one
	estimated               [][]*contrast       // by metric, of which the changes tell how sessions differ
}

func (c *comparer) compare(couples []couple) (*results.Comparison, error) {
	var both []couple
	for _, p := range couples {
		switch {
		case !inPlan(p.base) && !inPlan(p.now):
		case !inPlan(p.now):
			if l := leftOver(p.base, p.now); !slices.Contains(c.out.OnlyBase, l) { // once, of several values
				c.out.OnlyBase = append(c.out.OnlyBase, l)
			}
		case !inPlan(p.base):
			c.out.OnlyNew = append(c.out.OnlyNew, leftOver(p.now, p.base))
		default:
			both = append(both, p)
		}
	}
	if err := c.known(both); err != nil {
		return nil, err
	}
	for _, p := range both {
		c.couple(p)
	}
	if len(c.out.Effects) == 0 {
		if len(both) == 0 {
			return nil, fmt.Errorf("%w: no case was measured on both sides", ErrNothingCompared)
		}
		return nil, fmt.Errorf("%w: no assertion of either side is about a metric with a better direction; --metric NAME and --all compare others",
			ErrNothingCompared)
	}
	var pairs []results.CasePair
	for _, p := range both {
		pairs = append(pairs, results.CasePair{Base: p.base, New: p.now})
	}
	c.out.Differences = append(c.out.Differences, results.CaseDifferences(pairs)...)
	c.fill()
	c.judge()
	c.out.Geomeans = results.Geomeans(c.out.Effects, c.options.Margin)
	return c.out, nil
}

// inPlan says whether a case was to be measured. One that its session did not get
// to was: what it would have shown is missing, not left out.
func inPlan(c *results.Case) bool {
	return c != nil && c.Status != results.Excluded && (c.Status != results.Skipped || c.Unreached())
}

func leftOver(c, other *results.Case) results.LeftOver {
	if other == nil {
		return results.LeftOver{Case: c.Key, Reason: "not in the other document"}
	}
	return results.LeftOver{Case: c.Key, Reason: because(other.Status, other.Reason)}
}

// known refuses the name of a metric that none of the cases has.
func (c *comparer) known(both []couple) error {
	for _, name := range c.options.Metrics {
		if len(both) > 0 && !slices.ContainsFunc(both, func(p couple) bool {
			_, ok := c.metrics.Metric(p.now, name)
			return ok
		}) {
			return fmt.Errorf("no case has a metric %q", name)
		}
	}
	return nil
}

// compared are those of a couple that are compared, in the order of their definitions.
func (c *comparer) compared(p couple) []workload.Metric {
	asserted := append(slices.Clone(c.baseMetrics[p.base.Key]), c.newMetrics[p.now.Key]...)
	var out []workload.Metric
	for _, m := range c.metrics.Of(p.now.Workload, p.now.Run).Definitions {
		switch directed := m.Better != workload.Neither; {
		case len(c.options.Metrics) > 0 && !c.options.All:
			if slices.Contains(c.options.Metrics, m.Name) {
				out = append(out, m)
			}
		case c.options.All:
			if directed && shared(c.metrics, p, m.Name) || slices.Contains(c.options.Metrics, m.Name) {
				out = append(out, m)
			}
		case directed && slices.Contains(asserted, m.Name):
			out = append(out, m)
		}
	}
	return out
}

// shared says whether both sides have a metric at all, which one that a side's engine
// does not have is not: it is absent, or 0 throughout although nothing takes no time.
func shared(d *workload.Definitions, p couple, metric string) bool {
	has := func(c *results.Case, is func(float64) bool) bool {
		return slices.ContainsFunc(c.Launches, func(l *results.Launch) bool {
			v, ok := l.Metrics.Get(metric)
			return ok && is(v)
		})
	}
	any := func(float64) bool { return true }
	some := func(v float64) bool { return v != 0 || d.MayBeZero(metric) }
	return has(p.base, any) && has(p.now, any) && (has(p.base, some) || has(p.now, some))
}

func (c *comparer) couple(p couple) {
	ms := c.compared(p)
	if why := unfit(p); why != "" && (len(ms) > 0 || c.options.All) {
		c.out.Effects = append(c.out.Effects, &results.Effect{
			Case: p.now.Key, BaseCase: otherKey(p), Verdict: results.EffectError, Message: why,
		})
		return
	}
	for _, m := range ms {
		e := &results.Effect{
			Case: p.now.Key, BaseCase: otherKey(p), Metric: m.Name, Unit: m.Unit, Better: string(m.Better),
		}
		c.out.Effects = append(c.out.Effects, e)
		x, err := c.contrast(p, m, e)
		if err != nil {
			e.Verdict, e.Message = results.EffectError, err.Error()
			continue
		}
		c.contrasts = append(c.contrasts, x)
	}
}

// unfit says why a side cannot be compared, "" if both can.
func unfit(p couple) string {
	if o, bad := unusable(p.base); bad {
		return "base: " + o.message
	}
	if o, bad := unusable(p.now); bad {
		return "new: " + o.message
	}
	return ""
}

func otherKey(p couple) string {
	if p.base.Key == p.now.Key {
		return ""
	}
	return p.base.Key
}

// assertedMetrics are the metrics that assertions are about, by the key of the case.
func assertedMetrics(doc *results.Document) map[string][]string {
	out := map[string][]string{}
	for _, m := range statements(doc) {
		c, a := m.c, m.a
		var own []string
		if c != nil {
			own = []string{c.Key}
		} else if a.Trend != nil {
			own = a.Cases
		}
		for _, leaf := range a.Subject.Leaves() {
			keys := own
			if leaf.Case != "" {
				keys = []string{leaf.Case}
			}
			for _, k := range keys {
				out[k] = append(out[k], leaf.Metric)
			}
		}
		for _, part := range a.Parts {
			for _, leaf := range part.Subject.Leaves() {
				key := cmp.Or(leaf.Case, part.Case)
				out[key] = append(out[key], leaf.Metric)
			}
		}
	}
	return out
}
