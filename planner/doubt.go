package planner

import (
	"slices"

	"weir/assertion"
	"weir/workload"
)

// Doubt is why an assertion will be inconclusive whatever is measured, as far as the plan tells it.
type Doubt struct {
	Assertion *assertion.Assertion
	Cases     []string // of which it is true
	Why       string
	Change    string // what to set in the scenario, as "requests: 1000"; "": nobody knows
	metric    string
}

// OfLaunches says whether it is no metric that has too few samples, but launches of any number that do not decide.
func (d *Doubt) OfLaunches() bool { return d.metric == "" }

// Doubts are those of all assertions, each cause of an assertion of the scenario once. further tells another
// cause of an assertion, of a case or over several, that the plan itself does not know; "": there is none.
func (p *Plan) Doubts(further func(own *Case, a assertion.Assertion, looks []int) (why, change string)) (all []*Doubt) {
	type cause struct {
		file   string
		line   int
		text   string
		metric string
	}
	told := map[cause]*Doubt{}
	add := func(d Doubt) {
		k := cause{d.Assertion.File, d.Assertion.Line, d.Assertion.Text, d.metric}
		if first := told[k]; first != nil {
			first.Cases = append(first.Cases, d.Cases...)
			return
		}
		told[k] = &d
		all = append(all, &d)
	}
	looks := map[string][]int{}
	for _, g := range p.Groups {
		if len(looks[g.Run]) == 0 {
			looks[g.Run] = g.Looks
		}
	}
	look := func(own, of *Case, a assertion.Assertion) {
		now := looks[of.Run]
		if of.Status != Planned || len(now) == 0 {
			return
		}
		doubts := p.undecidable(own, a, now[len(now)-1])
		for _, d := range doubts {
			add(d)
		}
		if why, change := further(own, a, now); why != "" && len(doubts) == 0 {
			add(Doubt{Assertion: &a, Cases: []string{of.Key}, Why: why, Change: change})
		}
	}
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
			look(c, c, a)
		}
	}
	for _, a := range p.Assertions {
		if len(a.Cases) > 0 && p.keyed()[a.Cases[0]] != nil {
			look(nil, p.keyed()[a.Cases[0]], a)
		}
	}
	return all
}

// keyed are the cases by key.
func (p *Plan) keyed() map[string]*Case {
	if len(p.byKey) != len(p.Cases) {
		p.byKey = make(map[string]*Case, len(p.Cases))
		for _, c := range p.Cases {
			p.byKey[c.Key] = c
		}
	}
	return p.byKey
}

// undecidable says why metrics of an assertion, of a case or over several, will decide nothing after so many
// launches. Trends ask for no number of samples.
func (p *Plan) undecidable(own *Case, a assertion.Assertion, launches int) (all []Doubt) {
	if a.Trend != nil {
		return nil
	}
	a.Takes(func(metric, key string) {
		c := own
		if key != "" {
			c = p.keyed()[key]
		}
		if c == nil || c.Status != Planned ||
			slices.ContainsFunc(all, func(d Doubt) bool { return d.metric == metric && d.Cases[0] == c.Key }) {
			return
		}
		if why, change := c.undecidable(metric, launches); why != "" {
			all = append(all, Doubt{&a, []string{c.Key}, why, change, metric})
		}
	})
	return all
}

func (c *Case) undecidable(metric string, launches int) (why, change string) {
	k, ok := workload.Lookup(c.Workload)
	if !ok || len(c.Options.DeferredNames()) > 0 {
		return "", ""
	}
	if m, ok := workload.FindMetric(k.Metrics, metric); ok {
		n := k.SamplesOf(m, c.Options, make([]workload.MetricValues, launches))
		if why := k.FewSamples(m, n); why != "" {
			return why, k.MoreSamples(m, c.Options, n, launches, launches)
		}
	}
	if k.Undecidable != nil {
		why = k.Undecidable(c.Options, workload.MetricValues{}, metric)
	}
	return why, ""
}
