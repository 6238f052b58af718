// Package ledger keeps the results and decisions of a session: the result document, the journal for resuming
// it, and what follows from them, such as the cases of the next launch. It knows neither nodes nor processes.
package ledger

import (
	"cmp"
	"os"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Options are the options of a session that the ledger needs.
type Options struct {
	Dir       string // the session directory
	Resume    bool   // continue the session in Dir; otherwise Dir must not have one
	SessionID string
	Argv      []string
	Again     []string // a command that repeats the session, for reports
	Version   results.Version
	Site      *results.Site // nil: none was used

	Launches int  // of each case; 0: as the plan says
	FailFast bool // end the session at the first error or failed gate

	// Baseline is the session that assertions compare with, read from BaselineFile. A resumed session keeps its own.
	Baseline     *results.Document
	BaselineFile string
	// BaselineSessions is how the sessions vary that are kept beside the baseline.
	BaselineSessions []results.CaseNoise
	// Noise are the variances of metrics in earlier sessions.
	Noise []results.CaseNoise
	// Inconclusive is the policy for inconclusive assertions; where it says nothing, the plan's applies.
	Inconclusive assertion.Inconclusive
	// OpenBefore counts the consecutive earlier sessions with this assertion inconclusive; nil: not known.
	OpenBefore func(caseKey string, a assertion.Assertion) int
	// SkipMissing skips assertions about what the baseline lacks.
	SkipMissing bool

	// Judge computes estimates and verdicts from the launches so far, and Undecided then names the cases that
	// need more launches. Without them every case has the launches of its first analysis.
	Judge     func(*results.Document)
	Undecided func(*results.Document) []string
	// Events receives events, one at a time.
	Events func(event.Event)
}

// Exit codes of sessions that the gate does not judge.
const (
	ExitUsage = 4
	ExitError = 6
	ExitStale = 7
)

// Ledger is the ledger of one session, for use by one goroutine.
type Ledger struct {
	Plan   *planner.Plan
	Doc    *results.Document
	Groups []*Group
	Events event.Stream
	Err    error // the first error of the journal: the session must end

	TeardownFailures []string // descriptions

	o         Options
	index     caseIndex
	past      *pastSessions // resumed by this one; empty: none
	journal   *os.File
	verdicts  map[*results.AssertionVerdict]results.Verdict // as last emitted
	undecided map[string]bool                               // keys of cases, from the last analysis
	rounds    map[string]int                                // so far, by run
	ended     map[string]time.Time                          // time of the last evaluation in this session, by case
	told      map[string]bool                               // cases with an end that was emitted
	// directory names, by case key and by group id
	caseDirs, groupDirs map[string]string
}

// New returns the ledger of a new session.
func New(p *planner.Plan, o Options) *Ledger {
	clock := steady.New(time.Time{})
	l := &Ledger{
		Plan: p, Doc: newDocument(p, o, clock.Now()), Groups: groupsOf(p, o),
		Events: event.Stream{Clock: clock, OnEvent: o.Events},
		o:      o, past: &pastSessions{}, verdicts: map[*results.AssertionVerdict]results.Verdict{},
		undecided: map[string]bool{}, rounds: map[string]int{}, ended: map[string]time.Time{},
		told: map[string]bool{},
	}
	l.index = l.newIndex()
	var keys, groups []string
	for _, c := range p.Cases {
		keys = append(keys, c.Key)
	}
	for _, g := range p.Groups {
		groups = append(groups, g.ID)
	}
	l.caseDirs, l.groupDirs = DirNames(keys), DirNames(groups)
	return l
}

// At returns the time of day of the session at a time that this process has read. All times of day in journal, events
// and document are of one clock, so a clock of the host that is set changes neither their order nor their distances.
func (l *Ledger) At(t time.Time) time.Time { return l.Events.Clock.At(t) }

// CaseDir is the name of a case's directory.
func (l *Ledger) CaseDir(key string) string { return l.caseDirs[key] }

// GroupDir is the name of a group's directory.
func (l *Ledger) GroupDir(id string) string { return l.groupDirs[id] }

// FailedSetup is why the setup of a run failed in the resumed session.
func (l *Ledger) FailedSetup(run string) (reason string, failed bool) {
	reason, failed = l.past.failedRuns[run]
	return reason, failed
}

// PastServices is the number of service starts of the resumed session.
func (l *Ledger) PastServices() int { return len(l.past.services) }

// PastCommands is the number of commands of the resumed session.
func (l *Ledger) PastCommands() int { return len(l.past.commands) }

// NoteEvaluated records the time at which a case's launch was evaluated, for RetryDelay.
func (l *Ledger) NoteEvaluated(key string, at time.Time) { l.ended[key] = at }

// PastSessions are the ids of the resumed sessions.
func (l *Ledger) PastSessions() []string {
	var ids []string
	for _, s := range l.past.sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// caseIndex has maps of the plan and the document, which do not change during a session: with ten thousand cases,
// linear searches would take longer than launches.
type caseIndex struct {
	cases           map[string]*results.Case
	planned         map[string]*planner.Case
	groups          map[string]*Group
	runs            map[string]*planner.Run
	failuresCounted map[string]bool          // by case key: an assertion counts failed launches
	compared        map[string]*comparedRuns // by run
}

func (l *Ledger) newIndex() caseIndex {
	x := caseIndex{
		cases:   make(map[string]*results.Case, len(l.Doc.Cases)),
		planned: make(map[string]*planner.Case, len(l.Plan.Cases)),
		groups:  map[string]*Group{}, runs: map[string]*planner.Run{},
	}
	for _, c := range l.Doc.Cases {
		x.cases[c.Key] = c
	}
	for _, c := range l.Plan.Cases {
		x.planned[c.Key] = c
	}
	for _, g := range l.Groups {
		x.groups[g.ID] = g
	}
	for _, r := range l.Plan.Runs {
		x.runs[r.Name] = r
	}
	x.findCounted(l.Doc)
	x.compared = findCompared(l.Plan, l.Groups)
	return x
}

func (x *caseIndex) findCounted(d *results.Document) {
	x.failuresCounted = map[string]bool{}
	add := func(own string, list []*results.AssertionVerdict) {
		for _, a := range list {
			for _, key := range a.About(workload.Availability.Name) {
				x.failuresCounted[cmp.Or(key, own)] = true
			}
		}
	}
	for _, c := range d.Cases {
		add(c.Key, c.Assertions)
	}
	add("", d.Assertions)
}

// Case is the case of the document with this key; nil: there is none.
func (l *Ledger) Case(key string) *results.Case { return l.index.cases[key] }

func (l *Ledger) planned(key string) *planner.Case { return l.index.planned[key] }

func (l *Ledger) group(id string) *Group { return l.index.groups[id] }

// Run is a run of the plan; a run without settings has no entry there.
func (l *Ledger) Run(name string) *planner.Run {
	if r := l.index.runs[name]; r != nil {
		return r
	}
	return &planner.Run{Name: name}
}
