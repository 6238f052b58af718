package dsl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
	"weir/suggest"
)

// deadlines bound one launch of one case, and phases of it.
type deadlines struct {
	launch time.Duration
	phases map[string]time.Duration // nil: none has a deadline of its own
}

// deadlines reads `timeout`, a time or a section, over what holds without it.
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
				fmt.Sprintf("%s may take %s, and the launch as a whole only %s.", k.Name, phase, d.launch),
				"Give launch a longer time, or this phase a shorter one.")
		}
		if d.phases == nil {
			d.phases = map[string]time.Duration{}
		}
		d.phases[k.Name] = phase
	}
	return d
}

// maxRetries bounds the attempts that one launch may take.
const maxRetries = 100

// retry reads a count or a section; nil: never, or not given.
func (l *loader) retry(content *hcl.BodyContent) *Retry {
	r := &Retry{On: defaultList(grammar.Retry, "on")}
	if expr := argument(content, "retry"); expr != nil && !isMapping(expr) {
		r.Times = l.count(expr, "retry", 0, maxRetries)
		return r.orNever()
	}
	p, ok := l.sectionPart(content, "retry", schemaOf(grammar.Retry))
	if !ok || !l.complete(p, grammar.Retry, "retry") {
		return nil
	}
	inner := p.BodyContent
	r.Times = l.count(argument(inner, "times"), "times", 0, maxRetries)
	if expr := argument(inner, "on"); expr != nil {
		r.On = l.failures(expr)
	}
	if expr := argument(inner, "wait"); expr != nil {
		r.Wait = l.wait(expr, "wait")
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
func (l *loader) failures(expr hcl.Expression) []string {
	on, _ := grammar.Find(grammar.Retry, "on")
	list, _ := on.Form(grammar.List)
	known := list.Item[0].Values
	items, isList, whole := l.list(expr, "on")
	if !isList {
		l.error(expr.Range(), "Not a list", "on is a list of kinds of failures.",
			"Write ["+strings.Join(known, ", ")+"].")
		return nil
	}
	if len(items) == 0 && whole {
		l.error(expr.Range(), "Invalid value", "on is empty, so nothing would be retried.",
			"Name kinds of failures, or set times to 0.")
	}
	var out []string
	for _, i := range items {
		switch {
		case slices.Contains(out, i.text):
			l.error(i.at, "Duplicate value", fmt.Sprintf("%q was already named.", i.text), "Name it once.")
		case !slices.Contains(known, i.text):
			l.error(i.at, "Invalid value", fmt.Sprintf("There is no kind of failure %q.", i.text),
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
func (l *loader) launches(expr hcl.Expression) []int {
	items, isList, whole := l.list(expr, "launches")
	if !isList {
		return []int{l.count(expr, "launches", 1, 1000)}
	}
	var looks []int
	last := 0
	for _, i := range items {
		n := l.countText(i, "a number of launches", 1, math.MaxInt32)
		if n > 1000 {
			l.error(i.at, "Invalid value", fmt.Sprintf("%d launches are more than 1000.", n), "")
		}
		if n <= last {
			l.error(i.at, "Invalid value", fmt.Sprintf("%d does not come after %d: looks ascend.", n, last),
				"Write them as [3, 5, 8, 12].")
		}
		last = n
		looks = append(looks, n)
	}
	if len(looks) == 0 && whole {
		l.error(expr.Range(), "Invalid value", "launches is empty.", "Write a number, or the looks as [3, 5, 8, 12].")
	}
	return looks
}
