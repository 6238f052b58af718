package planner

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/dsl"
	"weir/placeholder"
	"weir/workload"
)

// values checks that each value of a run that texts of cases mention is of one case.
func values(t *Table) {
	if t.diags.HasErrors() {
		return
	}
	find := newFinder(t)
	for _, s := range t.sheets {
		for _, v := range s.run.Values {
			up := t.sheet(v.Run)
			if up == nil {
				continue // which the need reports
			}
			own, _ := sharedAxes(s.run, up.run)
			s.valueAxes = append(s.valueAxes, own...)
			work(s.by(own), func(i int) bool {
				at := map[string]string{}
				for _, axis := range own {
					at[s.run.Axes[axis].Name] = s.value(s.columns, axis, i).Text
				}
				keys := find.Find(v.Run, at, v.Where)
				if len(keys) == 1 || t.diags.HasErrors() {
					return true
				}
				condition := "AXIS == VALUE"
				if strings.HasSuffix(v.Range.Filename, ".hcl") {
					condition = strconv.Quote(condition)
				}
				hint := fmt.Sprintf("Axes that both runs have are the same. Choose one case by a condition: run(%q, %s).%s.",
					v.Run, condition, v.Metric)
				found := fmt.Sprintf("no case of run %q fits", v.Run)
				if len(keys) > 0 {
					found = fmt.Sprintf("%d cases of run %q fit: %s", len(keys), v.Run,
						strings.Join(keys[:min(3, len(keys))], ", "))
				}
				t.fail(v.Range, "Value of no single case", fmt.Sprintf("For %s, %s.", s.key(s.columns, i), found),
					dsl.Hint(hint))
				return true
			})
		}
	}
}

// Deferred are the names in options and variables of a case whose values follow from runs that
// are decided before, each once.
func (c *Case) Deferred() []string {
	all := c.Options.DeferredNames()
	for _, name := range c.EnvLater {
		names, _ := placeholder.Names(c.Env[name]) // as the loader wrote it
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Value computes a name over values of runs, of a case that uses it. median gives what a case has
// measured of a metric.
func (p *Plan) Value(c *Case, name string, median func(of *Case, metric string) (float64, error)) (string, error) {
	return dsl.ValueOfRuns(name, func(v *dsl.RunValue) (float64, error) {
		of, err := p.caseOf(c, v)
		if err != nil {
			return 0, err
		}
		n, err := median(of, v.Metric)
		if err != nil {
			return 0, fmt.Errorf("%v: %w", v, err)
		}
		return n, nil
	})
}

// SettledEnv are the variables of a case, given the values of names in them.
func (c *Case) SettledEnv(known map[string]string) (map[string]string, error) {
	all := maps.Clone(c.Env)
	for _, name := range c.EnvLater {
		var err error
		if all[name], err = placeholder.Expand(all[name], func(name string) (string, error) {
			return known[name], nil
		}); err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
	}
	return all, nil
}

// caseOf finds the case whose metric another case uses.
func (p *Plan) caseOf(c *Case, v *dsl.RunValue) (of *Case, err error) {
	where, err := v.Condition()
	if err != nil {
		return nil, err
	}
	run := p.prefixOf(c) + v.Run
	for _, other := range p.Cases {
		if other.Run != run || !slices.Contains(c.Needs, other.Key) {
			continue
		}
		ok := true
		if where != nil {
			if ok, err = where.Eval(dsl.Scope{Options: other.Options, Axes: other.Axes}); err != nil {
				return nil, err
			}
		}
		switch {
		case ok && of != nil:
			return nil, fmt.Errorf("%v: %s and %s both fit", v, of.Key, other.Key)
		case ok:
			of = other
		}
	}
	if of == nil {
		return nil, fmt.Errorf("%v: no case fits", v)
	}
	return of, nil
}

// prefixOf is what an include put before the names of a case's run.
func (p *Plan) prefixOf(c *Case) string {
	i := slices.IndexFunc(p.Runs, func(r *Run) bool { return r.Name == c.Run })
	if i < 0 {
		return ""
	}
	return p.Runs[i].Prefix
}

// mentioned is a name over values of runs in a text of package placeholder, and ofRun each run in it.
var (
	mentioned = regexp.MustCompile(`\$\{([^}]*\brun\("[^}]*)\}`)
	ofRun     = regexp.MustCompile(`\brun\("([^"]*)"`)
)

// runMention is in each text that mentions a value of a run.
const runMention = "run("

// RunNames are the names over values of runs that options, variables and texts of a case mention, each once.
func (c *Case) RunNames() []string {
	var all []string
	mention := func(text string) {
		for _, m := range mentioned.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(all, m[1]) {
				all = append(all, m[1])
			}
		}
	}
	for _, name := range c.Deferred() {
		mention(placeholder.Of(name))
	}
	k, _ := workload.Lookup(c.Workload)
	if k == nil {
		return all
	}
	for _, o := range k.Options {
		text, ok := c.Options[o.Name].(string)
		if !ok || o.Type != workload.Structure || !strings.Contains(text, runMention) {
			continue
		}
		if s, err := workload.ReadStructure(text); err == nil { // else the plan was not checked
			mention(s.Texts())
		}
	}
	return all
}

// textValues says which values of other runs the cases have, and when they are known.
func (p *Plan) textValues(t io.Writer, cases []*Case) {
	prefix := p.prefixOf(cases[0])
	var all []string
	for _, c := range cases {
		for _, name := range c.RunNames() {
			if slices.Contains(all, name) {
				continue
			}
			all = append(all, name)
			var runs []string
			for _, of := range ofRun.FindAllStringSubmatch(name, -1) {
				if run := prefix + of[1]; !slices.Contains(runs, run) {
					runs = append(runs, run)
				}
			}
			row(t, "  value", name+", known after "+strings.Join(runs, " and "))
		}
	}
}
