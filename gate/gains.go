package gate

import (
	"maps"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// fillGains fills the rows of gain tables for the metrics with a better direction that the run's
// assertions use; all such metrics if there is no assertion.
func fillGains(doc *results.Document) {
	if len(doc.Gains) == 0 {
		return
	}
	asserted := assertedMetrics(doc)
	for _, t := range doc.Gains {
		t.Rows = gains(doc, t, asserted)
	}
}

func gains(doc *results.Document, t *results.Gains, asserted map[string][]string) []*results.Gain {
	var cases []*results.Case
	names := map[string]bool{}
	byKey := map[string]*results.Case{}
	for _, c := range doc.Cases {
		if c.Run == t.Run && inPlan(c) {
			c = c.Undisturbed()
			cases = append(cases, c)
			byKey[c.Key] = c
			for _, m := range asserted[c.Key] {
				names[m] = true
			}
		}
	}
	metrics := workload.DefinitionsOf(doc)
	var options CompareOptions
	if len(cases) > 0 {
		for _, m := range metrics.Of(cases[0].Workload, t.Run).Definitions {
			if names[m.Name] && m.Better != workload.Neither && !workload.OfCase(m.Name) {
				options.Metrics = append(options.Metrics, m.Name)
			}
		}
	}
	options.All = len(options.Metrics) == 0
	couples := pairsAlongAxis(cases, workload.VariantAxis, t.Baseline, othersOf(cases, t.Baseline))
	couples = slices.DeleteFunc(couples, func(p casePair) bool { return p.base == nil || p.now == nil })
	all := comparerWithin(doc, t.Baseline, "", options)
	all.shares = true
	c, err := all.compare(couples)
	if err != nil { // one side has not measured it
		return []*results.Gain{}
	}
	rows := []*results.Gain{}
	for _, e := range c.Effects {
		of := byKey[e.Case]
		axes := maps.Clone(of.Axes)
		delete(axes, workload.VariantAxis)
		better := e.Better
		if better == string(workload.Neither) {
			better = ""
		}
		row := &results.Gain{
			Variant: valueOf(of, workload.VariantAxis), Axes: axes, Case: e.Case, BaseCase: e.BaseCase,
			Metric: e.Metric, Unit: e.Unit, Better: better, Before: e.Base, After: e.New,
			Gain: results.GainOf(e), Additive: e.Additive, Pairs: e.Pairs, Message: e.Message,
		}
		if o := judgedGain(of, e); o != nil {
			gain := *row.Gain
			gain.Value, gain.CI = o.Value, o.CI
			row.Gain, row.Message = &gain, e.Method
		}
		rows = append(rows, row)
	}
	return rows
}

// judgedGain is an assertion's estimate of the same gain by as many launches, so that table and message
// agree. nil if there is none.
func judgedGain(c *results.Case, e *results.Effect) *results.Observed {
	for _, a := range c.Assertions {
		m, b, _ := gainIn(a.Subject)
		if m == nil || m.Metric != e.Metric || b.Case != e.BaseCase || a.Observed == nil || a.Observed.CI == nil ||
			e.Additive || e.Change == nil || e.New == nil || e.New.N != a.Observed.N {
			continue
		}
		return a.Observed
	}
	return nil
}

// othersOf lists the variants of cases except the baseline, in the order of the cases.
func othersOf(cases []*results.Case, baseline string) (others []string) {
	for _, c := range cases {
		v := valueOf(c, workload.VariantAxis)
		if v != "" && v != baseline && !slices.Contains(others, v) {
			others = append(others, v)
		}
	}
	return others
}
