// Values of other runs in the settings of cases.

package planner

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

// checkRunValues checks that each value of a run that a case uses is of exactly one case.
func checkRunValues(t *Table) {
	if t.diags.HasErrors() {
		return
	}
	find := newFinder(t)
	for _, run := range t.runs {
		for _, v := range run.run.Values {
			up := t.table(v.Run)
			if up == nil {
				continue // reported with the need
			}
			own, _ := sharedAxes(run.run, up.run)
			run.valueAxes = append(run.valueAxes, own...)
			for r := range run.distinct(own...) {
				keys := find.Find(v.Run, r.texts(own), v.Where)
				if len(keys) == 1 || t.diags.HasErrors() {
					continue
				}
				condition := "AXIS == VALUE"
				if strings.HasSuffix(v.Range.Filename, ".hcl") {
					condition = strconv.Quote(condition)
				}
				hint := fmt.Sprintf("Axes that both runs have must be equal. Select one case with a condition: run(%q, %s).%s.",
					v.Run, condition, v.Metric)
				found := fmt.Sprintf("no case of run %q matches", v.Run)
				if len(keys) > 0 {
					found = fmt.Sprintf("%d cases of run %q match: %s", len(keys), v.Run,
						strings.Join(keys[:min(3, len(keys))], ", "))
				}
				t.fail(v.Range, "Value of no single case", fmt.Sprintf("For %s, %s.", r.key(), found), dsl.Hint(hint))
			}
		}
	}
}

// Deferred returns the names in options and variables of a case with values from runs that are
// decided earlier, without duplicates.
func (c *Case) Deferred() []string {
	all := c.Options.DeferredNames()
	for _, name := range c.EnvLater {
		names, _ := placeholder.Names(c.Env[name]) // as the loader wrote it
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Value computes an expression over values of runs in a case. median returns the median of a case's
// metric.
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

// SettledEnv returns the variables of a case with the names in them replaced by their values.
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

// caseOf returns the case of the metric that another case uses.
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
			return nil, fmt.Errorf("%v: %s and %s both match", v, of.Key, other.Key)
		case ok:
			of = other
		}
	}
	if of == nil {
		return nil, fmt.Errorf("%v: no case fits", v)
	}
	return of, nil
}

// prefixOf returns the prefix that an include added to the names of a case's run.
func (p *Plan) prefixOf(c *Case) string {
	if r := p.run(c.Run); r != nil {
		return r.Prefix
	}
	return ""
}

// mentioned matches a name over values of runs in a text of package placeholder, and ofRun each run
// in it.
var (
	mentioned = regexp.MustCompile(`\$\{([^}]*\brun\("[^}]*)\}`)
	ofRun     = regexp.MustCompile(`\brun\("([^"]*)"`)
)

// runMention is contained in each text that uses a value of a run.
const runMention = "run("

// RunNames returns the distinct names over values of runs in options, variables and texts of a
// case.
func (c *Case) RunNames() []string {
	var all []string
	mention := func(text string) {
		for _, m := range mentioned.FindAllStringSubmatch(text, -1) {
			all = ordered.Append(all, m[1])
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
		if !ok || o.Type != option.Structure || !strings.Contains(text, runMention) {
			continue
		}
		if s, err := structure.Read(text); err == nil { // otherwise the plan was not checked
			mention(s.Texts())
		}
	}
	return all
}

// textValues lists the values of other runs that the cases use, and when they are known.
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
				runs = ordered.Append(runs, prefix+of[1])
			}
			textRow(t, "  value", name+", known after "+strings.Join(runs, " and "))
		}
	}
}
