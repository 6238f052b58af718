package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/quantity"
	"weir/workload"
)

// resolve gives every case its options and environment.
func resolve(t *Table) {
	for _, s := range t.sheets {
		for _, c := range s.run.Settings() {
			col := column{Setting: c, values: work(s.by(s.reach(c)), func(i int) any {
				if !s.applies(c.Option, i) {
					return nil
				}
				if t.late(s.run.Range) {
					return nil
				}
				v, diags := c.Value(s.at(s.columns, c.Axes, i))
				t.report(diags...)
				return v
			})}
			if t.isLate {
				return
			}
			col.encode()
			s.settings = append(s.settings, col)
			t.effect(s, col)
		}
		s.rows = newOptionRows(s.settings)
		if !t.diags.HasErrors() {
			t.together(s)
			t.idleOptions(s)
			t.caution(s)
			t.placeable(s)
			t.leftOut(s)
			t.idleVariables(s)
		}
	}
	if !t.diags.HasErrors() {
		t.numbered()
		t.unreadVariables()
	}
}

// reach are the axes on which the value of a setting depends, and on which it
// depends whether there is such an option.
func (s *sheet) reach(c *dsl.Setting) []int {
	axes := append(slices.Clone(c.Axes), s.axesOf(c.Option.DependsOn())...)
	slices.Sort(axes)
	return slices.Compact(axes)
}

// applies says whether an option exists for a case.
func (s *sheet) applies(o workload.Option, i int) bool {
	others := o.DependsOn()
	if len(others) == 0 {
		return true
	}
	values := workload.Values{}
	for _, c := range s.run.Settings() {
		if !c.Env && slices.Contains(others, c.Name) {
			v, _ := c.Value(s.at(s.columns, c.Axes, i)) // its own column reports what is wrong
			values[c.Name] = v
		}
	}
	return s.run.Workload.Applies(o, values)
}

// effect reports an option that the run sets and that exists for none of its cases.
func (t *Table) effect(s *sheet, c column) {
	at, given := c.Given()
	if !given || len(c.Option.For) == 0 || t.diags.HasErrors() || s.live == 0 ||
		slices.ContainsFunc(c.values.values, func(v any) bool { return v != nil }) {
		return
	}
	t.fail(at, "Option without effect", fmt.Sprintf("Option %s exists only with %s, and no case of run %q has that.",
		c.Name, c.Option.Only(), s.run.Name), dsl.Hint("Set that too, or remove "+c.Name+"."))
}

// encode writes the fragments that ids are made of.
func (c *column) encode() {
	c.json = make([][]byte, len(c.values.values))
	name := encode(c.Name)
	for k, v := range c.values.values {
		if later, ok := v.(workload.Deferred); ok && c.Env {
			v = laterText{string(later)}
		}
		if c.values.first[k] >= 0 && v != nil {
			c.json[k] = append(append(append([]byte{}, name...), ':'), encode(v)...)
		}
	}
}

// laterText is a variable whose text has names, where it must not be taken for the text itself.
type laterText struct {
	Later string `json:"later"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans hold only finite numbers, strings and booleans
	}
	return b
}

// together checks what no single option can say, of a run that can have cases.
func (t *Table) together(s *sheet) {
	k := s.run.Workload
	if k.Check == nil || s.never() {
		return
	}
	classes := s.by(s.axesOf(k.Checked))
	wrong := make([]error, len(classes.first))
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for w := range n {
		workers.Go(func() {
			for class := w; class < len(classes.first); class += n {
				if i := classes.first[class]; i >= 0 {
					wrong[class] = check(k, s.options(int(i)))
				}
			}
		})
	}
	workers.Wait()
	for _, err := range wrong {
		if err != nil {
			t.fail(s.blamed(err.Error()), "Options that do not go together",
				fmt.Sprintf("Run %q: %s.", s.run.Name, err),
				"Change one of them, or exclude the point.")
		}
	}
}

// check says what is wrong with options together, as far as their values are known.
func check(k *workload.Kind, options workload.Values) error {
	said := map[string]bool{}
	err := k.Assume(options, func(assumed workload.Values) error {
		err := k.Check(assumed)
		if err != nil {
			said[err.Error()] = true
		}
		return err
	})
	if len(said) > 1 {
		return nil // it depends on what is not known, and is checked again when it is
	}
	return err
}

// optionWords are the words of a message that may be names of options.
func optionWords(message string) []string {
	return strings.FieldsFunc(message, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
}

// leftOut warns of the own cells that a run ignores.
func (t *Table) leftOut(s *sheet) {
	columns := slices.DeleteFunc(slices.Clone(s.settings),
		func(c column) bool { return c.Name != "own_cells" && c.Name != "matrix" })
	known := map[string]bool{}
	cells, bytes := 0, int64(0)
	rows := newOptionRows(columns)
	work(s.by(s.axesOf([]string{"own_cells", "matrix"})), func(i int) bool {
		o := rows.at(i)
		text, _ := o["matrix"].(string)
		if o["own_cells"] == workload.OwnIgnore && !known[text] {
			known[text] = true
			n, of := workload.OwnCells(text)
			cells, bytes = cells+n, bytes+of
		}
		return true
	})
	if cells == 0 {
		return
	}
	at := s.run.Range
	for _, c := range columns {
		if given, own := c.Given(); own && c.Name == "own_cells" {
			at = given
		}
	}
	t.report(&hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Own cells are left out", Subject: &at,
		Detail: fmt.Sprintf("%s of ranks with themselves, %v in all, are not moved in run %q.", plural(cells, "cell"),
			quantity.Size(bytes), s.run.Name),
	})
}

// options are those of a live case.
func (s *sheet) options(i int) workload.Values { return s.rows.at(i) }

// optionRows gives cases their options, most of which are the same for all cases.
type optionRows struct {
	first  workload.Values // of one case
	differ []column
}

func newOptionRows(columns []column) *optionRows {
	r := &optionRows{first: workload.Values{}}
	for _, c := range columns {
		if c.Env {
			continue
		}
		if c.values.of != nil {
			r.differ = append(r.differ, c)
		}
		if len(c.values.values) > 0 && c.values.values[0] != nil {
			r.first[c.Name] = c.values.values[0]
		}
	}
	return r
}

func (r *optionRows) at(i int) workload.Values {
	if r == nil {
		return workload.Values{} // of a plan as it is before this step
	}
	out := maps.Clone(r.first)
	for _, c := range r.differ {
		if v := c.values.at(i); v != nil {
			out[c.Name] = v
		} else {
			delete(out, c.Name)
		}
	}
	return out
}

// env is the environment of a live case, and the variables of it whose text is workload.Deferred.
func (s *sheet) env(i int) (env map[string]string, later []string) {
	env = map[string]string{}
	for _, c := range s.settings {
		if !c.Env {
			continue
		}
		switch v := c.values.at(i).(type) {
		case string:
			env[c.Name] = v
		case workload.Deferred:
			env[c.Name], later = string(v), append(later, c.Name)
		}
	}
	return env, later
}

// unset are the variables that a live case leaves unset, by name.
func (s *sheet) unset(i int) (names []string) {
	for _, c := range s.settings {
		if _, ok := c.values.at(i).(dsl.Unset); c.Env && ok {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// blamed is the place of the option that a message names, where the run sets it; otherwise the run's.
func (s *sheet) blamed(message string) hcl.Range {
	words := optionWords(message)
	at := s.run.Range
	for _, c := range s.settings { // the last of those that it names: the others ask for it
		if given, own := c.Given(); own && !c.Env && slices.Contains(words, c.Name) {
			at = given
		}
	}
	return at
}
