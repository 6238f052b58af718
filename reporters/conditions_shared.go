package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// conditionLines describe how a run was measured: one line for what all cases share, and for each
// difference the axis that decides it, or the number of cases.
func conditionLines(cases []*results.Case) (lines []string) {
	words, vary := make([][]string, len(cases)), variedOptions(cases)
	for i, c := range cases {
		words[i] = optionWords(c, true, vary)
	}
	common := commonWords(words)
	for _, condition := range conditions {
		if condition.name == "libraries" {
			lines = append(lines, libraryLines(cases)...)
			continue
		}
		values := make([]string, len(cases))
		for i, c := range cases {
			if condition.name == "options" {
				values[i] = strings.Join(withoutWords(words[i], common), " ")
			} else {
				values[i] = condition.of(c)
			}
		}
		text := ""
		if condition.name == "options" {
			text = sentence("; ", strings.Join(common, " "), sharedText(cases, values, "no others"))
		} else {
			text = sharedText(cases, values, "not known")
		}
		if text != "" {
			lines = append(lines, condition.name+": "+text)
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

// linkText is the share of the site's nominal bandwidth that the best launch reached; "": unknown.
func linkText(c *results.Case) string {
	if c.Link == nil {
		return ""
	}
	return plain(c.Link.Percent() + " (" + c.Link.Links + ")")
}

// mostConditions is how many values of a condition a line names.
const mostConditions = 6

// sharedText lists the values of a condition with their cases; none is the text for an empty value.
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

// byAxis lists the value of a condition for each value of an axis, if the axis decides it, else "".
func byAxis(cases []*results.Case, values []string, axis string) string {
	of, order := valuesByAxis(cases, values, axis)
	if len(order) < 2 || len(order) > mostConditions {
		return ""
	}
	var parts []string
	for _, at := range order {
		if of[at] == at { // "fabric: fabric=shm" becomes "shm"
			parts = append(parts, at)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%s=%s)", of[at], plain(axis), at))
	}
	return strings.Join(parts, "; ")
}

// valuesByAxis returns the value of a condition for each value of an axis, and these in order; none if the axis
// does not decide it. Empty values of cases that did not run are ignored.
func valuesByAxis(cases []*results.Case, values []string, axis string) (of map[string]string, order []string) {
	of = map[string]string{}
	for i, c := range cases {
		if values[i] == "" {
			continue
		}
		at := setting(c, axis)
		had, known := of[at]
		if known && had != values[i] {
			return nil, nil
		}
		if !known {
			order = append(order, at)
		}
		of[at] = values[i]
	}
	return of, order
}
