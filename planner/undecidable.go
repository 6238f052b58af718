// Assertions that no measurement will decide.

package planner

import (
	"slices"

	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Doubt is the reason why an assertion will be inconclusive for any measured values, as far as the
// plan shows.
type Doubt struct {
	Assertion *assertion.Assertion
	Cases     []string // that it applies to
	Why       string
	Change    string // the setting to change, as "requests: 1000"; "" if unknown
	metric    string
}

// OfLaunches reports whether the number of launches is too small, not the number of samples of a
// metric.
func (d *Doubt) OfLaunches() bool { return d.metric == "" }

// Doubts returns the doubts of all assertions, without repeating a reason for an assertion of the
// scenario. further returns a reason that the plan does not know, for an assertion of a case or
// over several; "" if there is none.
func (p *Plan) Doubts(further func(own *Case, a assertion.Assertion, looks []int) (why, change string)) (all []*Doubt) {
	type cause struct {
		file   string
		line   int
		text   string
		metric string
	}
	seen := map[cause]*Doubt{}
	add := func(d Doubt) {
		k := cause{d.Assertion.File, d.Assertion.Line, d.Assertion.Text, d.metric}
		if first := seen[k]; first != nil {
			first.Cases = append(first.Cases, d.Cases...)
			return
		}
		seen[k] = &d
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

// keyed returns the cases by key.
func (p *Plan) keyed() map[string]*Case {
	if len(p.byKey) != len(p.Cases) {
		p.byKey = make(map[string]*Case, len(p.Cases))
		for _, c := range p.Cases {
			p.byKey[c.Key] = c
		}
	}
	return p.byKey
}

// undecidable returns why metrics of an assertion cannot be decided after a number of launches.
// Trends need no minimum of samples.
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
		of := launches
		if a.Subject != nil && len(a.Subject.Metrics()) > 1 {
			of = 1 // the quantile of each launch is compared with its other metrics
		}
		if why, change := c.undecidable(metric, of, p.severalLooks(c.Run)); why != "" {
			all = append(all, Doubt{&a, []string{c.Key}, why, change, metric})
		}
	})
	return all
}

// severalLooks reports whether the gate looks more than once at the cases of a run.
func (p *Plan) severalLooks(run string) bool {
	if p.looksOf == nil {
		p.looksOf = map[string]int{}
		for _, g := range p.Groups {
			p.looksOf[g.Run] = max(p.looksOf[g.Run], len(g.Looks))
		}
	}
	return p.looksOf[run] > 1
}

func (c *Case) undecidable(metric string, launches int, several bool) (why, change string) {
	k, ok := workload.Lookup(c.Workload)
	if !ok || len(c.Options.DeferredNames()) > 0 {
		return "", ""
	}
	if m, ok := workload.FindMetric(k.Metrics, metric); ok {
		n := k.SamplesOf(m, c.Options, make([]workload.MetricValues, launches))
		if why := k.FewSamples(m, n, several); why != "" {
			return why, k.MoreSamples(m, c.Options, n, launches, launches)
		}
	}
	if u, ok := k.Behaviour.(workload.AlwaysInconclusive); ok {
		why = u.Undecidable(c.Options, workload.MetricValues{}, metric)
	}
	return why, ""
}
