package main

import (
	"fmt"
	"io"
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

// progress shows a person how far a session is.
type progress interface {
	see(event.Event)
	close()
}

// newProgress chooses how: a few lines that are drawn over on a terminal, a plain line for each
// measured case elsewhere, nothing if nothing is wanted.
func newProgress(w io.Writer, p *planner.Plan, style styleFlags) progress {
	switch {
	case style.quiet:
		return silent{}
	case isTerminal(w):
		return newLive(w, p)
	}
	return &plainLines{w: w, tally: newTally(p)}
}

type silent struct{}

func (silent) see(event.Event) {}
func (silent) close()          {}

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

// groupTally counts the units of a launch group.
type groupTally struct {
	done, ahead int
	firstLook   int
	started     bool
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
		n.ahead = len(g.Cases) * n.firstLook
		t.group[g.ID] = n
		for _, key := range g.Cases {
			t.of[key] = n
		}
	}
	return t
}

func (t *tally) see(e event.Event) {
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
	case event.ServiceStarted:
		t.starting = append(t.starting, e.Service)
	case event.ServiceReady, event.ServiceEnded:
		t.starting = slices.DeleteFunc(t.starting, func(name string) bool { return name == e.Service })
	case event.LaunchStarted:
		t.launch, t.launches, t.cases, t.finished = *e.Launch+1, e.Launches, e.Cases, 0
		t.current, t.phase, t.rate = "", "", 0
		g.started = true
		g.ahead = e.Cases * (e.Launches - *e.Launch) // sure to come until the next look
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
			c.Launches = append(c.Launches, &results.Launch{Index: len(c.Launches), Status: results.OK, Metrics: e.Metrics})
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
	case event.CaseSkipped:
		if n := t.of[e.Case]; n != nil && !n.started {
			n.ahead -= n.firstLook
		}
	}
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
	for _, v := range []results.Verdict{results.Fail, results.XPass, results.ErrorVerdict, results.InconclusiveVerdict, results.WarnVerdict, results.XFail, results.Pass} {
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

// plainLines is for logs: no control codes, one line for each measured case.
type plainLines struct {
	w       io.Writer
	tally   *tally
	mishaps mishaps
}

func (p *plainLines) see(e event.Event) {
	p.tally.see(e)
	switch e.Type {
	case event.CaseMeasured:
		if e.Failure == nil && !e.Background { // else the launch says so
			fmt.Fprintf(p.w, "%s launch %d/%d: %s\n", e.Case, p.tally.launch, p.tally.launches, p.tally.brief(e.Case, e.Metrics))
		}
	default:
		if text := p.mishaps.text(e); text != "" {
			fmt.Fprintln(p.w, text)
		}
	}
}

func (p *plainLines) close() {}

// mishaps are what a person must hear of when it happens. That cases are not run is told
// with what comes after it: where that is the end of the session, its reason says it.
type mishaps struct {
	told map[string]bool // reasons and services
	held string          // a line to be told next
}

// first says whether something is told for the first time.
func (m *mishaps) first(what string) bool {
	if m.told == nil {
		m.told = map[string]bool{}
	}
	told := m.told[what]
	m.told[what] = true
	return !told
}

// text is what to say of an event, "" if nothing. Cases that are left out for
// one reason are many: the reason is told once, with the first of them.
func (m *mishaps) text(e event.Event) string {
	text := m.line(e)
	switch {
	case e.Type == event.CaseSkipped && strings.HasPrefix(e.Reason, results.NotRun+": "):
		if m.held == "" || text == "" {
			m.held += text
			return ""
		}
		m.held, text = text, m.held
	case e.Type == event.SessionFinished:
		m.held = ""
	case m.held != "":
		text = strings.TrimSuffix(m.held+"\n"+text, "\n")
		m.held = ""
	}
	return text
}

func (m *mishaps) line(e event.Event) string {
	switch {
	case e.Type == event.RequireMissing:
		return "missing: " + e.Reason
	case e.Type == event.CaseSkipped:
		if !m.first(e.Reason) {
			return ""
		}
		return fmt.Sprintf("%s from %s on: %s", e.Status, e.Case, e.Reason)
	case e.Type == event.EnvIgnored, e.Type == event.NodeChanged:
		return "warning: " + e.Reason
	case e.Type == event.NodeLost:
		return fmt.Sprintf("warning: node %s is lost: %s", e.Node, e.Reason)
	case e.Type == event.CheckDone && e.Status != results.OK:
		return fmt.Sprintf("check %q on %s failed: %s", e.Check, e.Node, e.Reason)
	case e.Type == event.CommandDone && e.Status != results.OK:
		return fmt.Sprintf("%s %q on %s failed: %s", e.Stage, e.Command, e.Node, e.Reason)
	case e.Type == event.ServiceStarted && m.first("service "+e.Service):
		return fmt.Sprintf("service %s starts on %s", e.Service, e.Node)
	case e.Type == event.ServiceEnded && e.Status != results.OK && e.Failure != nil:
		return fmt.Sprintf("service %s on %s failed: %s", e.Service, e.Node, e.Failure.Cause)
	case e.Type == event.ArtifactKept && e.Status != results.OK:
		return fmt.Sprintf("artifact %q of %s is %s: %s", e.Artifact, e.Node, e.Status, e.Reason)
	case e.Type == event.LaunchFinished && e.Failure != nil:
		return fmt.Sprintf("launch %d of %s failed: %s", *e.Launch, e.Group, e.Failure)
	}
	return ""
}
