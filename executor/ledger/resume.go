package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"weir/executor/event"
	"weir/planner"
	"weir/results"
)

// ErrStale says that a plan is not the one that a session was made with.
var ErrStale = errors.New("the plan is not that of the session")

// former is what the sessions before this one have done. A resumed session goes
// through its schedule from the beginning; a launch that is in here is taken over
// instead of being made, so whatever follows from the launches follows again.
type former struct {
	sessions   []*SessionRecord
	launches   map[launchID]*LaunchRecord
	decided    map[CaseRecord]bool
	failedRuns map[string]string // by run: why its setup failed
	checks     []results.Check
	commands   []results.Command
	services   []results.Service
	artifacts  []results.Artifact
}

type launchID struct {
	group string
	index int
}

// readPast reads the records of a journal, which may end anywhere.
func readPast(records []Record, p *planner.Plan) (*former, error) {
	f := &former{
		launches: map[launchID]*LaunchRecord{}, decided: map[CaseRecord]bool{}, failedRuns: map[string]string{},
	}
	for i, r := range records {
		switch {
		case r.Session != nil:
			if r.Session.PlanDigest != p.Digest {
				return nil, Refuse(ExitStale, "%w: that one has digest %s, this one %s", ErrStale, r.Session.PlanDigest,
					p.Digest)
			}
			f.sessions = append(f.sessions, r.Session)
		case r.Check != nil:
			f.checks = append(f.checks, *r.Check)
		case r.Command != nil:
			f.commands = append(f.commands, *r.Command)
		case r.Service != nil:
			f.services = append(f.services, *r.Service)
		case len(r.Artifacts) > 0:
			f.artifacts = withArtifacts(f.artifacts, r.Artifacts)
		case r.Launch != nil:
			if err := r.Launch.check(p); err != nil {
				return nil, Refuse(ExitUsage, "journal, record %d: %w", i+1, err)
			}
			f.launches[launchID{r.Launch.Group, r.Launch.Index}] = r.Launch
		case r.Case != nil:
			c := p.Case(r.Case.Key)
			if c == nil {
				return nil, Refuse(ExitUsage, "journal, record %d: the plan has no case %s", i+1, r.Case.Key)
			}
			f.decided[*r.Case] = true
			if r.Case.Kind == results.FailedSetup {
				f.failedRuns[c.Run] = r.Case.Reason
			}
		}
	}
	return f, nil
}

// check refuses a record that cannot have come from the plan.
func (r *LaunchRecord) check(p *planner.Plan) error {
	i := slices.IndexFunc(p.Groups, func(g *planner.LaunchGroup) bool { return g.ID == r.Group })
	if i < 0 {
		return fmt.Errorf("the plan has no launch group %s", r.Group)
	}
	name := results.LaunchName(r.Index)
	for _, c := range r.Cases {
		if c.Launch == nil || c.Launch.Index != r.Index || !slices.Contains(p.Groups[i].Cases, c.Key) {
			return fmt.Errorf("%s of %s does not hold together at case %s", name, r.Group, c.Key)
		}
		if c.Launch.Status != results.OK && c.Launch.Failure == nil {
			return fmt.Errorf("%s of %s failed at case %s and does not say why", name, r.Group, c.Key)
		}
	}
	for _, b := range r.Background {
		if b == nil {
			return fmt.Errorf("%s of %s has an empty record of its background load", name, r.Group)
		}
		if err := b.check(p); err != nil {
			return err
		}
	}
	return nil
}

// Admits refuses the session if its document is one in whose environment, or by whose definitions, numbers
// would not compare with those that the former sessions measured.
func (l *Ledger) Admits() error {
	f, now := l.former, l.Doc
	older := func(s *SessionRecord) bool { return s.Quantiles == nil }
	if len(f.launches) > 0 && slices.ContainsFunc(f.sessions, older) {
		return Refuse(ExitStale, "a weir version that defines quantiles differently (%s) measured the session, so its numbers and new ones would not compare: run it again",
			results.DefinitionText(results.RoundedRankRule))
	}
	if len(f.sessions) == 0 || f.sessions[0].Environment.Fingerprint == now.Environment.Fingerprint {
		return nil
	}
	before := f.sessions[0].Environment
	diff := append(shellDiffers(before.Variables, now.Environment.Variables),
		differences(before.Nodes, now.Environment.Nodes)...)
	return Refuse(ExitStale, "the session was measured in another environment, so its numbers and new ones would not compare: %s",
		strings.Join(diff, "; "))
}

// shellDiffers says which carried variables of the shell differ.
func shellDiffers(before, now map[string]string) (all []string) {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, now)
	set := func(variables map[string]string, name string) string {
		if value, ok := variables[name]; ok {
			return strconv.Quote(value)
		}
		return "not set"
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := set(before, name), set(now, name); was != is {
			all = append(all, fmt.Sprintf("%s of the shell was %s and is %s", name, was, is))
		}
	}
	return all
}

// differences says in which parts the nodes' fingerprints differ.
func differences(before, now []results.Node) []string {
	if len(before) != len(now) {
		return []string{fmt.Sprintf("it had %d nodes, now there are %d", len(before), len(now))}
	}
	var all []string
	for i := range now {
		b, n := reflect.ValueOf(essence(before[i])), reflect.ValueOf(essence(now[i]))
		for f := range b.NumField() {
			was, is := text(b.Field(f).Interface()), text(n.Field(f).Interface())
			if was != is {
				all = append(all, fmt.Sprintf("%s of node %s was %s and is %s", b.Type().Field(f).Name, now[i].Name,
					was, is))
			}
		}
	}
	return all
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // parts of a node are strings and whole numbers
	}
	return string(b)
}

// TakeOver puts a launch that a former session made into the document, and says whether there
// is one and on which nodes it was, by rank.
func (l *Ledger) TakeOver(g *Group, index int) (nodes []string, ok bool) {
	id := launchID{g.ID, index}
	r := l.former.launches[id]
	delete(l.former.launches, id)
	if r == nil || len(r.Cases) == 0 {
		return nil, false
	}
	for _, part := range append([]*LaunchRecord{r}, r.Background...) {
		for _, c := range part.Cases {
			c.Launch.Resumed = true
			l.Enter(c.Key, c.Launch)
		}
	}
	l.Events.Emit(event.Event{Type: event.LaunchResumed, Group: g.ID, Launch: &index, Cases: len(r.Cases)})
	return r.Cases[0].Launch.Nodes, true
}

// recordCase appends to the journal that a case was decided, unless it says so
// already.
func (l *Ledger) recordCase(c CaseRecord) error {
	if l.former.decided[c] {
		return nil
	}
	return l.Record(Record{Case: &c})
}
