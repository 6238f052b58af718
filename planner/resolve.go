// Step resolve: options and environment of cases.

package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// resolve computes the options and environment of every case.
func resolve(t *Table) {
	for _, run := range t.runs {
		run.constant = option.Values{}
		before := len(t.diags)
		for _, c := range run.run.Settings() {
			col := t.column(run, c)
			if t.expired {
				return
			}
			run.columns = append(run.columns, col)
			if len(col.cells) == 1 && !c.Env && col.cells[0].value != nil {
				run.constant[c.Name] = col.cells[0].value
			}
			t.checkEffect(col, run)
		}
		if !t.diags[before:].HasErrors() { // other runs have errors of their own
			t.checkCombinations(run)
			t.refuseIdleOptions(run)
			t.warnMisleading(run)
			t.checkPlace(run)
			t.warnOwnCells(run)
			t.warnIdleVariables(run)
		}
	}
	if !t.diags.HasErrors() {
		t.checkNodeNumbers()
		t.warnUnreadVariables()
	}
}

// column computes the values of a setting.
func (t *Table) column(run *runTable, c *dsl.Setting) *column {
	out := &column{Setting: c}
	out.of = byAxes(run, run.dependsOn(c), func(r *row) *cell {
		v := &cell{}
		if r.applies(c.Option) && !t.deadlineExceeded(run.run.Range) {
			var diags hcl.Diagnostics
			v.value, diags = c.Value(r.at(c.Axes))
			t.report(diags...)
		}
		v.encode(c)
		out.cells = append(out.cells, v)
		return v
	})
	return out
}

// dependsOn returns the axes that affect the value of a setting, and whether there is such an
// option.
func (t *runTable) dependsOn(c *dsl.Setting) []int {
	return sorted(append(slices.Clone(c.Axes), t.axesOf(c.Option.DependsOn()...)...))
}

// applies reports whether an option exists for a case.
func (r *row) applies(o option.Option) bool {
	others := o.DependsOn()
	if len(others) == 0 {
		return true
	}
	values := option.Values{}
	for _, c := range r.run.Settings() {
		if !c.Env && slices.Contains(others, c.Name) {
			v, _ := c.Value(r.at(c.Axes)) // its own column reports errors
			values[c.Name] = v
		}
	}
	return r.run.Workload.Applies(o, values)
}

// checkEffect reports an option of the run that exists in none of its cases.
func (t *Table) checkEffect(c *column, run *runTable) {
	at, given := c.Given()
	if !given || len(c.Option.Where.Options) == 0 || t.diags.HasErrors() || len(run.rows) == 0 ||
		slices.ContainsFunc(c.cells, func(v *cell) bool { return v.value != nil }) {
		return
	}
	t.fail(at, "Option without effect", fmt.Sprintf("Option %s exists only with %s, which no case of run %q has.",
		c.Name, c.Option.Only(), run.run.Name), dsl.Hint("Set that too, or remove "+c.Name+"."))
}

// encode writes the fragment for ids.
func (v *cell) encode(c *dsl.Setting) {
	value := v.value
	if later, ok := value.(option.Deferred); ok && c.Env {
		value = deferredText{string(later)}
	}
	if value != nil {
		v.json = slices.Concat(encode(c.Name), []byte(":"), encode(value))
	}
}

// deferredText is a variable with names in its text; it must not be equal to the same constant text in
// a digest.
type deferredText struct {
	Later string `json:"later"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans hold only finite numbers, strings and booleans
	}
	return b
}

// checkCombinations checks combinations of options in a run with cases.
func (t *Table) checkCombinations(run *runTable) {
	k := run.run.Workload
	if k.Check == nil || run.neverRuns() {
		return
	}
	rows := slices.Collect(run.distinctBy(k.Checked...))
	wrong, least := make([]error, len(rows)), make([]time.Duration, len(rows))
	timed, _ := k.Behaviour.(workload.Timed)
	onAllProcessors(len(rows), func(i int) {
		options := rows[i].options()
		if wrong[i] = check(k, options); wrong[i] == nil && timed != nil {
			least[i] = timed.LeastTime(options)
		}
	})
	t.checkTimeout(run, least)
	for _, err := range wrong {
		if err != nil {
			t.fail(run.rangeOf(err.Error()), "Options that do not go together",
				fmt.Sprintf("Run %q: %s.", run.run.Name, err),
				"Change one of them, or exclude the point.")
		}
	}
}

// checkTimeout refuses a run with a case that takes longer than its timeout by its options alone. A background load
// ends with the run that it is for.
func (t *Table) checkTimeout(run *runTable, least []time.Duration) {
	longest := slices.Max(append(least, 0))
	if limit := run.run.Timeout; longest > limit && run.run.While == nil {
		long := roundedTime(longest.Seconds())
		t.fail(run.rangeOf("duration rate trace"), "Timeout too short",
			fmt.Sprintf("Run %q: by its options a launch of a case takes at least %s, and its timeout is %s.",
				run.run.Name, long, roundedTime(limit.Seconds())),
			dsl.Hint(fmt.Sprintf("Add a timeout above %s to the run, or shorten the load.", long)))
	}
}

// onAllProcessors calls f for each index below n.
func onAllProcessors(n int, f func(i int)) {
	var workers sync.WaitGroup
	step := runtime.GOMAXPROCS(0)
	for first := range min(step, n) {
		workers.Go(func() {
			for i := first; i < n; i += step {
				f(i)
			}
		})
	}
	workers.Wait()
}

// check checks combinations of options, as far as their values are known.
func check(k *workload.Kind, options option.Values) error {
	said := map[string]bool{}
	err := k.Assume(options, func(assumed option.Values) error {
		err := k.Check(assumed)
		if err != nil {
			said[err.Error()] = true
		}
		return err
	})
	if len(said) > 1 {
		return nil // it depends on unknown values, and is checked again when they are known
	}
	return err
}

// optionWords returns the words of a message that may be names of options.
func optionWords(message string) []string {
	return strings.FieldsFunc(message, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
}

// warnOwnCells warns of the own cells that a run ignores.
func (t *Table) warnOwnCells(run *runTable) {
	known := map[string]bool{}
	cells, bytes := 0, int64(0)
	for r := range run.distinctBy("own_cells", "matrix") {
		text, _ := r.option("matrix").(string)
		if r.option("own_cells") == option.OwnIgnore && !known[text] {
			known[text] = true
			n, of := option.OwnCells(text)
			cells, bytes = cells+n, bytes+of
		}
	}
	if cells == 0 {
		return
	}
	t.warn(run.rangeOf("own_cells"), "Own cells are left out",
		fmt.Sprintf("%s from a rank to itself, %v together, are not sent in run %q.", plural(cells, "cell"),
			quantity.Size(bytes), run.run.Name), "")
}

// options returns the options of a row.
func (r *row) options() option.Values {
	out := maps.Clone(r.constant)
	if out == nil {
		out = option.Values{} // of a plan before this step
	}
	for _, c := range r.columns {
		if len(c.cells) > 1 && !c.Env {
			if v := c.of(r).value; v != nil {
				out[c.Name] = v
			}
		}
	}
	return out
}

// option returns the value of an option of a row, nil if it has none of the name.
func (r *row) option(name string) any {
	for _, c := range r.columns {
		if !c.Env && c.Name == name {
			return c.at(r).value
		}
	}
	return nil
}

// env returns the environment of a row: its variables, the names of those with workload.Deferred
// texts, and the names of those that are unset.
func (r *row) env() (env map[string]string, later, unset []string) {
	env = map[string]string{}
	for _, c := range r.columns {
		if !c.Env {
			continue
		}
		switch v := c.at(r).value.(type) {
		case string:
			env[c.Name] = v
		case option.Deferred:
			env[c.Name], later = string(v), append(later, c.Name)
		case dsl.Unset:
			unset = append(unset, c.Name)
		}
	}
	slices.Sort(unset)
	return env, later, unset
}

// rangeOf returns the place of the option that a message names, if the run sets it; otherwise the
// place of the run.
func (t *runTable) rangeOf(message string) hcl.Range {
	words := optionWords(message)
	at := t.run.Range
	for _, c := range t.columns { // the last one named: the others require it
		if given, own := c.Given(); own && !c.Env && slices.Contains(words, c.Name) {
			at = given
		}
	}
	return at
}
