package planner

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"weir/quantity"
	"weir/workload"
)

// Change is how one case of a plan differs from the case of the same key in
// another plan, or how the plans differ in what belongs to no single case.
type Change struct {
	Key  string // of the case; "" of Whole
	Kind ChangeKind
	Why  []string // what differs, in words; of a new or a gone case nothing
}

// ChangeKind says what a change means for results that exist.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "new"    // would run for the first time
	Removed ChangeKind = "gone"   // is in the old plan only
	Rerun   ChangeKind = "rerun"  // does something else: old measurements do not count
	Rejudge ChangeKind = "judge"  // does the same and is judged otherwise: old measurements do
	Moved   ChangeKind = "detail" // neither: when it runs, or what it waits for
	Whole   ChangeKind = "plan"   // is of the plan and not of a case
)

// Diff compares two plans: what differs in the plan as a whole, the changes of cases
// in the order of the new plan, then what is gone, and how many cases are as they were.
func Diff(old, now *Plan) (changes []Change, same int) {
	var whole Change
	if whole.whole(old, now); whole.Kind != "" {
		changes = append(changes, whole)
	}
	before := map[string]*Case{}
	for _, c := range old.Cases {
		before[c.Key] = c
	}
	aroundOld, aroundNow := old.surroundings(), now.surroundings()
	looksOld, looksNow := old.looks(), now.looks()
	for _, c := range now.Cases {
		o := before[c.Key]
		delete(before, c.Key)
		if o == nil {
			changes = append(changes, Change{Key: c.Key, Kind: Added})
			continue
		}
		x := Change{Key: c.Key}
		around := string(aroundOld[o.Run]) != string(aroundNow[c.Run])
		if x.action(o, c, around); len(x.Why) > 0 {
			x.Kind = Rerun
		}
		x.judgement(o, c, looksOld[c.Key], looksNow[c.Key])
		x.place(o, c)
		if x.Kind == "" {
			same++
			continue
		}
		changes = append(changes, x)
	}
	for _, c := range old.Cases {
		if before[c.Key] != nil {
			changes = append(changes, Change{Key: c.Key, Kind: Removed})
		}
	}
	if len(changes) == 0 && old.Digest != now.Digest {
		// Whoever refuses one for the other points here, so it must not read as if they were alike.
		whole.note(Whole, "digest: %s → %s, by what shares launches or runs beside them", old.Digest, now.Digest)
		changes = append(changes, whole)
	}
	return changes, same
}

func (p *Plan) looks() map[string]string {
	out := map[string]string{}
	for _, g := range p.Groups {
		for _, key := range g.Cases {
			out[key] = strings.Trim(fmt.Sprint(g.Looks), "[]")
		}
	}
	return out
}

func (x *Change) note(kind ChangeKind, format string, args ...any) {
	if x.Kind == "" {
		x.Kind = kind
	}
	x.Why = append(x.Why, fmt.Sprintf(format, args...))
}

// action compares what the cases do.
func (x *Change) action(o, c *Case, around bool) {
	if o.Workload != c.Workload {
		x.note(Rerun, "workload: %s → %s", o.Workload, c.Workload)
	}
	texts := func(v workload.Values) map[string]string {
		out := map[string]string{}
		for name, value := range v {
			out[name] = workload.Text(value)
		}
		return out
	}
	x.entries("", texts(o.Options), texts(c.Options), c.show)
	x.entries("env ", o.envTexts(), c.envTexts(), nil)
	x.entries("secret ", o.Secrets, c.Secrets, nil)
	if !reflect.DeepEqual(o.Place, c.Place) {
		x.note(Rerun, "place: %s → %s", o.Place, c.Place)
	}
	if around {
		x.note(Rerun, "setup commands or background load")
	}
}

// envTexts are the variables of the case; one that it leaves unset is null.
func (c *Case) envTexts() map[string]string {
	out := map[string]string{}
	for name, value := range c.environment() {
		out[name] = workload.Text(value)
	}
	return out
}

// entries compares settings, which show writes for a person.
func (x *Change) entries(what string, o, c map[string]string, show func(name string, v any) string) {
	if show == nil {
		show = func(_ string, v any) string { return workload.Text(v) }
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
		case a != b && show(name, a) == show(name, b): // matrices, shown by what they amount to
			x.note(Rerun, "%s%s: other cells of %s", what, name, show(name, a))
		case a != b:
			x.note(Rerun, "%s%s: %s → %s", what, name, show(name, a), show(name, b))
		}
	}
}

// judgement compares what is asserted of the cases.
func (x *Change) judgement(o, c *Case, looksOld, looksNow string) {
	a, b := judged(o.Assertions), judged(c.Assertions)
	if !slices.Equal(a, b) {
		texts := func(k *Case) []string {
			var out []string
			for _, s := range k.Assertions {
				out = append(out, s.Lowered)
			}
			return out
		}
		gone, added := without(texts(o), texts(c)), without(texts(c), texts(o))
		for _, s := range gone {
			x.note(Rejudge, "no longer asserted: %s", s)
		}
		for _, s := range added {
			x.note(Rejudge, "asserted now: %s", s)
		}
		if len(gone)+len(added) == 0 {
			x.note(Rejudge, "assertions: severity or how they are decided")
		}
	}
	if looksOld != looksNow && looksOld != "" && looksNow != "" {
		x.note(Rejudge, "looks after launches: %s → %s", looksOld, looksNow)
	}
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

// WriteDiff writes changes for a person, the most consequential first.
func WriteDiff(w io.Writer, changes []Change, same int) error {
	rank := map[ChangeKind]int{Whole: -1, Rerun: 0, Added: 1, Rejudge: 2, Moved: 3, Removed: 4}
	meaning := map[ChangeKind]string{
		Rerun: "would be measured again", Added: "would be measured for the first time",
		Rejudge: "would be judged again, from the same measurements", Moved: "differ in when they run",
		Removed: "are gone",
	}
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b Change) int { return cmp.Compare(rank[a.Kind], rank[b.Kind]) })
	var b strings.Builder
	last := ChangeKind("")
	for _, c := range sorted {
		switch {
		case c.Kind == last:
		case c.Kind == Whole:
			b.WriteString("the plan as a whole: differs\n")
			last = c.Kind
		default:
			n := 0
			for _, o := range changes {
				if o.Kind == c.Kind {
					n++
				}
			}
			fmt.Fprintf(&b, "%s: %s\n", plural(n, "case"), meaning[c.Kind])
			last = c.Kind
		}
		indent := "  "
		if c.Kind != Whole {
			fmt.Fprintf(&b, "  %s\n", c.Key)
			indent = "    "
		}
		for _, why := range c.Why {
			b.WriteString(indent + why + "\n")
		}
	}
	fmt.Fprintf(&b, "%s: as before\n", plural(same, "case"))
	_, err := io.WriteString(w, b.String())
	return err
}
