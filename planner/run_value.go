package planner

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"weir/dsl"
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
			work(s.by(own), func(i int) bool {
				at := map[string]string{}
				for _, axis := range own {
					at[s.run.Axes[axis].Name] = s.value(s.columns, axis, i).Text
				}
				keys := find.Find(v.Run, at, v.Where)
				if len(keys) == 1 || t.diags.HasErrors() {
					return true
				}
				hint := "Choose one by a condition: run(\"" + v.Run + "\", \"AXIS == VALUE\")." + v.Metric + "."
				t.fail(v.Range, "Value of no single case", fmt.Sprintf("For %s, %s of run %q fit: %s.", s.key(s.columns,
					i), plural(len(keys), "case"), v.Run, strings.Join(keys[:min(3, len(keys))], ", ")), dsl.Hint(hint))
				return true
			})
		}
	}
}

// valueName is how texts of a plan name the metric of a run.
var valueName = regexp.MustCompile(`^run\("([^"]*)"(?:, (.*))?\)\.([^()]+)$`)

// Value finds the case whose metric a text of another case names, as run("NAME", CONDITION).METRIC.
func (p *Plan) Value(c *Case, name string) (of *Case, metric string, err error) {
	parts := valueName.FindStringSubmatch(name)
	if parts == nil {
		return nil, "", fmt.Errorf("%s names no metric of a run", name)
	}
	var where *dsl.Condition
	if parts[2] != "" {
		if where, err = dsl.CompileCondition(parts[2]); err != nil {
			return nil, "", err
		}
	}
	for _, other := range p.Cases {
		if other.Run != parts[1] || !slices.Contains(c.Needs, other.Key) {
			continue
		}
		ok := true
		if where != nil {
			if ok, err = where.Eval(dsl.Scope{Options: other.Options, Axes: other.Axes}); err != nil {
				return nil, "", err
			}
		}
		switch {
		case ok && of != nil:
			return nil, "", fmt.Errorf("%s: %s and %s both fit", name, of.Key, other.Key)
		case ok:
			of = other
		}
	}
	if of == nil {
		return nil, "", fmt.Errorf("%s: no case fits", name)
	}
	return of, parts[3], nil
}

// mentioned is a value of a run in a text of package placeholder.
var mentioned = regexp.MustCompile(`\$\{(run\("([^"]*)"[^}]*)\}`)

// textValues says which values of other runs the cases have, and when they are known.
func textValues(t io.Writer, cases []*Case) {
	told := map[string]bool{}
	for _, c := range cases {
		k, _ := workload.Lookup(c.Workload)
		if k == nil {
			continue
		}
		for _, o := range k.Options {
			text, ok := c.Options[o.Name].(string)
			if !ok || o.Type != workload.Structure || told[text] {
				continue
			}
			told[text] = true
			s, err := workload.ReadStructure(text)
			if err != nil {
				continue // a plan that was read has been checked
			}
			for _, m := range mentioned.FindAllStringSubmatch(s.Texts(), -1) {
				if !told[m[1]] {
					told[m[1]] = true
					row(t, "  value", m[1]+", known after "+m[2])
				}
			}
		}
	}
}
