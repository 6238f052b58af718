// Options and variables without effect.

package planner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// warnIdleVariables warns of axes over a variable of a library that the fabric of some cases does not
// use: these cases differ only by noise.
func (t *Table) warnIdleVariables(run *runTable) {
	if _, ok := run.run.Workload.Option("fabric"); !ok {
		return
	}
	for axis, a := range run.run.Axes {
		name, isEnv := strings.CutPrefix(a.Name, "env.")
		readers := fabric.Readers(name)
		if !isEnv || len(readers) == 0 {
			continue
		}
		values := map[string]map[int32]bool{} // values of the axis, by fabrics that do not read it
		for _, r := range run.rows {
			moves, _ := r.option("fabric").(string)
			if moves == "" || t.unreadAt(r, name) == "" {
				continue
			}
			if values[moves] == nil {
				values[moves] = map[int32]bool{}
			}
			values[moves][r.values[axis]] = true
		}
		var idle []string
		for moves, of := range values {
			if len(of) > 1 {
				idle = append(idle, moves)
			}
		}
		if len(idle) == 0 {
			continue
		}
		slices.Sort(idle)
		t.warn(a.Range, "Axis without effect",
			fmt.Sprintf("%s affects only fabric %s; with fabric %s its values make no difference in run %q.", name,
				strings.Join(readers, " and "), strings.Join(idle, " and "), run.run.Name),
			dsl.Hint(fmt.Sprintf(`Sweep it in a run of its own. Or add null to its values, and exclude {when: fabric == %q && %s != null, reason: …}.`,
				idle[0], a.Name)))
	}
}

// refuseIdleOptions refuses options of the run that have no effect in any of its cases.
func (t *Table) refuseIdleOptions(run *runTable) {
	k := run.run.Workload
	b, ok := k.Behaviour.(workload.OptionJudge)
	if !ok || len(run.rows) == 0 || t.diags.HasErrors() {
		return
	}
	var idle map[string]string // common to all cases
	for r := range run.distinctBy(k.Checked...) {
		own := idleOptions(k, b, r.options())
		for name := range idle {
			if own[name] == "" {
				delete(idle, name)
			}
		}
		if idle == nil {
			idle = own
		}
	}
	for _, c := range run.columns {
		if at, given := c.Given(); given && !c.Env && idle[c.Name] != "" {
			t.fail(at, "Option without effect", fmt.Sprintf("Option %s changes nothing in run %q: %s.", c.Name,
				run.run.Name, idle[c.Name]), dsl.Hint("Remove it, or set what it needs."))
		}
	}
}

// warnMisleading warns of options with which the run's results may be misread.
func (t *Table) warnMisleading(run *runTable) {
	k := run.run.Workload
	b, ok := k.Behaviour.(workload.OptionJudge)
	if !ok || len(run.rows) == 0 {
		return
	}
	found := map[string]string{}
	for r := range run.distinctBy(k.Checked...) {
		maps.Copy(found, b.Caution(r.options()))
	}
	for _, c := range run.columns {
		if at, given := c.Given(); given && !c.Env && found[c.Name] != "" {
			t.warn(at, "Results may be misleading",
				fmt.Sprintf("Option %s of run %q: %s.", c.Name, run.run.Name, found[c.Name]), "")
		}
	}
}

// idleOptions returns the options without effect in a case, for all possible values of unknown options.
func idleOptions(k *workload.Kind, b workload.OptionJudge, options option.Values) map[string]string {
	var out map[string]string
	_ = k.Assume(options, func(assumed option.Values) error {
		if out = b.Idle(assumed); len(out) > 0 {
			return errors.New("the result may differ with other values")
		}
		return nil
	})
	return out
}
