package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/executor/event"
	"weir/gate"
	"weir/planner"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// tally follows the events: which case of which launch, and how much is done. Its
// unit is one case in one launch.
type tally struct {
	points   map[string]string // by case key, as a person reads it
	group    map[string]*groupTally
	of       map[string]*groupTally // by case key
	launch   int
	launches int
	cases    int    // of the launch under way
	finished int    // of them
	current  string // case key
	phase    string
	rate     float64

	plan     map[string]*planner.Case
	metrics  *workload.Definitions
	measured map[string]*results.Case // what the launches of this session measured
	verdicts map[[2]string]results.Verdict
	resumed  int      // units that took no time of this session
	starting []string // services that are not ready yet
}

// groupTally counts the units of a launch group, and its launches, as a plan does.
type groupTally struct {
	done, ahead  int
	made, toMake int // launches
	cases        int // that are not skipped before the first launch
	firstLook    int
	started      bool
}

func newTally(p *planner.Plan) *tally {
	t := &tally{
		points: map[string]string{}, group: map[string]*groupTally{}, of: map[string]*groupTally{},
		plan: map[string]*planner.Case{}, metrics: workload.NewDefinitions(p.Metrics()),
		measured: map[string]*results.Case{}, verdicts: map[[2]string]results.Verdict{},
	}
	for _, c := range p.Cases {
		t.plan[c.Key] = c
		parts := []string{c.Run}
		for _, name := range c.AxisOrder {
			parts = append(parts, name+"="+workload.Text(c.Axes[name]))
		}
		t.points[c.Key] = strings.Join(parts, " ")
	}
	for _, g := range p.Groups {
		if len(g.During) > 0 {
			continue // background load
		}
		n := &groupTally{firstLook: g.Looks[0]}
		n.cases, n.toMake = len(g.Cases), n.firstLook
		n.ahead = n.cases * n.firstLook
		t.group[g.ID] = n
		for _, key := range g.Cases {
			t.of[key] = n
		}
	}
	return t
}

func (t *tally) See(e event.Event) {
	if e.Background {
		return // the launch beside which it runs is what counts
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
		g.toMake = e.Launches - *e.Launch // sure to come until the next look
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
				Index: len(c.Launches), Status: results.OK, Metrics: e.Metrics, Void: e.Void,
			})
		}
	case event.VerdictReached:
		t.verdicts[[2]string{e.Case, e.Assertion}] = e.Verdict
	case event.CaseFinished:
		t.finished++
		g.done++
		g.ahead--
	case event.LaunchFinished: // one that failed did not come to all its cases
		g.done += t.cases - t.finished
		g.ahead -= t.cases - t.finished
		g.made, g.toMake = g.made+1, max(0, g.toMake-1)
	case event.CaseSkipped:
		if n := t.of[e.Case]; n != nil && !n.started {
			n.ahead -= n.firstLook
			if n.cases--; n.cases == 0 {
				n.toMake = 0
			}
		}
	}
}

// complete says whether a case has come to its first look.
func (t *tally) complete(key string) bool {
	g, c := t.of[key], t.measured[key]
	return g != nil && c != nil && len(c.Launches)-c.Voids() >= g.firstLook
}

// done and total are in units; more may be asked for at the next look.
func (t *tally) done() (n int) {
	for _, g := range t.group {
		n += g.done
	}
	return n
}

func (t *tally) total() (n int) {
	for _, g := range t.group {
		n += g.done + g.ahead
	}
	return n
}

// launchesMade are how many launches were made, and how many there will be.
func (t *tally) launchesMade() (made, all int) {
	for _, g := range t.group {
		made, all = made+g.made, all+g.made+g.toMake
	}
	return made, all
}

// estimate says what the case under way has shown until now, and what was promised of it: of
// its first assertion with a number, "" if it has none.
func (t *tally) estimate() string {
	c := t.plan[t.current]
	if c == nil {
		return ""
	}
	for _, a := range c.Assertions {
		if a.Subject == nil {
			continue
		}
		so := "nothing measured yet"
		if m := t.measured[c.Key]; m != nil {
			o, ok := gate.SoFar(t.metrics, m, &a)
			if !ok {
				continue // it is about more than this case
			}
			so = o.String()
		}
		return so + "; promised " + a.Lowered
	}
	if m := t.measured[c.Key]; m != nil {
		return t.brief(c.Key, m.Launches[len(m.Launches)-1].Metrics) + " in the last launch"
	}
	return ""
}

// standing counts the cases that were measured, and the verdicts until now, worst first.
func (t *tally) standing() string {
	cases := 0
	for key := range t.measured {
		if t.of[key] != nil { // background load is none
			cases++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d cases", cases, len(t.of))}
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

// left is how long the session goes on if what is sure to come takes as long as what was
// done; ok is false before anything was.
func (t *tally) left(elapsed time.Duration) (left time.Duration, ok bool) {
	done := t.done() - t.resumed
	if done <= 0 {
		return 0, false
	}
	return time.Duration(float64(elapsed) / float64(done) * float64(t.total()-t.done())), true
}

// line says where the session is.
func (t *tally) line() string {
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

// mostBrief is how many metrics are shown of a workload that does not say which.
const mostBrief = 3

// brief is a case's result in a launch, in short.
func (t *tally) brief(key string, measured results.MetricValues) string {
	c := t.plan[key]
	if c == nil {
		return ""
	}
	table := t.metrics.Of(c.Workload, c.Run)
	var names []string
	if k, ok := workload.Lookup(c.Workload); ok && table.Run == "" {
		names = k.Brief
	}
	if names == nil {
		for _, m := range table.Definitions[:min(len(table.Definitions), mostBrief)] {
			names = append(names, m.Name)
		}
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
			said := name
			if m.Quantile != "" && len(families) == 1 {
				said = m.Quantile
			}
			parts = append(parts, said+" "+quantity.Format(v, m.Unit))
		}
	}
	return strings.Join(parts, ", ")
}
