// Package suggest finds what a person most likely meant by a name that does not
// exist.
package suggest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Nearest is the known name that takes the fewest edits to reach, "" if none is
// near: more than a third of the letters wrong is another word, not a slip.
func Nearest(name string, known []string) string {
	best, least := "", len([]rune(name))/3+1
	length := utf8.RuneCountInString(name)
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if n := utf8.RuneCountInString(k); n-length > least || length-n > least {
			continue // each letter that one has more takes an edit
		}
		if d := distance([]rune(name), []rune(k)); d < least || d == least && best == "" && d > 0 {
			best, least = k, d
		}
	}
	return best
}

// most is how many names a sentence lists, and some how many beside the one that
// was meant.
const most, some = 50, 12

// Sentence is the whole advice: the nearest name if there is one, then all; those
// of a long list only where none is near.
func Sentence(name string, known []string, what string) string {
	var b strings.Builder
	if near := Nearest(name, known); near != "" {
		fmt.Fprintf(&b, "Did you mean %q?", near)
		if len(known) > some {
			return b.String()
		}
		b.WriteByte(' ')
	}
	if len(known) == 0 {
		fmt.Fprintf(&b, "There are no %s.", what)
		return b.String()
	}
	shown, more := known, ""
	if len(known) > most {
		shown, more = known[:most], fmt.Sprintf(" and %d more", len(known)-most)
	}
	fmt.Fprintf(&b, "The %s are %s%s.", what, strings.Join(shown, ", "), more)
	return b.String()
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b []rune) int {
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(previous[j+1]+1, row[j]+1, previous[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}
