// Comparison of the cases of two plans.

package planner

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results/assertion"
)

// Change is the difference between a case of a plan and the case with the same key of another plan,
// or between the plans themselves.
type Change struct {
	Key  string // of the case; "" for Whole
	Kind ChangeKind
	Why  []string // the differences in words; nil for a new or removed case
}

// ChangeKind tells how a change affects existing results.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "new"    // would run for the first time
	Removed ChangeKind = "gone"   // only in the old plan
	Rerun   ChangeKind = "rerun"  // does something else: old measurements are not valid
	Rejudge ChangeKind = "judge"  // does the same but is judged differently: old measurements are valid
	Moved   ChangeKind = "detail" // neither: only the time or the order differ
	Whole   ChangeKind = "plan"   // a change of the plan, not of a case
)

// Diff compares two plans. It returns changes of the plan, changes of cases in the order of the new
// plan, removed cases, and the number of unchanged cases.
func Diff(old, now *Plan) (changes []Change, same int) {
	var whole Change
	if whole.plan(old, now); whole.Kind != "" {
		changes = append(changes, whole)
	}
	contextsOld, contextsNow := old.contexts(), now.contexts()
	looksOld, looksNow := old.looks(), now.looks()
	for _, c := range now.Cases {
		o := old.keyed()[c.Key]
		if o == nil {
			changes = append(changes, Change{Key: c.Key, Kind: Added})
			continue
		}
		x := Change{Key: c.Key}
		x.action(o, c, !bytes.Equal(contextsOld[o.Run], contextsNow[c.Run]))
		x.judgement(o, c, looksOld[c.Key], looksNow[c.Key])
		x.place(o, c)
		if x.Kind == "" {
			same++
			continue
		}
		changes = append(changes, x)
	}
	for _, c := range old.Cases {
		if now.keyed()[c.Key] == nil {
			changes = append(changes, Change{Key: c.Key, Kind: Removed})
		}
	}
	if len(changes) == 0 && old.Digest != now.Digest {
		// The text names the digest, since other commands refuse a plan with another digest and
		// point here.
		whole.note(Whole, "digest: %s → %s, by what shares launches or runs beside them", old.Digest, now.Digest)
		changes = append(changes, whole)
	}
	return changes, same
}

func (p *Plan) looks() map[string]string {
	out := map[string]string{}
	for key, g := range p.groupsByCase() {
		out[key] = strings.Trim(fmt.Sprint(g.Looks), "[]")
	}
	return out
}

func (x *Change) note(kind ChangeKind, format string, args ...any) {
	if x.Kind == "" {
		x.Kind = kind
	}
	x.Why = append(x.Why, fmt.Sprintf(format, args...))
}

// action compares the work of the cases.
func (x *Change) action(o, c *Case, moved bool) {
	if o.Workload != c.Workload {
		x.note(Rerun, "workload: %s → %s", o.Workload, c.Workload)
	}
	texts := func(v option.Values) map[string]string {
		out := map[string]string{}
		for name, value := range v {
			out[name] = option.Text(value)
		}
		return out
	}
	x.entries("", texts(o.Options), texts(c.Options), c.show)
	x.entries("env ", o.envTexts(), c.envTexts(), func(name string, value any) string {
		if o.Secrets[name] != "" || c.Secrets[name] != "" {
			return redact.Redacted // a literal value of one plan is a secret of the other
		}
		return option.Text(value)
	})
	x.entries("secret ", o.Secrets, c.Secrets, nil)
	if !reflect.DeepEqual(o.Place, c.Place) {
		x.note(Rerun, "place: %s → %s", o.Place, c.Place)
	}
	if moved {
		x.note(Rerun, "setup commands or background load")
	}
}

// envTexts returns the variables of the case as text; an unset one is null.
func (c *Case) envTexts() map[string]string {
	out := map[string]string{}
	for name, value := range c.environment() {
		out[name] = option.Text(value)
	}
	return out
}

// entries compares settings; show formats a value for display.
func (x *Change) entries(what string, o, c map[string]string, show func(name string, v any) string) {
	if show == nil {
		show = func(_ string, v any) string { return option.Text(v) }
	}
	names := slices.Collect(maps.Keys(o))
	names = append(names, slices.Collect(maps.Keys(c))...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, had := o[name]
		b, has := c[name]
		switch {
		case !had:
			x.note(Rerun, "%s%s: %q is new", what, name, show(name, b))
		case !has:
			x.note(Rerun, "%s%s: %q is gone", what, name, show(name, a))
		case a != b && show(name, a) == show(name, b): // matrices, displayed as a summary
			x.note(Rerun, "%s%s: other cells of %s", what, name, show(name, a))
		case a != b:
			x.note(Rerun, "%s%s: %s → %s", what, name, show(name, a), show(name, b))
		}
	}
}

// judgement compares the assertions of the cases.
func (x *Change) judgement(o, c *Case, looksOld, looksNow string) {
	a, b := judged(o.Assertions), judged(c.Assertions)
	if !slices.Equal(a, b) {
		was, is := lowered(o.Assertions), lowered(c.Assertions)
		gone, added := without(was, is), without(is, was)
		for _, s := range gone {
			x.note(Rejudge, "no longer asserted: %s", s)
		}
		for _, s := range added {
			x.note(Rejudge, "asserted now: %s", s)
		}
		if len(gone)+len(added) == 0 {
			x.note(Rejudge, "assertions: severity or decision settings")
		}
	}
	if looksOld != looksNow && looksOld != "" && looksNow != "" {
		x.note(Rejudge, "looks after launches: %s → %s", looksOld, looksNow)
	}
}

func lowered(list []assertion.Assertion) (texts []string) {
	for _, a := range list {
		texts = append(texts, a.Inequality())
	}
	return texts
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// place compares when the cases run.
func (x *Change) place(o, c *Case) {
	if o.Status != c.Status || o.Reason != c.Reason {
		x.note(Moved, "status: %s → %s", o.state(), c.state())
	}
	if o.When != c.When {
		x.note(Moved, "when: %q → %q", o.When, c.When)
	}
	if o.Timeout != c.Timeout {
		x.note(Moved, "timeout: %s → %s", quantity.ShortSeconds(o.Timeout), quantity.ShortSeconds(c.Timeout))
	}
	if !slices.Equal(o.needed(), c.needed()) {
		x.note(Moved, "needs: %d cases → %d", len(o.Needs), len(c.Needs))
	}
}

func (c *Case) state() string {
	if c.Reason == "" {
		return c.Status
	}
	return c.Status + " (" + c.Reason + ")"
}

// WriteDiff writes changes for people, the most important first.
func WriteDiff(w io.Writer, changes []Change, same int) error {
	kinds := []struct {
		kind    ChangeKind
		meaning string
	}{
		{Rerun, "would be measured again"}, {Added, "would be measured for the first time"},
		{Rejudge, "would be judged again, from the same measurements"}, {Moved, "differ in when they run"},
		{Removed, "are gone"},
	}
	var b strings.Builder
	for _, c := range changes {
		if c.Kind == Whole {
			fmt.Fprintf(&b, "the plan as a whole: differs\n  %s\n", strings.Join(c.Why, "\n  "))
		}
	}
	for _, k := range kinds {
		own := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind != k.kind })
		if len(own) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", plural(len(own), "case"), k.meaning)
		}
		for _, c := range own {
			fmt.Fprintf(&b, "  %s\n", c.Key)
			for _, why := range c.Why {
				b.WriteString("    " + why + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "%s: as before\n", plural(same, "case"))
	_, err := io.WriteString(w, b.String())
	return err
}
