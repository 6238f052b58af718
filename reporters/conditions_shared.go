package reporters

import (
	"fmt"
	"slices"
	"strings"

	"weir/results"
)

// conditionLines say of a run how it was measured: what all its cases have in common in one
// line each, and what differs by the axis that decides it, or else with how many cases it is of.
func conditionLines(cases []*results.Case) (lines []string) {
	all := make([]conditions, len(cases))
	words := make([][]string, len(cases))
	for i, c := range cases {
		all[i] = conditionsOf(c)
		words[i] = optionWords(c, false)
	}
	common := inCommon(words)
	for i := range all {
		all[i].options = strings.Join(less(words[i], common), " ")
	}
	for _, name := range conditionNames {
		values := make([]string, len(cases))
		for i := range all {
			values[i] = all[i].part(name)
		}
		text := ""
		if name == "options" {
			text = sentence("; ", strings.Join(common, " "), sharedText(cases, values, "no others"))
		} else {
			text = sharedText(cases, values, "not known")
		}
		if text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	links := make([]string, len(cases))
	for i, c := range cases {
		links[i] = linkText(c)
	}
	if text := sharedText(cases, links, "not known"); text != "" {
		lines = append(lines, "link: "+text)
	}
	return lines
}

// linkText is how much of the nominal links of the site the best launch reached; "": that is not known.
func linkText(c *results.Case) string {
	if c.Link == nil {
		return ""
	}
	return plain(c.Link.Percent() + " (" + c.Link.Links + ")")
}

// mostConditions is how many different values of a condition a line names.
const mostConditions = 6

// sharedText are the values of a condition with whose they are; none is how an empty one is called.
func sharedText(cases []*results.Case, values []string, none string) string {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(distinct) == 1 {
		return distinct[0]
	}
	for _, axis := range axes(cases) {
		if text := byAxis(cases, values, axis); text != "" {
			return text
		}
	}
	var parts []string
	for i, v := range distinct {
		if i == mostConditions {
			parts = append(parts, fmt.Sprintf("%d others", len(distinct)-i))
			break
		}
		n, first := 0, ""
		for k := range values {
			if values[k] == v {
				if n++; first == "" {
					first = plain(cases[k].Key)
				}
			}
		}
		if v == "" {
			v = none
		}
		if n > 1 {
			first = fmt.Sprintf("%s as %s", plural(n, "case"), first)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", v, first))
	}
	return strings.Join(parts, "; ")
}

// byAxis says what each value of an axis has, if the axis decides; "" if it does not. An empty
// value, because nothing ran there, decides nothing.
func byAxis(cases []*results.Case, values []string, axis string) string {
	of := map[string]string{}
	var order []string
	for i, c := range cases {
		if values[i] == "" {
			continue
		}
		at := setting(c, axis)
		had, known := of[at]
		if known && had != values[i] {
			return ""
		}
		if !known {
			order = append(order, at)
		}
		of[at] = values[i]
	}
	if len(order) < 2 || len(order) > mostConditions {
		return ""
	}
	var parts []string
	for _, at := range order {
		if of[at] == at { // fabric: fabric=shm is shm
			parts = append(parts, at)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%s=%s)", of[at], plain(axis), at))
	}
	return strings.Join(parts, "; ")
}
