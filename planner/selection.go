package planner

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"weir/dsl"
	"weir/workload"
)

// ErrNothing says that a selection leaves nothing to run.
var ErrNothing = errors.New("nothing selected")

// Selector picks cases: by the name of their run, by a case key in which *
// stands for anything, or by a condition.
type Selector struct {
	text    string
	matches func(*Case) (bool, error)
}

// ParseSelector reads a run name, a case key with *, or where:EXPR.
func ParseSelector(text string) (Selector, error) {
	if expr, ok := strings.CutPrefix(text, "where:"); ok {
		c, err := dsl.CompileCondition(expr)
		if err != nil {
			return Selector{}, fmt.Errorf("selector %q: %w", text, err)
		}
		if c.UsesHost() {
			return Selector{}, fmt.Errorf("selector %q: a selection is made before any host is known, so it cannot use host",
				text)
		}
		return Selector{text, func(k *Case) (bool,
			error) {
			return c.Eval(dsl.Scope{Options: k.Options, Axes: k.Axes})
		}}, nil
	}
	if text == "" {
		return Selector{}, fmt.Errorf("a selector is a run name, a case key with *, or where:EXPR; it cannot be empty")
	}
	glob, err := regexp.Compile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
	if err != nil { // bytes that are not text
		return Selector{}, fmt.Errorf("selector %q: %w", text, err)
	}
	pattern := readCasePattern(text)
	return Selector{text, func(k *Case) (bool, error) {
		return k.Run == text || glob.MatchString(k.Key) || pattern != nil && pattern.matches(k.Key), nil
	}}, nil
}

// Select keeps the cases that only picks (all, if it is empty) with everything that they
// need or are compared with, less those that skip picks with everything that needs them.
// What is left out stays in the plan as skipped, with the reason. The patterns of a
// sequence need each other: one that is played in part is another load.
func (p *Plan) Select(only, skip []Selector) error {
	if len(only) > 0 {
		keep, err := p.pick(only)
		if err != nil {
			return err
		}
		loads := p.loads()
		for again := true; again; { // a load may need what comes before it
			before := len(keep)
			for i := len(p.Cases) - 1; i >= 0; i-- { // what is needed comes before what needs it
				if c := p.Cases[i]; keep[c.Key] {
					for _, n := range append(loads[c.Key], c.Needs...) {
						keep[n] = true
					}
				}
			}
			p.addCompared(keep)
			p.wholeSequences(keep)
			again = len(keep) > before
		}
		for _, c := range p.Cases {
			if !keep[c.Key] && c.Status == Planned {
				c.skip("not selected by --only")
			}
		}
	}
	drop, err := p.pick(skip)
	if err != nil {
		return err
	}
	p.wholeSequences(drop)
	for _, c := range p.Cases {
		if drop[c.Key] && c.Status == Planned {
			c.skip("selected by --skip")
		}
	}
	p.skipUnloaded()
	p.skipDownstream()
	p.regroup()
	p.refresh()
	if len(p.Groups) == 0 {
		return fmt.Errorf("%w: %s", ErrNothing, p.whyNothing())
	}
	return nil
}

// unclosed says of a selector that matches nothing that it is no pattern as it is meant.
func unclosed(selector string) string {
	if strings.Count(selector, "[") <= strings.Count(selector, "]") || strings.Contains(selector, "*") {
		return ""
	}
	return ", which is no pattern: its [ is not closed (RUN[AXIS=VALUE], with * for any text)"
}

// wholeSequences adds to some cases all that are played in one sequence with them.
func (p *Plan) wholeSequences(keys map[string]bool) {
	play := map[string]bool{} // by run
	for _, c := range p.Cases {
		k, ok := workload.Lookup(c.Workload)
		play[c.Run] = ok && k.Sequence != ""
	}
	for _, g := range p.Groups {
		if play[g.Run] && slices.ContainsFunc(g.Cases, func(key string) bool { return keys[key] }) {
			for _, key := range g.Cases {
				keys[key] = true
			}
		}
	}
}

// loads are, by the key of a case, the keys of the cases that run in its background.
func (p *Plan) loads() map[string][]string {
	byID := map[string]*LaunchGroup{}
	for _, g := range p.Groups {
		byID[g.ID] = g
	}
	out := map[string][]string{}
	for _, g := range p.Groups {
		for _, id := range g.During {
			for _, key := range byID[id].Cases {
				out[key] = append(out[key], g.Cases...)
			}
		}
	}
	return out
}

// skipUnloaded skips cases of whose background load nothing is left: measured
// alone they would be something else.
func (p *Plan) skipUnloaded() {
	status := map[string]string{}
	for _, c := range p.Cases {
		status[c.Key] = c.Status
	}
	for key, load := range p.loads() {
		if c := p.Case(key); c.Status == Planned &&
			!slices.ContainsFunc(load, func(k string) bool { return status[k] == Planned }) {
			c.skip("its background load " + load[0] + " does not run")
		}
	}
}

// whyNothing counts the reasons for which no case runs.
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

// pick are the keys of the cases that any of the selectors matches. A selector
// that matches none is a mistake: it would silently select less than was meant.
func (p *Plan) pick(selectors []Selector) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, s := range selectors {
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
		if hits == 0 {
			near := ""
			if key := p.nearestKey(s.text); key != "" {
				near = fmt.Sprintf("; the nearest is %q", key)
			}
			return nil, fmt.Errorf("%w: no case matches %q%s; the runs are %s%s", ErrNothing, s.text, unclosed(s.text),
				strings.Join(p.runs(), ", "), near)
		}
	}
	return keys, nil
}

// SetLaunches asks for exactly n launches of everything.
func (p *Plan) SetLaunches(n int) {
	for _, g := range p.Groups {
		g.Looks = []int{n}
	}
	p.refresh()
}

// runs are the names of the runs, in execution order.
func (p *Plan) runs() []string {
	var names []string
	for _, c := range p.Cases {
		if !slices.Contains(names, c.Run) {
			names = append(names, c.Run)
		}
	}
	return names
}
