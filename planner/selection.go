// Selections of cases: --only and --skip.

package planner

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/workload"
)

// ErrNothing is the error of a selection that leaves nothing to run.
var ErrNothing = errors.New("nothing selected")

// Selector selects cases: by the name of their run, by a case key in which * matches any text, by a
// tag of their run, or by a condition.
type Selector struct {
	text    string
	tag     string // "": another kind
	matches func(*Case) (bool, error)
}

// ParseSelector reads a run name, a case key with *, tag:NAME, or where:EXPR.
func ParseSelector(text string) (Selector, error) {
	if expr, ok := strings.CutPrefix(text, "where:"); ok {
		c, err := dsl.CompileCondition(expr)
		if err != nil {
			return Selector{}, fmt.Errorf("selector %q: %w", text, err)
		}
		if c.UsesHost() {
			return Selector{}, fmt.Errorf("selector %q: a selection cannot use host, since hosts are not known yet",
				text)
		}
		return Selector{text: text, matches: func(k *Case) (bool, error) {
			return c.Eval(dsl.Scope{Options: k.Options, Axes: k.Axes})
		}}, nil
	}
	if tag, ok := strings.CutPrefix(text, "tag:"); ok && tag != "" {
		return Selector{text: text, tag: tag}, nil
	}
	if text == "" {
		return Selector{}, errors.New(
			"a selector is a run name, a case key with *, tag:NAME, or where:EXPR; it cannot be empty")
	}
	glob, err := regexp.Compile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
	if err != nil { // bytes that are not UTF-8
		return Selector{}, fmt.Errorf("selector %q: %w", text, err)
	}
	pattern := readCasePattern(text)
	if pattern != nil && pattern.twice != "" {
		return Selector{}, fmt.Errorf("selector %q: axis %s is named twice; give a selector for each value", text,
			pattern.twice)
	}
	return Selector{text: text, matches: func(k *Case) (bool, error) {
		return k.Run == text || glob.MatchString(k.Key) || pattern != nil && pattern.matches(k.Key), nil
	}}, nil
}

// Select keeps the cases that only selects (all, if it is empty) with everything that they need or
// are compared with, and removes those that skip selects with everything that needs them. Removed
// cases stay in the plan as skipped, with the reason. A sequence is kept or removed completely.
func (p *Plan) Select(only, skip []Selector) error {
	planned := slices.DeleteFunc(slices.Clone(p.Cases), func(c *Case) bool { return c.Status != Planned })
	if len(only) > 0 {
		keep, err := p.pick(only)
		if err != nil {
			return err
		}
		if len(keep) == 0 { // selectors without match are errors, but tags
			return ErrByTags
		}
		loads := p.loads()
		for again := true; again; { // a load may need earlier cases
			before := len(keep)
			for i := len(p.Cases) - 1; i >= 0; i-- { // needed cases come before those that need them
				if c := p.Cases[i]; keep[c.Key] {
					for _, n := range append(loads[c.Key], c.Needs...) {
						keep[n] = true
					}
				}
			}
			p.addComparedCases(keep)
			p.addSequences(keep)
			again = len(keep) > before
		}
		p.skipWhere("not selected by --only", func(c *Case) bool { return !keep[c.Key] })
	}
	drop, err := p.pick(skip)
	if err != nil {
		return err
	}
	p.addSequences(drop)
	p.skipWhere("selected by --skip", func(c *Case) bool { return drop[c.Key] })
	p.skipWithoutLoad()
	p.skipDownstream()
	for _, c := range planned {
		c.Deselected = c.Status == Skipped
	}
	p.regroup()
	p.refresh()
	if len(p.Groups) == 0 && byTags(slices.Concat(only, skip)) {
		return ErrByTags
	}
	if len(p.Groups) == 0 {
		return fmt.Errorf("%w: %s", ErrNothing, p.whyNothing())
	}
	return nil
}

// skipWhere skips the planned cases for which out returns true.
func (p *Plan) skipWhere(reason string, out func(*Case) bool) {
	for _, c := range p.Cases {
		if c.Status == Planned && out(c) {
			c.skip(reason)
		}
	}
}

// unclosedBracket explains a selector without match that has an unclosed bracket.
func unclosedBracket(selector string) string {
	if strings.Count(selector, "[") <= strings.Count(selector, "]") || strings.Contains(selector, "*") {
		return ""
	}
	return ", which has an unclosed [ (write RUN[AXIS=VALUE], with * for any text)"
}

// addSequences adds all cases of the same sequences.
func (p *Plan) addSequences(keys map[string]bool) {
	for _, g := range p.Groups {
		if slices.ContainsFunc(g.Cases, func(key string) bool {
			k, ok := workload.Lookup(p.keyed()[key].Workload)
			return ok && k.Sequence != "" && keys[key]
		}) {
			for _, key := range g.Cases {
				keys[key] = true
			}
		}
	}
}

// loads returns, by the key of a case, the keys of its background load.
func (p *Plan) loads() map[string][]string {
	out := map[string][]string{}
	during, _ := p.during() // the groups were checked when they were made or read
	for i, fronts := range during {
		for _, f := range fronts {
			for _, key := range p.Groups[f].Cases {
				out[key] = append(out[key], p.Groups[i].Cases...)
			}
		}
	}
	return out
}

// skipWithoutLoad skips cases without their background load: they would measure something else.
func (p *Plan) skipWithoutLoad() {
	for key, load := range p.loads() { // no load has a load itself
		if c := p.keyed()[key]; c.Status == Planned &&
			!slices.ContainsFunc(load, func(k string) bool { return p.keyed()[k].Status == Planned }) {
			c.skip("its background load " + load[0] + " does not run")
		}
	}
}

// whyNothing counts the reasons why no case runs.
func (p *Plan) whyNothing() string {
	count := map[string]int{}
	var reasons []string
	for _, c := range p.Cases {
		reason := c.Status + ": " + strings.TrimPrefix(c.Reason, c.Status+": ")
		if count[reason]++; count[reason] == 1 {
			reasons = append(reasons, reason)
		}
	}
	const most = 3
	for i, r := range reasons[:min(most, len(reasons))] {
		reasons[i] = plural(count[r], "case") + " " + r
	}
	if n := len(reasons) - most; n > 0 {
		reasons = append(reasons[:most], fmt.Sprintf("and for %d more reasons", n))
	}
	return strings.Join(reasons, "; ")
}

// pick returns the keys of the cases that any of the selectors matches. A selector without match is
// an error, since less than intended would be selected; a tag may be that of another scenario.
func (p *Plan) pick(selectors []Selector) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, s := range selectors {
		if s.tag != "" {
			s.matches = func(k *Case) (bool, error) { return slices.Contains(p.tagsOf(k.Run), s.tag), nil }
		}
		hits := 0
		for _, c := range p.Cases {
			ok, err := s.matches(c)
			if err != nil {
				return nil, fmt.Errorf("selector %q at %s: %w", s.text, c.Key, err)
			}
			if ok {
				hits++
				keys[c.Key] = true
			}
		}
		if hits == 0 && s.tag == "" {
			near := ""
			if slices.ContainsFunc(p.runs(), func(run string) bool { return slices.Contains(p.tagsOf(run), s.text) }) {
				near = fmt.Sprintf("; the tag is selected by tag:%s", s.text)
			} else if key := p.nearestKey(s.text); key != "" {
				near = fmt.Sprintf("; the nearest is %q", key)
			}
			return nil, fmt.Errorf("%w: no case matches %q%s; the runs are %s%s", ErrNothing, s.text,
				cmp.Or(unclosedBracket(s.text), p.whyNoMatch(s.text)), strings.Join(p.runs(), ", "), near)
		}
	}
	return keys, nil
}

// SetLaunches sets exactly n launches for every group.
func (p *Plan) SetLaunches(n int) {
	for _, g := range p.Groups {
		g.Looks = []int{n}
	}
	p.refresh()
}

// runs returns the names of the runs, in execution order.
func (p *Plan) runs() []string {
	var names []string
	for _, c := range p.Cases {
		names = ordered.Append(names, c.Run)
	}
	return names
}
