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

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// ErrStale is the error of a plan that differs from the plan of the session to resume.
var ErrStale = errors.New("the plan is not that of the session")

// pastSessions are the resumed sessions. A resumed session repeats its schedule from the beginning, but takes over the
// recorded launches instead of running them.
type pastSessions struct {
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

func readRecords(records []Record, p *planner.Plan) (*pastSessions, error) {
	f := &pastSessions{
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

func (r *LaunchRecord) check(p *planner.Plan) error {
	i := slices.IndexFunc(p.Groups, func(g *planner.LaunchGroup) bool { return g.ID == r.Group })
	if i < 0 {
		return fmt.Errorf("the plan has no launch group %s", r.Group)
	}
	name := results.LaunchName(r.Index)
	for _, c := range r.Cases {
		if c.Launch == nil || c.Launch.Index != r.Index || !slices.Contains(p.Groups[i].Cases, c.Key) {
			return fmt.Errorf("%s of %s is inconsistent at case %s", name, r.Group, c.Key)
		}
		if c.Launch.Status != results.OK && c.Launch.Failure == nil {
			return fmt.Errorf("%s of %s failed at case %s without a failure", name, r.Group, c.Key)
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

// CheckComparable refuses to resume a session in another environment, or with another definition of quantiles: its
// results would not be comparable.
func (l *Ledger) CheckComparable() error {
	f, now := l.past, l.Doc
	older := func(s *SessionRecord) bool { return s.Quantiles == nil }
	if len(f.launches) > 0 && slices.ContainsFunc(f.sessions, older) {
		return Refuse(ExitStale, "the session was measured by a weir version that defines quantiles differently (%s), so old and new results are not comparable: run it again",
			results.DefinitionText(results.RoundedRankRule))
	}
	if len(f.sessions) == 0 || f.sessions[0].Environment.Fingerprint == now.Environment.Fingerprint {
		return nil
	}
	before := f.sessions[0].Environment
	diff := append(shellDiffers(before.Variables, now.Environment.Variables),
		differences(before.Nodes, now.Environment.Nodes)...)
	return Refuse(ExitStale, "the session was measured in another environment, so old and new results are not comparable: %s",
		strings.Join(diff, "; "))
}

func shellDiffers(before, now map[string]string) (all []string) {
	names := map[string]string{}
	maps.Copy(names, before)
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

// differences describes differences between nodes that affect the fingerprint.
func differences(before, now []results.Node) []string {
	if len(before) != len(now) {
		return []string{fmt.Sprintf("it had %d nodes, now there are %d", len(before), len(now))}
	}
	var all []string
	for i := range now {
		b, n := reflect.ValueOf(comparableNode(before[i])), reflect.ValueOf(comparableNode(now[i]))
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
		panic(err) // strings and integers always encode
	}
	return string(b)
}

// TakeOver puts a launch of a resumed session into the document, and returns its nodes, by rank; not ok: there is no
// such launch.
func (l *Ledger) TakeOver(g *Group, index int) (nodes []string, ok bool) {
	id := launchID{g.ID, index}
	r := l.past.launches[id]
	delete(l.past.launches, id)
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
