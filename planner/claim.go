// Step claim: what documents say of cases.

package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// claim attaches claims to the cases that they are about. Of claims that say the same of several runs, as of one for
// each way to measure, those of cases that `when` leaves out go.
func claim(t *Table) {
	if t.diags.HasErrors() {
		return
	}
	var all []claimed
	for _, c := range t.scenario.Claims {
		if run := t.table(c.Run.Name); run != nil {
			all = append(all, t.claim(run, c)...)
		}
	}
	for _, c := range all {
		twin := func(o claimed) bool { return o.row.reason == "" && o.Same(c.Claim) }
		if c.row.reason == "" || !slices.ContainsFunc(all, twin) {
			t.head.Claims = append(t.head.Claims, c.Claim)
		}
	}
}

// claimed is a claim about a row.
type claimed struct {
	assertion.Claim
	row *row
}

// claim attaches one claim. One that requires something may be about no case: a variable can leave out its case.
func (t *Table) claim(run *runTable, c *dsl.Claim) (all []claimed) {
	for _, r := range run.rows {
		if t.deadlineExceeded(c.Range) {
			return nil
		}
		ok, failed := t.isClaimed(r, c)
		if failed {
			return nil
		}
		if !ok {
			continue
		}
		out, ok := t.claimOf(r, c)
		if !ok {
			return nil
		}
		all = append(all, claimed{out, r})
	}
	if len(all) == 0 && len(c.Requires) == 0 {
		t.fail(c.Range, "Claim matches no case",
			fmt.Sprintf("None of the %d cases of run %q is one of the claim.", len(run.rows), run.run.Name),
			"Correct where or variant, or remove the claim.")
	}
	return all
}

// isClaimed reports whether a claim is about a case.
func (t *Table) isClaimed(r *row, c *dsl.Claim) (ok, failed bool) {
	if c.Variant != "" && r.scope().Texts[workload.VariantAxis] != c.Variant {
		return false, false
	}
	if c.Where == nil {
		return true, false
	}
	return t.meets(r.scope(), c, c.Where, "where")
}

// circumstances are the values that requires of a claim may name.
func (t *Table) circumstances(r *row) dsl.Scope {
	s := r.scope()
	if _, axis := s.Axes[dsl.NodesName]; !axis {
		s.Axes[dsl.NodesName] = int64(t.place(r.run, r.ranks()).Nodes)
	}
	env, _, _ := r.env()
	for _, setting := range r.columns {
		if name := "env." + setting.Name; setting.Env {
			if s.Axes[name] = nil; env[setting.Name] != "" {
				s.Axes[name] = env[setting.Name]
			}
		}
	}
	return s
}

// meets reports whether a case meets a condition of a claim, which stands at a key.
func (t *Table) meets(s dsl.Scope, c *dsl.Claim, condition *dsl.Condition, key string) (ok, failed bool) {
	ok, err := condition.Eval(s)
	if err != nil {
		t.fail(c.Range, "Condition cannot be evaluated", fmt.Sprintf("The %s of the claim: %s.", key, err),
			"Correct the condition.")
	}
	return ok, err != nil
}

// claimOf is a claim about one case.
func (t *Table) claimOf(r *row, c *dsl.Claim) (assertion.Claim, bool) {
	out := assertion.Claim{
		Run: r.run.Name, Case: r.key(), Metric: c.Metric.Name, Unit: c.Metric.Unit, Better: string(c.Metric.Better),
		Expected: c.Value, Written: c.Text, Tolerance: c.Tolerance, Source: c.Source, Date: c.Date,
		Configuration: c.Configuration, Says: c.Says, File: c.Range.Filename, Line: c.Range.Start.Line,
	}
	var ok bool
	if out.Differs, ok = t.unmet(r, c); !ok {
		return out, false
	}
	if c.Gain {
		base := t.otherVariant(r, c.Against)
		if base == nil {
			t.fail(c.Range, "Claim without a case to compare with",
				fmt.Sprintf("Case %s has no counterpart of variant %q.", r.key(), c.Against),
				"Correct the sweep, or choose cases by where.")
			return out, false
		}
		out.BaseCase = base.key()
		return out, true
	}
	out.Implausible = t.implausible(r, c, out.Differs != "")
	return out, true
}

// unmet are the conditions of a claim that a case does not meet, each with the case's values; "": it meets all. Not ok:
// one cannot be evaluated, which has been reported.
func (t *Table) unmet(r *row, c *dsl.Claim) (text string, ok bool) {
	var all []string
	if len(c.Requires) == 0 || r.reason != "" { // a case that does not run may lack what they name
		return "", true
	}
	s := t.circumstances(r)
	for _, condition := range c.Requires {
		ok, failed := t.meets(s, c, condition, "requires")
		if failed {
			return "", false
		}
		if !ok {
			text := condition.Text()
			if values := valuesIn(s, condition.Names()); values != "" {
				text += ", but " + values
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, "; "), true
}

// valuesIn are the values of names, as "memory is dram and tokens is 7".
func valuesIn(s dsl.Scope, names []string) string {
	var all []string
	for _, name := range names {
		text, ok := s.Texts[name]
		v := s.Options[name]
		if v == nil {
			v = s.Axes[name]
		}
		switch {
		case ok:
		case v != nil:
			text = quantity.Text(v)
		default:
			text = "null"
		}
		all = append(all, name+" is "+text)
	}
	return strings.Join(all, " and ")
}

// otherVariant is the case with another variant and the same values of all other axes; nil: none.
func (t *Table) otherVariant(r *row, variant string) *row {
	same := func(o *row) bool {
		for i, a := range r.run.Axes {
			if want := r.value(i).Text; a.Name == workload.VariantAxis && o.value(i).Text != variant ||
				a.Name != workload.VariantAxis && o.value(i).Text != want {
				return false
			}
		}
		return true
	}
	for _, o := range r.rows {
		if same(o) {
			return o
		}
	}
	return nil
}

// implausible says why a case cannot reach the value of a claim; "": nothing is known against it. A limit of
// the links of the site is a warning besides; one that the claim has itself is known to its author. The path of a case
// that differs from what the document measured says nothing of the document.
func (t *Table) implausible(r *row, c *dsl.Claim, differs bool) string {
	unit := c.Metric.Unit
	if c.Plausible > 0 {
		if c.Value <= c.Plausible {
			return ""
		}
		return fmt.Sprintf("%s is more than %s, the most that is plausible", c.Text, quantity.Format(c.Plausible, unit))
	}
	path, known := t.pathOf(r)
	if differs || !known || c.Metric.Name != workload.Bandwidth || unit != "GB/s" || c.Value <= path.carries() {
		return ""
	}
	why := fmt.Sprintf("%s is more than %s", c.Text, path.text())
	t.warn(c.Range, "Implausible claim", fmt.Sprintf("%s, of run %q: %s.", strings.TrimSuffix(c.Source, "."),
		r.run.Name, why), "It stays in reports, marked as implausible.")
	return why
}
