package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// progressState derives the state of a session from its events. It counts units of one case in one launch.
type progressState struct {
	points   map[string]string // readable names by case key
	group    map[string]*groupTally
	of       map[string]*groupTally // by case key
	launch   int
	launches int
	cases    int    // of the current launch
	finished int    // of them
	current  string // case key
	phase    string
	rate     float64

	plan                    map[string]*planner.Case
	metrics                 *workload.Definitions
	measured                map[string]*results.Case   // the measurements of this session
	ends                    map[string]results.Verdict // of cases that ended, apart from their assertions
	skipped                 map[string]bool            // cases that are not run
	verdicts                map[[2]string]results.Verdict
	discarded, measurements int // launches of cases
	lastDiscard             string
	resumed                 int      // units of the earlier part of a resumed session
	starting                []string // services that are not ready yet
}

func newProgressState(p *planner.Plan) *progressState {
	t := &progressState{
		points: map[string]string{}, group: map[string]*groupTally{}, of: map[string]*groupTally{},
		plan: map[string]*planner.Case{}, metrics: workload.NewDefinitions(p.Metrics()),
		measured: map[string]*results.Case{}, verdicts: map[[2]string]results.Verdict{},
		ends: map[string]results.Verdict{}, skipped: map[string]bool{},
	}
	for _, c := range p.Cases {
		t.plan[c.Key] = c
		parts := []string{c.Run}
		for _, name := range c.AxisOrder {
			parts = append(parts, name+"="+option.Text(c.Axes[name]))
		}
		t.points[c.Key] = strings.Join(parts, " ")
	}
	for _, g := range p.Groups {
		if len(g.During) > 0 {
			continue // background load
		}
		n := &groupTally{looks: g.Looks}
		n.cases, n.toMake = len(g.Cases), n.looks[0]
		n.ahead = n.cases * n.looks[0]
		t.group[g.ID] = n
		for _, key := range g.Cases {
			t.of[key] = n
			if c := t.plan[key]; c != nil && slices.ContainsFunc(c.Assertions, assertion.Assertion.MayAskLaunches) {
				n.asserted = true
			}
		}
	}
	for _, a := range p.Assertions {
		for _, key := range a.Cases {
			if g := t.of[key]; g != nil && a.MayAskLaunches() {
				g.asserted = true
			}
		}
	}
	return t
}

func (t *progressState) OnEvent(e event.Event) {
	if e.Background {
		return // only the foreground launch counts
	}
	g := t.group[e.Group]
	switch e.Type {
	case event.LaunchResumed:
		g.started = true
		t.resumed += e.Cases
		g.done += e.Cases
		g.ahead = max(0, g.ahead-e.Cases)
		g.made, g.toMake = g.made+1, max(0, g.toMake-1)
	case event.ServiceStarted:
		t.starting = append(t.starting, e.Service)
	case event.ServiceReady, event.ServiceEnded:
		t.starting = slices.DeleteFunc(t.starting, func(name string) bool { return name == e.Service })
	case event.LaunchStarted:
		t.launch, t.launches, t.cases, t.finished = *e.Launch+1, e.Launches, e.Cases, 0
		t.current, t.phase, t.rate = "", "", 0
		g.started = true
		g.toMake = e.Launches - *e.Launch // until the next look
		g.ahead = e.Cases * g.toMake
	case event.CaseStarted, event.CaseProgress:
		t.current, t.phase = e.Case, e.Phase
		if e.Rate > 0 {
			t.rate = e.Rate
		}
	case event.CaseMeasured:
		if e.Failure == nil {
			c := t.measured[e.Case]
			if c == nil {
				c = &results.Case{Key: e.Case}
				t.measured[e.Case] = c
			}
			c.Launches = append(c.Launches, &results.Launch{
				Index: len(c.Launches), Status: results.OK, Metrics: e.Metrics, Discarded: e.Discarded,
			})
		}
		t.measurements++
		if e.Discarded != "" {
			t.discarded++
			t.lastDiscard = e.Discarded
		}
	case event.CaseEnded:
		t.ends[e.Case] = e.Verdict
		if e.Measured != nil {
			t.measured[e.Case] = e.Measured
		}
	case event.VerdictReached:
		t.verdicts[[2]string{e.Case, e.Assertion}] = e.Verdict
	case event.CaseFinished:
		t.finished++
		g.done++
		g.ahead--
	case event.LaunchFinished: // a failed launch has not run all its cases
		g.done += t.cases - t.finished
		g.ahead -= t.cases - t.finished
		g.made, g.toMake = g.made+1, max(0, g.toMake-1)
	case event.CaseSkipped:
		t.skipped[e.Case] = true
		if n := t.of[e.Case]; n != nil && !n.started {
			n.ahead -= n.looks[0]
			if n.cases--; n.cases == 0 {
				n.toMake = 0
			}
		}
	}
}

// verdictsOf are the verdicts so far of a case's assertions.
func (t *progressState) verdictsOf(c *planner.Case) (all []results.Verdict) {
	for _, a := range c.Assertions {
		if v := t.verdicts[[2]string{c.Key, a.Name}]; v != "" {
			all = append(all, v)
		}
	}
	return all
}

// discards says how many launches of cases were discarded so far, and why the last was; "": none.
func (t *progressState) discards() string {
	if t.discarded == 0 {
		return ""
	}
	return fmt.Sprintf("discarded: %d of %d launches of cases, the last because %s", t.discarded, t.measurements,
		printable.Text(t.lastDiscard))
}

// estimate is the current estimate for the first assertion with a number of the current case, or else
// the result of its last launch; "" if there is neither.
func (t *progressState) estimate() string {
	c := t.plan[t.current]
	if c == nil {
		return ""
	}
	for _, a := range c.Assertions {
		if a.Subject == nil {
			continue
		}
		now := "nothing measured yet"
		if m := t.measured[c.Key]; m != nil {
			o, ok := gate.SoFar(t.metrics, m, &a)
			if !ok {
				continue // it needs other cases too
			}
			now = o.String()
		}
		return now + "; asserted " + cmp.Or(a.Text, a.Lowered)
	}
	if m := t.measured[c.Key]; m != nil {
		return t.brief(c.Key, m.Launches[len(m.Launches)-1].Metrics) + " in the last launch"
	}
	return ""
}

// standing are the numbers of cases that ended and of the verdicts so far, worst first.
func (t *progressState) standing() string {
	ended, all := 0, 0
	for key := range t.of { // no background load
		_, is := t.ends[key]
		if is {
			ended++
		}
		if is || !t.skipped[key] {
			all++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d cases done", ended, all)}
	count := map[results.Verdict]int{}
	for _, v := range t.verdicts {
		count[v]++
	}
	for _, v := range []results.Verdict{
		results.Fail, results.XPass, results.ErrorVerdict, results.InconclusiveVerdict, results.WarnVerdict,
		results.XFail, results.Pass,
	} {
		if n := count[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// line describes the current step of the session.
func (t *progressState) line() string {
	if len(t.starting) > 0 {
		return "waiting until ready: service " + strings.Join(t.starting, ", ")
	}
	if t.current == "" {
		return "starting"
	}
	s := fmt.Sprintf("%s · launch %d/%d", t.points[t.current], t.launch, t.launches)
	if t.phase != "" && t.phase != "run" {
		s += " · " + t.phase
	}
	if t.rate > 0 {
		s += " · " + quantity.Digits(t.rate/1e9, 3) + " GB/s"
	}
	return s
}

// mostBrief is the number of metrics in brief for a workload without a list of its own.
const mostBrief = 3

// briefOf are the first metrics that the run of a case declares or asserts, else the first of its workload.
func briefOf(k *workload.Kind, table *results.MetricTable, c *planner.Case) (names []string) {
	for _, m := range table.Definitions {
		_, own := k.Metric(m.Name)
		if !own || slices.ContainsFunc(c.Assertions, func(a assertion.Assertion) bool {
			return a.Subject != nil && slices.Contains(a.Subject.Metrics(), m.Name)
		}) {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		names = table.Names()
	}
	return names[:min(len(names), mostBrief)]
}

// brief is a short text of a case's result in a launch.
func (t *progressState) brief(key string, measured results.MetricValues) string {
	c := t.plan[key]
	if c == nil {
		return ""
	}
	table := t.metrics.Of(c.Workload, c.Run)
	k, ok := workload.Lookup(c.Workload)
	if !ok {
		return ""
	}
	names := k.Show.Brief
	if names == nil || table.Run != "" {
		names = briefOf(k, table, c)
	}
	var parts []string
	families := map[string]bool{}
	for _, name := range names {
		if m, _ := workload.FindMetric(table.Definitions, name); m.Quantile != "" {
			families[m.Family()] = true
		}
	}
	for _, name := range names {
		m, _ := workload.FindMetric(table.Definitions, name)
		if v, ok := measured.Get(name); ok {
			if m.Quantile != "" && len(families) == 1 {
				name = m.Quantile
			}
			parts = append(parts, name+" "+quantity.Format(v, m.Unit))
		}
	}
	return strings.Join(parts, ", ")
}
