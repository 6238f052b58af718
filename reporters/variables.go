package reporters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/results"
)

// A report names so many library variables, and so many values of each.
const (
	mostVariables = 20
	mostValues    = 3
)

// inForce is a library variable from one source: its values, the first of them in order,
// and in how many cases it was.
type inForce struct {
	name, from string
	all        map[string]bool
	first      []string
	cases      int
}

// variablesTitle stands before the text of variables.
const variablesTitle = "library variables"

// variables says which library variables the ranks had, with their source and with the
// number of cases where not all had them; "" where none was set.
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

// titled is a line of a list with a title, none where there is no text.
func titled(title, text string) []string {
	if text == "" {
		return nil
	}
	return []string{title + ": " + text}
}

func variablesInForce(doc *results.Document) (all []*inForce, launched int) {
	known := map[[2]string]*inForce{}
	for _, c := range doc.Cases {
		if len(c.Launches) == 0 {
			continue
		}
		launched++
		here := map[*inForce]bool{}
		for _, l := range c.Launches {
			for _, v := range l.Variables {
				k := [2]string{v.Name, v.From}
				one := known[k]
				if one == nil {
					one = &inForce{name: v.Name, from: v.From, all: map[string]bool{}}
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
	all = slices.SortedFunc(maps.Values(known), func(a, b *inForce) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.from, b.from))
	})
	return all, launched
}
