package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// oddity is an anomaly of successful operations of some cases.
type oddity struct {
	text         string
	cases        []string
	count, times int // operations; launches
}

// add counts the operations of another one.
func (o *oddity) add(other *oddity) {
	o.cases = append(o.cases, other.cases...)
	o.count, o.times = o.count+other.count, o.times+other.times
}

// kind is equal in texts that differ in numbers alone.
func (o *oddity) kind() string { return numbers().ReplaceAllString(o.text, "#") }

// oddOperations lists anomalies of successful operations, the most frequent first. Texts of one kind, such as advice
// for several sizes, are one line.
func oddOperations(doc *results.Document) (lines []string) {
	var all []*oddity
	for _, c := range doc.Cases {
		for _, o := range withoutTold(c) {
			if i := slices.IndexFunc(all, func(x *oddity) bool { return x.text == o.text }); i >= 0 {
				all[i].add(o)
				continue
			}
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b *oddity) int { return b.count - a.count })
	for len(all) > 0 {
		kind := all[0].kind()
		other := func(o *oddity) bool { return o.kind() != kind }
		lines = append(lines, oddLine(slices.DeleteFunc(slices.Clone(all), other)))
		all = slices.DeleteFunc(all, func(o *oddity) bool { return !other(o) })
	}
	return lines
}

// notesOn are the anomalies of a case that explain an assertion: their texts begin with its metric.
func notesOn(c *results.Case, a *results.AssertionVerdict) (texts []string) {
	if c == nil || a == nil || a.Subject == nil || a.Verdict == results.Pass {
		return nil
	}
	for _, o := range oddOperationsOf(c) {
		if metric, _, _ := strings.Cut(o.text, " "); slices.Contains(a.Subject.Metrics(), metric) {
			texts = append(texts, plain(o.text))
		}
	}
	return texts
}

// withoutTold are the anomalies of a case that no finding has.
func withoutTold(c *results.Case) []*oddity {
	var told []string
	for _, a := range c.Assertions {
		told = append(told, notesOn(c, a)...)
	}
	return slices.DeleteFunc(oddOperationsOf(c), func(o *oddity) bool { return slices.Contains(told, plain(o.text)) })
}

// oddOperationsOf are the anomalies of one case: of a kind the one of most launches.
func oddOperationsOf(c *results.Case) (out []*oddity) {
	var all []*oddity
	for _, l := range c.Launches {
		for _, n := range l.Notes {
			i := slices.IndexFunc(all, func(o *oddity) bool { return o.text == n.Text })
			if i < 0 {
				i, all = len(all), append(all, &oddity{text: n.Text, cases: []string{c.Key}})
			}
			all[i].add(&oddity{count: n.Count, times: 1})
		}
	}
	slices.SortStableFunc(all, func(a, b *oddity) int { return b.times - a.times })
	for _, o := range all {
		if i := slices.IndexFunc(out, func(x *oddity) bool { return x.kind() == o.kind() }); i >= 0 {
			out[i].add(&oddity{count: o.count, times: o.times})
			continue
		}
		out = append(out, o)
	}
	return out
}

// oddLine is the line of anomalies of one kind: the first text, then what differs in others, each with its cases.
func oddLine(all []*oddity) string {
	var parts []string
	for i, o := range all {
		text, of := o.text, ""
		if i > 0 {
			text = different(all[0].text, text)
		}
		named := o.cases[:min(len(o.cases), mostNamed)]
		if more := len(o.cases) - len(named); more > 0 {
			of = fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%s (%s of %s%s)", text, plural(o.count, "operation"),
			strings.Join(named, ", "), of))
	}
	return plain(strings.Join(parts, "; "))
}

// different is the part of a text, in whole words, between what it begins and ends with as another text does.
func different(other, text string) string {
	a, b := strings.Fields(other), strings.Fields(text)
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.TrimSuffix(strings.Join(b, " "), ",")
}
