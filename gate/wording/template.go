package wording

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// A template is a sentence with placeholders.
//
//	{name}           the value: a text, a count with its noun, a number with its unit
//	{name#}          a count without its noun
//	{name!}          a number with four digits and its unit
//	{name=}          a configured number, unrounded
//	{name@}          a number with two digits
//	{name,}          all values of this name; the first three if there are more
//	{name?one|many}  chosen by a count
//	[a|b]            the first alternative with all values present, or nothing
//
// {case} and {launch} are those of the reason's place.

// expand fills in a template; ok is false if a value is missing.
func expand(template string, r results.Reason) (string, bool) {
	var b strings.Builder
	for template != "" {
		i := strings.IndexAny(template, "{[")
		if i < 0 {
			break
		}
		b.WriteString(template[:i])
		end := closing(template[i:])
		inner := template[i+1 : i+end]
		if template[i] == '{' {
			text, ok := placed(inner, r)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		} else {
			for _, alternative := range alternatives(inner) {
				if text, ok := expand(alternative, r); ok {
					b.WriteString(text)
					break
				}
			}
		}
		template = template[i+end+1:]
	}
	b.WriteString(template)
	return b.String(), true
}

// closing returns the index of the bracket that closes the first one.
func closing(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s) - 1
}

// alternatives splits a text at bars outside of brackets.
func alternatives(s string) (out []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '|':
			if depth == 0 {
				out, from = append(out, s[from:i]), i+1
			}
		}
	}
	return append(out, s[from:])
}

// placed returns the text for a placeholder.
func placed(place string, r results.Reason) (string, bool) {
	name, forms, byCount := strings.Cut(place, "?")
	last := place[len(place)-1]
	if !byCount && strings.IndexByte("#!@=,", last) >= 0 {
		name = place[:len(place)-1]
	}
	switch {
	case name == "case":
		return r.Place.Case, r.Place.Case != ""
	case name == "launch" && r.Place.Launch > 0:
		return results.LaunchName(r.Place.Launch - 1), true
	}
	v, ok := r.Value(name)
	switch {
	case !ok:
		return "", false
	case byCount:
		one, many, _ := strings.Cut(forms, "|")
		if v.Number == 1 {
			return one, true
		}
		return many, true
	case v.Text != "" && last != ',':
		return v.Text, true
	}
	switch last {
	case '#':
		return number(v.Number), true
	case '@':
		return quantity.Digits(v.Number, 2), true
	case '=':
		s := results.ScaleFor(v.Number, v.Unit)
		if v.Unit == share {
			s = results.Percent
		}
		return s.WithUnit(s.Exact(v.Number)), true
	case '!':
		if v.Unit != share {
			return quantity.Format(v.Number, v.Unit), true
		}
	case ',':
		var all []string
		for _, v := range r.Values {
			if v.Name == name {
				text := v.Text
				if v.Number > 0 {
					text = number(v.Number) + " × " + text
				}
				all = append(all, text)
			}
		}
		return few(all), true
	}
	return valueText(v), true
}

// share is the unit of numbers with 1 for 100 %.
const share = "share"

// valueText formats a number with its unit.
func valueText(v results.Value) string {
	switch v.Unit {
	case share:
		return Percent(v.Number)
	case "confidence":
		return results.PercentText(v.Number)
	case "launch", "case", "other case", "part", "session", "pair":
		return Counted(int(v.Number), v.Unit)
	case "measurement":
		return Counted(int(v.Number), v.Unit) + " of cases"
	}
	s := results.ScaleFor(v.Number, v.Unit)
	text, _, _ := s.Estimate(v.Number, nil)
	return s.WithUnit(text)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Counted formats a number of things.
func Counted(n int, thing string) string {
	if n != 1 {
		if strings.HasSuffix(thing, "ch") {
			thing += "e"
		}
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// Percent formats small shares with two digits and large ones as whole percents.
func Percent(share float64) string {
	if share < 0.0001 {
		return "under 0.01%"
	}
	return quantity.Digits(share*100, 2) + "%"
}

// mostNamed is how many things a sentence names.
const mostNamed = 3

func few(texts []string) string {
	if more := len(texts) - mostNamed; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(texts[:mostNamed], ", "), more)
	}
	return strings.Join(texts, ", ")
}
