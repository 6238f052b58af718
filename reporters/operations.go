package reporters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-bench/weir/results"
)

// oddOperations lists anomalies of successful operations, the most frequent first.
func oddOperations(doc *results.Document) []string {
	count, cases, made := map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range doc.Cases {
		of := map[string]bool{}
		for _, l := range c.Launches {
			for _, n := range l.Notes {
				count[n.Text] += n.Count
				made[n.Text]++
				of[n.Text] = true
			}
		}
		for text := range of {
			cases[text]++
		}
	}
	texts := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
	for i, text := range texts {
		texts[i] = plain(fmt.Sprintf("%s (%s in %s of %s)", text, plural(count[text], "operation"),
			launches(made[text]), plural(cases[text], "case")))
	}
	return texts
}
