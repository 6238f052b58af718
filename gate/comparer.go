package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// casePair is a case of one side with its counterpart of the other; one may be nil.
type casePair struct{ base, now *results.Case }

// matchCases pairs cases in the order of the new ones; cases of the base alone come last.
func matchCases(base, now []*results.Case, name func(*results.Case) string) []casePair {
	old := make(map[string]*results.Case, len(base))
	for _, c := range base {
		old[name(c)] = c
	}
	var out []casePair
	for _, c := range now {
		out = append(out, casePair{old[name(c)], c})
		delete(old, name(c))
	}
	for _, c := range base {
		if old[name(c)] != nil {
			out = append(out, casePair{c, nil})
		}
	}
	return out
}

type comparer struct {
	options                 CompareOptions
	within                  bool // both sides are of one document
	shares                  bool // metrics that may be zero, but are not, are compared as a ratio
	metrics                 *workload.Definitions
	measured                *workload.Definitions // of the base: units may differ
	baseMetrics, newMetrics map[string][]string   // by key
	out                     *results.Comparison
	contrasts               []*contrast
	documents               []*results.Document // the base and the new one
	estimated               [][]*contrast       // by metric; their changes tell how sessions differ
}

func (c *comparer) compare(couples []casePair) (*results.Comparison, error) {
	var both []casePair
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
	if err := c.checkMetrics(both); err != nil {
		return nil, err
	}
	for _, p := range both {
		if err := c.couple(p); err != nil {
			return nil, err
		}
	}
	if len(c.out.Effects) == 0 {
		if len(both) == 0 {
			return nil, fmt.Errorf("%w: no case was measured on both sides", ErrNothingCompared)
		}
		return nil, fmt.Errorf("%w: no assertion of either side uses a metric with a better direction; choose metrics by --metric NAME or --all",
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

// inPlan reports whether a case was to be measured. Cases that the session did not reach were: their
// results are missing, not left out.
func inPlan(c *results.Case) bool {
	return c != nil && c.Status != results.Excluded && (c.Status != results.Skipped || c.NotReached())
}

func leftOver(c, other *results.Case) results.LeftOver {
	if other == nil {
		return results.LeftOver{Case: c.Key, Reason: "not in the other document"}
	}
	return results.LeftOver{Case: c.Key, Reason: wording.Sentence(results.Because(results.CaseNotRun,
		results.Text("status", other.Status), why(other.Reason)))}
}

// checkMetrics rejects the name of a metric that none of the cases has.
func (c *comparer) checkMetrics(both []casePair) error {
	for _, name := range c.options.Metrics {
		if len(both) > 0 && !slices.ContainsFunc(both, func(p casePair) bool {
			_, ok := c.metrics.Metric(p.now, name)
			return ok
		}) {
			return fmt.Errorf("no case has a metric %q", name)
		}
	}
	return nil
}

// compared returns the metrics of a pair to compare, in the order of their definitions.
func (c *comparer) compared(p casePair) []workload.Metric {
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

// shared reports whether both sides have a metric. An engine that does not support it leaves it out, or
// writes 0 for a duration in every launch.
func shared(d *workload.Definitions, p casePair, metric string) bool {
	has := func(c *results.Case, is func(float64) bool) bool {
		return slices.ContainsFunc(c.Launches, func(l *results.Launch) bool {
			v, ok := l.Metrics.Get(metric)
			return ok && is(v)
		})
	}
	any := func(float64) bool { return true }
	some := func(v float64) bool { return v != 0 || d.In(p.now).MayBeZero("", metric) }
	return has(p.base, any) && has(p.now, any) && (has(p.base, some) || has(p.now, some))
}

// couple adds the effects of a pair. It returns an error if a metric has units that cannot be compared.
func (c *comparer) couple(p casePair) error {
	ms := c.compared(p)
	var names []string
	for _, m := range ms {
		names = append(names, m.Name)
	}
	was, is := c.measured.Of(p.base.Workload, p.base.Run), c.metrics.Of(p.now.Workload, p.now.Run)
	f, err := workload.UnitFactors(was, is, names)
	if err != nil {
		return fmt.Errorf("case %s: %w", p.now.Key, err)
	}
	p.base = f.Case(p.base)
	if o, bad := incomparable(p); bad && (len(ms) > 0 || c.options.All) {
		verdict := results.EffectError
		if o.verdict == results.InconclusiveVerdict {
			verdict = results.Unclear
		}
		c.out.Effects = append(c.out.Effects, &results.Effect{
			Case: p.now.Key, BaseCase: otherKey(p), Verdict: verdict, Message: wording.Message(o.reasons),
			Reasons: o.reasons,
		})
		return nil
	}
	for _, m := range ms {
		if then, known := workload.FindMetric(was.Definitions, m.Name); known && then.Better != m.Better {
			c.out.Differences = append(c.out.Differences, results.Difference{
				What: "better values of " + m.Name, Base: string(then.Better), New: string(m.Better),
				Of: []string{p.now.Key},
			})
		}
		e := &results.Effect{
			Case: p.now.Key, BaseCase: otherKey(p), Metric: m.Name, Unit: m.Unit, Better: string(m.Better),
		}
		c.out.Effects = append(c.out.Effects, e)
		x, err := c.contrast(p, m, e)
		if err != nil {
			e.Verdict = results.EffectError
			(&contrast{effect: e}).addReasons(reasonOf(err))
			continue
		}
		c.contrasts = append(c.contrasts, x)
	}
	return nil
}

// incomparable says why a side cannot be compared, if so. If all launches of a side were discarded, that is
// inconclusive; an error of the other one precedes it.
func incomparable(p casePair) (outcome, bool) {
	o, bad := unusable(p.base)
	side := "base"
	if other, also := unusable(p.now); also && (!bad || o.verdict == results.InconclusiveVerdict &&
		other.verdict != results.InconclusiveVerdict) {
		o, bad, side = other, true, "new"
	}
	if bad {
		o.reasons[0].Place.Side = side
	}
	return o, bad
}

func otherKey(p casePair) string {
	if p.base.Key == p.now.Key {
		return ""
	}
	return p.base.Key
}

// assertedMetrics returns the metrics that assertions use, by case key.
func assertedMetrics(doc *results.Document) map[string][]string {
	out := map[string][]string{}
	for _, m := range itemsOf(doc) {
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
