// Package ledger keeps what a session has measured and decided: the result document, the
// journal that it can be resumed from, and what follows from both, such as which cases the
// next launch runs. It knows neither nodes nor processes.
package ledger

import (
	"os"
	"time"

	"weir/assertion"
	"weir/executor/event"
	"weir/planner"
	"weir/results"
)

// Options are those of a session that the ledger needs.
type Options struct {
	Dir       string // the session directory
	Resume    bool   // go on with the session that Dir holds; otherwise it must not hold one
	SessionID string
	Argv      []string
	Again     []string // a command that runs the whole again, for reports
	Version   results.Version
	Site      *results.Site // nil: none was used

	Launches int  // exactly so many for each case; 0: as the plan says
	FailFast bool // end the session at the first error or failed gate

	// Baseline is what assertions that mention it are held against, and BaselineFile
	// where it was read. A resumed session has the one that it began with.
	Baseline     *results.Document
	BaselineFile string
	// Noise is what earlier sessions say of how the metrics of cases vary.
	Noise []results.CaseNoise
	// Inconclusive is what becomes of gates that stay open; what it leaves open is as the plan says.
	Inconclusive assertion.Inconclusive
	// OpenBefore counts the sessions in a row before this one that left an assertion open; nil: not known.
	OpenBefore func(caseKey string, a assertion.Assertion) int
	// SkipMissing says that assertions are skipped that mention what the baseline lacks.
	SkipMissing bool

	// Judge fills in estimates and verdicts from the launches so far, and Undecided
	// then names the cases to which more launches could make a difference. Without
	// them nothing is judged and every case has the launches of its first look.
	Judge     func(*results.Document)
	Undecided func(*results.Document) []string
	// Events hears of everything as it happens, one event at a time.
	Events func(event.Event)
}

// Exit codes that the gate cannot give, because they say how the session ended and not what
// it measured; and the one of a session that no gate judges.
const (
	ExitUsage = 4
	ExitError = 6
	ExitStale = 7
)

// Ledger is that of one session. It is used by one goroutine.
type Ledger struct {
	Plan   *planner.Plan
	Doc    *results.Document
	Groups []*Group
	Events event.Stream
	Err    error // the first of writing the journal: the session must end

	// TeardownFailures say what of teardown failed.
	TeardownFailures []string

	o         Options
	find      index
	former    *former // of the session that this one goes on with; empty without one
	journal   *os.File
	verdicts  map[*results.AssertionVerdict]results.Verdict // as last told
	undecided map[string]bool                               // cases, as the gate last said
	rounds    map[string]int                                // so far, by run
	ended     map[string]time.Time                          // when cases' last launches of this session were evaluated
	// folder names, by case key and by group id
	caseDirs, groupDirs map[string]string
}

// New is the ledger of a session that has not begun.
func New(p *planner.Plan, o Options) *Ledger {
	l := &Ledger{
		Plan: p, Doc: newDocument(p, o), Groups: groupsOf(p, o), Events: event.Stream{Hear: o.Events},
		o: o, former: &former{}, verdicts: map[*results.AssertionVerdict]results.Verdict{},
		undecided: map[string]bool{}, rounds: map[string]int{}, ended: map[string]time.Time{},
	}
	l.find = l.newIndex()
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

// CaseDir is the name of a case's folder.
func (l *Ledger) CaseDir(key string) string { return l.caseDirs[key] }

// GroupDir is the name of a group's folder.
func (l *Ledger) GroupDir(id string) string { return l.groupDirs[id] }

// FailedSetup is why the setup of a run failed in the session that this one goes on with.
func (l *Ledger) FailedSetup(run string) (reason string, failed bool) {
	reason, failed = l.former.failedRuns[run]
	return reason, failed
}

// FormerServices are how many starts of services the session made that this one goes on with.
func (l *Ledger) FormerServices() int { return len(l.former.services) }

// FormerCommands are how many commands the session ran that this one goes on with.
func (l *Ledger) FormerCommands() int { return len(l.former.commands) }

// Evaluated takes note of when a case's launch was evaluated.
func (l *Ledger) Evaluated(key string, at time.Time) { l.ended[key] = at }

// Counts says whether an assertion counts the failed launches of a case.
func (l *Ledger) Counts(key string) bool { return l.find.lossy[key] }

// FormerSessions are the ids of the sessions that this one goes on with.
func (l *Ledger) FormerSessions() []string {
	var ids []string
	for _, s := range l.former.sessions {
		ids = append(ids, s.ID)
	}
	return ids
}
