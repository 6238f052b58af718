package ledger

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Rejudge makes an unjudged document of an old document's launches and a plan's assertions. Cases match if they have
// the same workload, options and environment variables; their keys distinguish equal ones. Cases of the plan without
// a match are errors; left counts cases of the old document without a match. Setup commands are not compared, because
// documents do not have them.
func Rejudge(p *planner.Plan, old *results.Document) (doc *results.Document, left int, err error) {
	measured := map[string][]*results.Case{}
	for _, c := range old.Cases {
		id, err := caseIdentity(c)
		if err != nil {
			return nil, 0, fmt.Errorf("case %s: %w", c.Key, err)
		}
		measured[id] = append(measured[id], c)
	}
	doc = newDocument(p, Options{Version: old.Weir}, old.Session.Started)
	doc.Session, doc.Quantiles, doc.Environment, doc.Checks = old.Session, old.Quantiles, old.Environment, old.Checks
	doc.Commands, doc.Services, doc.Artifacts = old.Commands, old.Services, old.Artifacts
	doc.Baseline, doc.Previous = old.Baseline, old.Previous
	doc.Site = old.Site
	if p.Scenario.File != old.Scenario.File {
		doc.Session.Again = nil // it names the other scenario
	}
	was, is := workload.DefinitionsOf(old), workload.DefinitionsOf(doc)
	taken := map[*results.Case]bool{}
	for _, c := range doc.Cases {
		if c.Status == results.Excluded || c.Reason != notRun {
			continue // by the plan
		}
		id, err := caseIdentity(c)
		if err != nil {
			return nil, 0, fmt.Errorf("case %s: %w", c.Key, err)
		}
		from, why := matchCase(c.Key, measured[id])
		if from == nil {
			c.Status, c.Reason = results.Error, why+" in session "+old.Session.ID
			continue
		}
		taken[from] = true
		now := is.Of(c.Workload, c.Run)
		f, err := workload.UnitFactors(was.Of(from.Workload, from.Run), now, now.Names())
		if err != nil {
			return nil, 0, fmt.Errorf("case %s: %w", c.Key, err)
		}
		doc.Baseline = baselineIn(doc.Baseline, from.Key, f)
		from = f.Case(from)
		c.Status, c.Reason, c.Launches, c.Made = from.Status, from.Reason, from.Launches, from.Made
		if c.Status == results.Excluded {
			c.Status, c.Reason = results.Error, "its session excluded it: "+from.Reason
		}
	}
	limitLooks(doc)
	return doc, len(old.Cases) - len(taken), nil
}

// limitLooks lets assertions with a first look above the launches of an ended session be judged by these: no more will
// come.
func limitLooks(doc *results.Document) {
	if doc.Session.Finished.IsZero() || doc.Session.Reason != "" {
		return // it may be resumed
	}
	limit := func(a *results.AssertionVerdict, cases ...*results.Case) {
		made := 0
		for _, c := range cases {
			if n := len(c.Succeeded()); c.Status == results.OK && (made == 0 || n < made) {
				made = n
			}
		}
		if made > 0 && len(a.Looks) > 0 && slices.Min(a.Looks) > made {
			a.Looks = []int{made}
		}
	}
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			limit(a, c)
		}
	}
	for _, a := range doc.Assertions {
		var cases []*results.Case
		for _, key := range a.Cases {
			if c := doc.Case(key); c != nil {
				cases = append(cases, c)
			}
		}
		limit(a, cases...)
	}
}

// baselineIn is a baseline with a case in other units.
func baselineIn(b *results.Baseline, key string, f workload.Factors) *results.Baseline {
	if b == nil || len(f) == 0 {
		return b
	}
	out := *b
	out.Cases = slices.Clone(b.Cases)
	for i, c := range out.Cases {
		if c.Key != key {
			continue
		}
		out.Cases[i].Launches = nil
		for _, values := range c.Launches {
			out.Cases[i].Launches = append(out.Cases[i].Launches, f.Values(values))
		}
	}
	return &out
}

// matchCase chooses among cases of equal identity.
func matchCase(key string, cases []*results.Case) (one *results.Case, why string) {
	for _, c := range cases {
		if c.Key == key {
			return c, ""
		}
	}
	switch len(cases) {
	case 0:
		return nil, "no case does what this one does"
	case 1:
		return cases[0], ""
	}
	return nil, fmt.Sprintf("%d cases do what this one does, and none has its key,", len(cases))
}

// caseIdentity is a text of a case's workload, options and variables, equal for a document and its plan.
func caseIdentity(c *results.Case) (string, error) {
	b, err := json.Marshal(c.Options)
	if err != nil {
		return "", err
	}
	var plain map[string]any // numbers of a document are floats
	if err := json.Unmarshal(b, &plain); err != nil {
		return "", err
	}
	env := c.Env
	if env == nil {
		env = map[string]string{}
	}
	b, err = json.Marshal([]any{c.Workload, plain, env, c.Unset, c.Later})
	return string(b), err
}
