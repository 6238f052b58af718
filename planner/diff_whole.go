// Comparison of the parts of two plans that belong to no case.

package planner

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// plan compares everything in the digest that is not part of a case.
func (x *Change) plan(old, now *Plan) {
	if !reflect.DeepEqual(old.Cluster, now.Cluster) {
		x.note(Whole, "cluster: %s → %s", old.Cluster, now.Cluster)
	}
	x.lists("check", texts(old.Checks), texts(now.Checks))
	x.lists("artifact", texts(old.Artifacts), texts(now.Artifacts))
	x.commands("setup", old.Setup, now.Setup)
	x.commands("teardown", old.Teardown, now.Teardown)
	if old.BaselineMissing != now.BaselineMissing {
		x.note(Whole, "baseline missing: %s → %s", orNone(old.BaselineMissing), orNone(now.BaselineMissing))
	}
	if was, is := policyText(old.Inconclusive), policyText(now.Inconclusive); was != is {
		x.note(Whole, "inconclusive: %s → %s", orNone(was), orNone(is))
	}
	if old.Baseline != now.Baseline {
		x.note(Whole, "baseline: %s → %s", orNone(old.Baseline), orNone(now.Baseline))
	}
	x.runs(old, now)
	x.multiCase(old.Assertions, now.Assertions)
}

// runs compares the settings that the cases of a run share.
func (x *Change) runs(old, now *Plan) {
	for _, r := range now.Runs {
		if o := old.run(r.Name); o != nil {
			x.run(o, r)
		} else {
			x.note(Whole, "run %s: is new", r.Name)
		}
	}
	for _, r := range old.Runs {
		if now.run(r.Name) == nil {
			x.note(Whole, "run %s: is gone", r.Name)
		}
	}
}

func (x *Change) run(o, r *Run) {
	text := func(what, a, b string) {
		if a != b {
			x.note(Whole, "run %s: %s: %s → %s", r.Name, what, orNone(a), orNone(b))
		}
	}
	text("order", o.Order.text(), r.Order.text())
	text("retry", o.Retry.text(), r.Retry.text())
	text("while", o.While, r.While)
	text("may fail", o.mayFailText(), r.mayFailText())
	text("metrics", metricsText(o.Metrics), metricsText(r.Metrics))
	phases := slices.Concat(slices.Collect(maps.Keys(o.Phases)), slices.Collect(maps.Keys(r.Phases)))
	slices.Sort(phases)
	for _, phase := range slices.Compact(phases) {
		text("timeout of "+phase, phaseText(o.Phases, phase), phaseText(r.Phases, phase))
	}
	for _, c := range []struct {
		what     string
		old, now []Command
	}{
		{"setup", o.Setup, r.Setup}, {"teardown", o.Teardown, r.Teardown},
		{"setup of each launch", o.LaunchSetup, r.LaunchSetup},
		{"teardown of each launch", o.LaunchTeardown, r.LaunchTeardown},
	} {
		x.commands("run "+r.Name+": "+c.what, c.old, c.now)
	}
}

func (x *Change) commands(what string, old, now []Command) {
	a, b := texts(old), texts(now)
	if slices.Equal(a, b) && !bytes.Equal(encode(old), encode(now)) {
		x.note(Whole, "%s: named otherwise", what)
	}
	x.lists(what, a, b)
}

// texts returns the texts of checks, artifacts or commands.
func texts[T interface{ text() string }](list []T) (all []string) {
	for _, item := range list {
		all = append(all, item.text())
	}
	return all
}

// lists compares the texts of commands; their order counts.
func (x *Change) lists(what string, old, now []string) {
	if slices.Equal(old, now) {
		return
	}
	gone, added := without(old, now), without(now, old)
	for _, s := range gone {
		x.note(Whole, "%s no longer: %s", what, s)
	}
	for _, s := range added {
		x.note(Whole, "%s now: %s", what, s)
	}
	if len(gone)+len(added) == 0 {
		x.note(Whole, "%s: in another order or number", what)
	}
}

// multiCase compares assertions over several cases.
func (x *Change) multiCase(old, now []assertion.Assertion) {
	gone, added := unmatched(old, now), unmatched(now, old)
	for _, s := range without(gone, added) {
		x.note(Whole, "no longer asserted: %s", s)
	}
	for _, s := range without(added, gone) {
		x.note(Whole, "asserted now: %s", s)
	}
	for _, s := range added {
		if slices.Contains(gone, s) {
			x.note(Whole, "other cases or decision settings: %s", s)
		}
	}
}

// unmatched returns the distinct texts of the assertions that are not equal to any of the others.
func unmatched(list, others []assertion.Assertion) []string {
	known := map[string]bool{}
	for _, a := range others {
		known[a.Key()] = true
	}
	var out []string
	for _, a := range list {
		if !known[a.Key()] {
			out = append(out, a.Inequality())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func phaseText(phases map[string]float64, name string) string {
	if s, ok := phases[name]; ok {
		return quantity.ShortSeconds(s)
	}
	return ""
}

func orNone(text string) string { return cmp.Or(text, "none") }
