package reporters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// The number of library variables, and of values of each, in a report.
const (
	mostVariables = 20
	mostValues    = 3
)

// variableInUse is a library variable from one source: its values and the number of cases.
type variableInUse struct {
	name, from string
	all        map[string]bool
	first      []string
	cases      int
}

// variablesTitle heads the library variables.
const variablesTitle = "library variables"

// variables lists the library variables of ranks, with their source, and the number of cases if not all
// had them; "" if none was set.
func variables(doc *results.Document) string {
	all, launched := variablesInForce(doc)
	var texts []string
	for i, v := range all {
		if i == mostVariables {
			texts = append(texts, fmt.Sprintf("and %d more; results.json has all", len(all)-i))
			break
		}
		values := v.first
		if more := len(v.all) - len(values); more > 0 {
			values = append(values, fmt.Sprintf("%d further values", more))
		}
		from := v.from
		if v.cases < launched {
			from += ", " + plural(v.cases, "case")
		}
		texts = append(texts, plain(fmt.Sprintf("%s=%s (%s)", v.name, strings.Join(values, " or "), from)))
	}
	return clip(strings.Join(texts, ", "), " …")
}

// titledLine is a list of one titled line, empty without text.
func titledLine(title, text string) []string {
	if text == "" {
		return nil
	}
	return []string{title + ": " + text}
}

func variablesInForce(doc *results.Document) (all []*variableInUse, launched int) {
	known := map[[2]string]*variableInUse{}
	for _, c := range doc.Cases {
		if len(c.Launches) == 0 {
			continue
		}
		launched++
		here := map[*variableInUse]bool{}
		for _, l := range c.Launches {
			for _, v := range l.Variables {
				k := [2]string{v.Name, v.From}
				one := known[k]
				if one == nil {
					one = &variableInUse{name: v.Name, from: v.From, all: map[string]bool{}}
					known[k] = one
				}
				if !one.all[v.Value] && len(one.first) < mostValues {
					one.first = append(one.first, cmp.Or(v.Value, `""`))
				}
				one.all[v.Value] = true
				if !here[one] {
					here[one] = true
					one.cases++
				}
			}
		}
	}
	all = slices.SortedFunc(maps.Values(known), func(a, b *variableInUse) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.from, b.from))
	})
	return all, launched
}
