package planner

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"

	"weir/assertion"
	"weir/quantity"
)

// whole compares what belongs to no single case, as far as the digest covers it.
func (x *Change) whole(old, now *Plan) {
	if !reflect.DeepEqual(old.Cluster, now.Cluster) {
		x.note(Whole, "cluster: %s → %s", old.Cluster, now.Cluster)
	}
	x.lists("check", old.checkTexts(), now.checkTexts())
	x.lists("artifact", old.artifactTexts(), now.artifactTexts())
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
	x.runs(old.Runs, now.Runs)
	x.across(old.Assertions, now.Assertions)
}

// runs compares what the cases of a run have in common.
func (x *Change) runs(old, now []*Run) {
	before := map[string]*Run{}
	for _, r := range old {
		before[r.Name] = r
	}
	for _, r := range now {
		o := before[r.Name]
		delete(before, r.Name)
		if o == nil {
			x.note(Whole, "run %s: is new", r.Name)
			continue
		}
		x.run(o, r)
	}
	for _, r := range old {
		if before[r.Name] != nil {
			x.note(Whole, "run %s: is gone", r.Name)
		}
	}
}

func (x *Change) run(o, r *Run) {
	texts := func(what, a, b string) {
		if a != b {
			x.note(Whole, "run %s: %s: %s → %s", r.Name, what, orNone(a), orNone(b))
		}
	}
	texts("order", o.Order.text(), r.Order.text())
	texts("retry", o.Retry.text(), r.Retry.text())
	texts("while", o.While, r.While)
	texts("may fail", o.mayFailText(), r.mayFailText())
	texts("metrics", metricsText(o.Metrics), metricsText(r.Metrics))
	phases := slices.Concat(slices.Collect(maps.Keys(o.Phases)), slices.Collect(maps.Keys(r.Phases)))
	slices.Sort(phases)
	for _, phase := range slices.Compact(phases) {
		texts("timeout of "+phase, phaseText(o.Phases, phase), phaseText(r.Phases, phase))
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
	texts := func(list []Command) []string {
		var out []string
		for _, c := range list {
			out = append(out, c.text())
		}
		return out
	}
	a, b := texts(old), texts(now)
	if slices.Equal(a, b) && !bytes.Equal(encode(old), encode(now)) {
		x.note(Whole, "%s: named otherwise", what)
	}
	x.lists(what, a, b)
}

// lists compares commands as they are shown; their order counts.
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

// across compares assertions over several cases.
func (x *Change) across(old, now []assertion.Assertion) {
	gone, added := unmatched(old, now), unmatched(now, old)
	for _, s := range without(gone, added) {
		x.note(Whole, "no longer asserted: %s", s)
	}
	for _, s := range without(added, gone) {
		x.note(Whole, "asserted now: %s", s)
	}
	for _, s := range added {
		if slices.Contains(gone, s) {
			x.note(Whole, "asserted of other cases, or decided otherwise: %s", s)
		}
	}
}

// unmatched are the texts of the assertions to which none among others is the
// same, each text once.
func unmatched(list, others []assertion.Assertion) []string {
	known := map[string]bool{}
	for _, a := range others {
		known[a.Key()] = true
	}
	var out []string
	for _, a := range list {
		if !known[a.Key()] {
			out = append(out, a.Lowered)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *Plan) checkTexts() []string {
	var out []string
	for _, c := range p.Checks {
		out = append(out, c.text())
	}
	return out
}

func (p *Plan) artifactTexts() []string {
	var out []string
	for _, a := range p.Artifacts {
		out = append(out, a.text())
	}
	return out
}

func phaseText(phases map[string]float64, name string) string {
	if s, ok := phases[name]; ok {
		return quantity.ShortSeconds(s)
	}
	return ""
}

func orNone(text string) string { return cmp.Or(text, "none") }
