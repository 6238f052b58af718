package ledger

import (
	"encoding/json"
	"fmt"

	"weir/planner"
	"weir/results"
)

// Rejudge makes a document of what an older one measured and a plan asserts, which the
// gate has not seen. Cases are matched by what they do (workload, options, environment
// variables): by their keys where several do the same. A case of the plan that nobody
// measured is there as an error; what the plan does not have is left out, and how many
// these are is given too. What surrounds cases, such as setup commands, is not compared:
// documents do not have it.
func Rejudge(p *planner.Plan, old *results.Document) (doc *results.Document, left int, err error) {
	measured := map[string][]*results.Case{}
	for _, c := range old.Cases {
		does, err := deed(c)
		if err != nil {
			return nil, 0, fmt.Errorf("case %s: %w", c.Key, err)
		}
		measured[does] = append(measured[does], c)
	}
	doc = newDocument(p, Options{Version: old.Weir})
	doc.Session, doc.Quantiles, doc.Environment, doc.Checks = old.Session, old.Quantiles, old.Environment, old.Checks
	doc.Commands, doc.Services, doc.Artifacts = old.Commands, old.Services, old.Artifacts
	doc.Baseline, doc.Previous = old.Baseline, old.Previous
	doc.Site = old.Site
	if p.Scenario.File != old.Scenario.File {
		doc.Session.Again = nil // which names the scenario of that session
	}
	taken := map[*results.Case]bool{}
	for _, c := range doc.Cases {
		if c.Status == results.Excluded || c.Reason != notRun {
			continue // the plan itself leaves it out
		}
		does, err := deed(c)
		if err != nil {
			return nil, 0, fmt.Errorf("case %s: %w", c.Key, err)
		}
		from, why := sameDeed(c.Key, measured[does])
		if from == nil {
			c.Status, c.Reason = results.Error, why+" in session "+old.Session.ID
			continue
		}
		taken[from] = true
		c.Status, c.Reason, c.Launches, c.Made = from.Status, from.Reason, from.Launches, from.Made
		if c.Status == results.Excluded {
			c.Status, c.Reason = results.Error, "its session excluded it: "+from.Reason
		}
	}
	return doc, len(old.Cases) - len(taken), nil
}

// sameDeed chooses among cases that do the same.
func sameDeed(key string, cases []*results.Case) (one *results.Case, why string) {
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

// deed is a text of what a case does, the same for options that were read from a
// document and for those of a plan.
func deed(c *results.Case) (string, error) {
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
