package planner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/fabric"
	"weir/workload"
)

// idleVariables warns of axes that set a variable of a library which the fabric of some cases
// does not use: these cases differ in nothing but noise.
func (t *Table) idleVariables(s *sheet) {
	if _, ok := s.run.Workload.Option("fabric"); !ok {
		return
	}
	for axis, a := range s.run.Axes {
		name, isEnv := strings.CutPrefix(a.Name, "env.")
		readers := fabric.Readers(name)
		if !isEnv || len(readers) == 0 {
			continue
		}
		values := map[string]map[int32]bool{} // of the axis, by fabrics that do not read it
		for i := range s.live {
			moves, _ := s.option("fabric", i).(string)
			if moves == "" || t.unreadAt(s, i, name) == "" {
				continue
			}
			if values[moves] == nil {
				values[moves] = map[int32]bool{}
			}
			values[moves][s.columns[axis][i]] = true
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
		at := a.Range
		t.report(&hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Axis without effect", Subject: &at,
			Detail: fmt.Sprintf("%s tunes fabric %s; with fabric %s its values measure the same in run %q.", name,
				strings.Join(readers, " and "), strings.Join(idle, " and "), s.run.Name),
			Extra: dsl.Hint(fmt.Sprintf(`Exclude these points, as {when: fabric == %q && %s != null, reason: …} beside a value null, or sweep it in another run.`,
				idle[0], a.Name)),
		})
	}
}

// idleOptions refuses options that the run sets and that change nothing in any of its cases.
func (t *Table) idleOptions(s *sheet) {
	k := s.run.Workload
	if k.Idle == nil || s.live == 0 || t.diags.HasErrors() {
		return
	}
	var idle map[string]string // those of all cases
	work(s.by(s.axesOf(k.Checked)), func(i int) bool {
		own := idleOf(k, s.options(i))
		for name := range idle {
			if own[name] == "" {
				delete(idle, name)
			}
		}
		if idle == nil {
			idle = own
		}
		return true
	})
	for _, c := range s.settings {
		if at, given := c.Given(); given && !c.Env && idle[c.Name] != "" {
			t.fail(at, "Option without effect", fmt.Sprintf("Option %s changes nothing in run %q: %s.", c.Name,
				s.run.Name, idle[c.Name]), dsl.Hint("Remove it, or give what it needs."))
		}
	}
}

// caution warns of options that the run sets and with which its figures may mean something else than they seem to.
func (t *Table) caution(s *sheet) {
	k := s.run.Workload
	if k.Caution == nil || s.live == 0 {
		return
	}
	found := map[string]string{}
	work(s.by(s.axesOf(k.Checked)), func(i int) bool {
		maps.Copy(found, k.Caution(s.options(i)))
		return true
	})
	for _, c := range s.settings {
		if at, given := c.Given(); given && !c.Env && found[c.Name] != "" {
			t.report(&hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: "Figures to be read with care", Subject: &at,
				Detail: fmt.Sprintf("Option %s of run %q: %s.", c.Name, s.run.Name, found[c.Name]),
			})
		}
	}
}

// idleOf are the options that change nothing in a case, whatever those are that are not known yet.
func idleOf(k *workload.Kind, options workload.Values) map[string]string {
	var out map[string]string
	_ = k.Assume(options, func(assumed workload.Values) error {
		if out = k.Idle(assumed); len(out) > 0 {
			return errors.New("with other values it may be otherwise")
		}
		return nil
	})
	return out
}
