package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// sameBuildTitle heads cases that loaded the same libraries although they name different ones.
const sameBuildTitle = "Same build"

// librariesOf lists the libraries that the launches of a case loaded.
func librariesOf(c *results.Case) string { return plain(results.LibrariesText(c.Libraries())) }

// libraryLines list the libraries in which cases of a run differ, a line for each value of the axis that
// decides them; none if all cases loaded the same.
func libraryLines(cases []*results.Case) (lines []string) {
	values := differentLibraries(cases)
	if len(slices.Compact(slices.Sorted(slices.Values(values)))) < 2 {
		return nil
	}
	for _, axis := range axes(cases) {
		of, order := valuesByAxis(cases, values, axis)
		if len(order) < 2 || len(order) > mostConditions {
			continue
		}
		for _, at := range order {
			lines = append(lines, fmt.Sprintf("libraries of %s=%s: %s", plain(axis), at, of[at]))
		}
		return lines
	}
	return []string{"libraries: " + sharedText(cases, values, "not known")}
}

// differentLibraries lists for each case the libraries that another case did not load.
func differentLibraries(cases []*results.Case) []string {
	texts := make([][]string, len(cases))
	known, count := 0, map[string]int{} // by library: cases that loaded it
	for i, c := range cases {
		for _, l := range c.Libraries() {
			texts[i] = append(texts[i], plain(l.String()))
			count[plain(l.String())]++
		}
		if texts[i] != nil {
			known++
		}
	}
	values := make([]string, len(cases))
	for i := range cases {
		different := slices.DeleteFunc(texts[i], func(text string) bool { return count[text] == known })
		values[i] = strings.Join(different, "; ")
	}
	return values
}

// sameBuilds warns of cases that choose libraries by different variables and loaded the same ones.
func sameBuilds(doc *results.Document) (out []string) {
	for _, s := range results.SameBuilds(doc) {
		of, other := s.Of.Key, s.Other.Key
		if a, b := setting(s.Of, "variant"), setting(s.Other, "variant"); a != b {
			of, other = "variant="+a, "variant="+b
		}
		out = append(out, plain(fmt.Sprintf("run %s: %s and %s have different values of %s, but loaded the same build: %s",
			s.Run, of, other, strings.Join(s.Variables, ", "), results.LibrariesText(s.Libraries))))
	}
	return out
}

// sameBuildLines are these warnings for reports without headings.
func sameBuildLines(doc *results.Document) []string {
	lines := sameBuilds(doc)
	for i := range lines {
		lines[i] = "warning: " + lines[i]
	}
	return lines
}
