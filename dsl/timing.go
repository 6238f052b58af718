// Deadlines, retries and numbers of launches.

package dsl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
)

// deadlines bound one launch of one case, and phases of it.
type deadlines struct {
	launch time.Duration
	phases map[string]time.Duration // nil: no phase has a deadline of its own
}

// deadlines reads `timeout`, a time or a section; d has the values that it overrides.
func (l *loader) deadlines(content *hcl.BodyContent, d deadlines) deadlines {
	if expr := argument(content, "timeout"); expr != nil && !isMapping(expr) {
		d.launch = l.duration(expr, "timeout")
		return d
	}
	inner := l.sectionContent(content, "timeout", schemaOf(grammar.Timeouts))
	if inner == nil {
		return d
	}
	d.phases = maps.Clone(d.phases)
	if expr := argument(inner, "launch"); expr != nil {
		d.launch = l.duration(expr, "launch")
	}
	for _, k := range grammar.Timeouts {
		expr := argument(inner, k.Name)
		if expr == nil || k.Name == "launch" {
			continue
		}
		phase := l.duration(expr, k.Name)
		if phase > d.launch && d.launch > 0 {
			l.error(expr.Range(), "Deadline without effect",
				fmt.Sprintf("%s may take %s, but the whole launch only %s.", k.Name, phase, d.launch),
				"Give launch a longer time, or this phase a shorter one.")
		}
		if d.phases == nil {
			d.phases = map[string]time.Duration{}
		}
		d.phases[k.Name] = phase
	}
	return d
}

// retry reads a count or a section; nil: never, or not given.
func (l *loader) retry(content *hcl.BodyContent) *Retry {
	r := &Retry{On: defaultList(grammar.Retry, "on")}
	if expr := argument(content, "retry"); expr != nil && !isMapping(expr) {
		r.Times = l.count(expr, "retry", 0, grammar.MostRetries)
		return r.orNever()
	}
	p, ok := l.sectionOf(content, "retry", grammar.Retry, r)
	if !ok {
		return nil
	}
	if expr := argument(p.BodyContent, "on"); expr != nil {
		r.On = l.failures(expr)
	}
	return r.orNever()
}

func (r *Retry) orNever() *Retry {
	if r.Times == 0 {
		return nil
	}
	return r
}

// failures reads the kinds of failures that are retried.
func (d *decoder) failures(expr hcl.Expression) []string {
	on, _ := grammar.Find(grammar.Retry, "on")
	list, _ := on.Form(grammar.List)
	known := list.Item[0].Values
	items, isList, whole := d.list(expr, "on")
	if !isList {
		d.error(expr.Range(), "Not a list", "on is a list of kinds of failures.",
			"Write ["+strings.Join(known, ", ")+"].")
		return nil
	}
	if len(items) == 0 && whole {
		d.error(expr.Range(), "Invalid value", "on is empty, so nothing would be retried.",
			"Name kinds of failures, or set times to 0.")
	}
	var out []string
	for _, i := range items {
		switch {
		case slices.Contains(out, i.text):
			d.error(i.at, "Duplicate value", fmt.Sprintf("%q was already named.", i.text), "Name it once.")
		case !slices.Contains(known, i.text):
			d.error(i.at, "Invalid value", fmt.Sprintf("There is no kind of failure %q.", i.text),
				suggest.Sentence(i.text, known, "kinds"))
		default:
			out = append(out, i.text)
		}
	}
	return out
}

// defaultList is the default of a key as the grammar writes it, as [a, b].
func defaultList(keys []grammar.Key, name string) []string {
	k, _ := grammar.Find(keys, name)
	return splitList(k.Default)
}

// launches reads the looks of the sequential gate; a plain number is one look.
func (d *decoder) launches(expr hcl.Expression) []int {
	items, isList, whole := d.list(expr, "launches")
	if !isList {
		return []int{d.count(expr, "launches", 1, 1000)}
	}
	var looks []int
	last := 0
	for _, i := range items {
		n := d.countText(i, "a number of launches", 1, math.MaxInt32)
		if n > 1000 {
			d.error(i.at, "Invalid value", fmt.Sprintf("%d launches exceed the limit of 1000.", n), "")
		}
		if n <= last {
			d.error(i.at, "Invalid value", fmt.Sprintf("%d is not above %d: the list must ascend.", n, last),
				"Write them as [3, 5, 8, 12].")
		}
		last = n
		looks = append(looks, n)
	}
	if len(looks) == 0 && whole {
		d.error(expr.Range(), "Invalid value", "launches is empty.", "Write a number, or the looks as [3, 5, 8, 12].")
	}
	return looks
}
