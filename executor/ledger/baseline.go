package ledger

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// UsesBaseline is the text of an assertion that mentions the baseline; "": none does.
func UsesBaseline(p *planner.Plan) string {
	for _, a := range assertionsOf(p) {
		if len(baselineCases(a.Assertion, a.of)) > 0 {
			return a.Text
		}
	}
	return ""
}

// ownedAssertion is an assertion with the key of its case; "": it is over several cases.
type ownedAssertion struct {
	assertion.Assertion
	of string
}

func assertionsOf(p *planner.Plan) []ownedAssertion {
	var all []ownedAssertion
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
			all = append(all, ownedAssertion{a, c.Key})
		}
	}
	for _, a := range p.Assertions {
		all = append(all, ownedAssertion{a, ""})
	}
	return all
}

// baselineCases are the keys of the baseline's cases that an assertion mentions.
func baselineCases(a assertion.Assertion, own string) (keys []string) {
	for _, m := range baselineMetrics(a, own) {
		keys = append(keys, m.Case)
	}
	return keys
}

// baselineMetrics are the metrics of the baseline that an assertion mentions, each with its case.
func baselineMetrics(a assertion.Assertion, own string) (all []assertion.Expr) {
	walk := func(e *assertion.Expr, own string) {
		visitMetrics(e, func(m *assertion.Expr) {
			if m.Baseline {
				of := *m
				of.Case = cmp.Or(m.Case, own)
				all = append(all, of)
			}
		})
	}
	walk(a.Subject, own)
	for _, p := range a.Parts {
		walk(p.Subject, p.Case)
	}
	return all
}

func visitMetrics(e *assertion.Expr, see func(*assertion.Expr)) {
	if e == nil {
		return
	}
	if e.Op == assertion.Metric {
		see(e)
	}
	for _, a := range e.Args {
		visitMetrics(a, see)
	}
}

// TakeBaseline gives a document the baseline of the options, as far as the assertions of the plan mention it.
func TakeBaseline(p *planner.Plan, doc *results.Document, o Options) error {
	doc.Baseline = nil
	l := &Ledger{Plan: p, Doc: doc, o: o}
	if err := l.loadBaseline(); err != nil {
		return err
	}
	l.CompareBaseline(doc.Session.Simulated)
	return nil
}

// loadBaseline copies the baseline's cases that assertions mention into the document, except those without complete
// results.
func (l *Ledger) loadBaseline() error {
	text := UsesBaseline(l.Plan)
	if text == "" || l.Doc.Baseline != nil {
		return nil
	}
	b := l.o.Baseline
	missing := ""
	if l.o.SkipMissing {
		missing = results.SkipMissing
	}
	if b == nil && l.o.SkipMissing {
		why := "no baseline was given"
		if l.o.BaselineFile != "" {
			why = l.o.BaselineFile + " does not exist"
		}
		l.Doc.Baseline = &results.Baseline{
			File: l.o.BaselineFile, Cases: []results.BaselineCase{}, Missing: missing, Absent: why,
		}
		return nil
	}
	if b == nil {
		return Refuse(ExitUsage, "the assertion %q mentions the baseline, and there is none", text)
	}
	taken := &results.Baseline{
		Session: b.Session.ID, File: l.o.BaselineFile, Fingerprint: b.Environment.Fingerprint,
		Cases: []results.BaselineCase{}, Missing: missing, Sessions: l.o.BaselineSessions,
		Imported: b.Session.Imported,
	}
	measured := make(map[string]*results.Case, len(b.Cases))
	for _, c := range slices.Backward(b.Cases) { // the first of equal keys, as in Document.Case
		measured[c.Key] = c
	}
	was, is := workload.DefinitionsOf(b), workload.DefinitionsOf(l.Doc)
	var keys []string
	mentioned := map[string][]string{} // metrics by case
	for _, a := range assertionsOf(l.Plan) {
		for _, m := range baselineMetrics(a.Assertion, a.of) {
			if mentioned[m.Case] == nil {
				keys = append(keys, m.Case)
			}
			mentioned[m.Case] = append(mentioned[m.Case], m.Metric)
		}
	}
	for _, key := range keys {
		c := measured[key]
		if c == nil || c.Status != results.OK {
			continue
		}
		f, err := workload.UnitFactors(was.Of(c.Workload, c.Run), is.Of(c.Workload, c.Run), mentioned[key])
		if err != nil {
			return Refuse(ExitUsage, "the baseline %s, case %s: %w", l.o.BaselineFile, key, err)
		}
		taken.Cases = append(taken.Cases, baselineCase(f.Case(c)))
	}
	l.Doc.Baseline = taken
	return nil
}

// Unusable says why the baseline of a document has nothing to compare some assertions of the plan with: it is missing,
// of another environment, or lacks a case. "": it has all of it, or no assertion mentions it.
func Unusable(p *planner.Plan, doc *results.Document) string {
	b := doc.Baseline
	switch {
	case b == nil:
		return ""
	case b.Absent != "":
		return "there was none"
	case !b.Imported && b.Fingerprint != doc.Environment.Fingerprint:
		return "the one before is of another environment"
	}
	for _, key := range comparedCases(p, doc) {
		i := slices.IndexFunc(b.Cases, func(c results.BaselineCase) bool { return c.Key == key })
		switch {
		case i < 0:
			return "the one before lacks the case " + key
		case len(b.Cases[i].Launches) == 0:
			return "the one before has no usable launch of " + key
		}
	}
	return ""
}

// Unrecordable says why a document would be no baseline for the assertions of the plan: a case has disturbed launches
// only, which a baseline does not use. "": it would be one.
func Unrecordable(p *planner.Plan, doc *results.Document) string {
	for _, key := range comparedCases(p, doc) {
		if c := baselineCase(doc.Case(key)); len(c.Launches) == 0 {
			return "all launches of " + key + " were disturbed"
		}
	}
	return ""
}

// comparedCases are the measured cases that an assertion compares with the baseline.
func comparedCases(p *planner.Plan, doc *results.Document) (keys []string) {
	for _, a := range assertionsOf(p) {
		for _, key := range baselineCases(a.Assertion, a.of) {
			if now := doc.Case(key); now != nil && now.Status == results.OK {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// CompareBaseline puts into the document how the environment and the options of the baseline differ. The baseline
// of a resumed session has been compared already; the environment of an imported one is unknown.
func (l *Ledger) CompareBaseline(simulated bool) {
	if l.Doc.Baseline == nil || l.o.Baseline == nil || l.o.Baseline.Session.Imported ||
		l.Doc.Baseline.Session != l.o.Baseline.Session.ID {
		return
	}
	now := *l.Doc
	now.Session.Simulated = simulated // set in Doc by the first launch
	var pairs []results.CasePair
	for _, c := range l.Doc.Baseline.Cases {
		if of := l.Doc.Case(c.Key); of != nil {
			pairs = append(pairs, results.CasePair{Base: l.o.Baseline.Case(c.Key), New: of})
		}
	}
	l.Doc.Baseline.Differences = append(results.EnvironmentDifferences(l.o.Baseline, &now),
		results.OptionDifferences(pairs)...)
}

func baselineCase(c *results.Case) results.BaselineCase {
	b := results.BaselineCase{Key: c.Key, Launches: []results.MetricValues{}}
	for _, l := range c.Undisturbed().Succeeded() {
		b.Launches = append(b.Launches, l.Metrics)
	}
	b.Disturbed = c.Undisturbed().Discarded()
	return b
}
