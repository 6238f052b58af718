// Package suggest finds the name that a person most likely meant by an unknown one.
package suggest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the known name with the smallest edit distance, "" if none is close: at most a
// third of the letters, rounded, may differ, or it is the only one with the name as a word. Of a name
// that begins as counts do in other tools, such as num_experts, the rest is meant. It returns ""
// for a known name.
func Nearest(name string, known []string) string {
	length := utf8.RuneCountInString(name)
	best, least := "", (length+1)/3+1
	if slices.Contains(known, name) {
		return ""
	}
	for _, count := range []string{"num_", "n_", "number_of_"} {
		if counted, ok := strings.CutPrefix(name, count); ok && slices.Contains(known, counted) {
			return counted
		} else if near := withWord(counted, known); ok && near != "" {
			return near
		}
	}
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if n := utf8.RuneCountInString(k); n-length > least || length-n > least {
			continue // each additional letter is an edit
		}
		if d := distance([]rune(name), []rune(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return withWord(name, known)
	}
	return best
}

// withWord is the only known name that begins with a name as a word, or else that has it; "" if there are none or
// several.
func withWord(name string, known []string) string {
	if len(name) < leastPart {
		return ""
	}
	var begin, have []string
	for _, k := range known {
		words := strings.FieldsFunc(k, func(r rune) bool { return r == '_' || r == '.' || r == '-' })
		switch slices.Index(words, name) {
		case -1:
		case 0:
			begin = append(begin, k)
		default:
			have = append(have, k)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0]
	case len(begin) == 0 && len(have) == 1:
		return have[0]
	}
	return ""
}

// Closest returns the known name with the smallest edit distance, however large it is; the first of several.
func Closest(name string, known []string) string {
	letters := []rune(name)
	return slices.MinFunc(known, func(a, b string) int {
		return distance(letters, []rune(a)) - distance(letters, []rune(b))
	})
}

// DidYouMean returns the end of a message about a word of a command line: the closest candidate, if
// any.
func DidYouMean(word string, candidates []string) string {
	near := Nearest(word, candidates)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// fullList is how many names a sentence lists in full, and shortList how many of a longer list.
const fullList, shortList = 12, 5

// Sentence is the hint about names that the scenario itself defines: the nearest name if there is
// one, then all; of a long list the nearest few, but only if none is close.
func Sentence(name string, known []string, what string) string {
	return Documented(name, known, what, "")
}

// Documented is Sentence for names that weir defines; command lists all of them.
func Documented(name string, known []string, what, command string) string {
	var b strings.Builder
	if near := Nearest(name, known); near != "" {
		fmt.Fprintf(&b, "Did you mean %q?", near)
		if len(known) > fullList {
			return b.String()
		}
		b.WriteByte(' ')
	}
	return b.String() + Known(name, known, what, command)
}

// Known is Documented for a name that is certainly not a misspelling of these.
func Known(name string, known []string, what, command string) string {
	switch {
	case len(known) == 0:
		return fmt.Sprintf("There are no %s.", what)
	case len(known) > fullList && name == "":
		return fmt.Sprintf("Some %s are %s.", what, Few(name, known, command))
	case len(known) > fullList:
		return fmt.Sprintf("The nearest %s are %s.", what, Few(name, known, command))
	}
	return fmt.Sprintf("The %s are %s.", what, Few(name, known, command))
}

// leastPart is the length from which a name that is part of another one is near to it.
const leastPart = 4

// Few lists the known names; of a long list, those nearest to name and the command that lists all.
// For "" it lists the first ones.
func Few(name string, known []string, command string) string {
	if len(known) <= fullList {
		return strings.Join(known, ", ")
	}
	list := known
	if name != "" {
		list = slices.Clone(known)
		letters, edits := []rune(name), make(map[string]int, len(known))
		for _, k := range known {
			edits[k] = distance(letters, []rune(k))
			if len(letters) >= leastPart && (strings.Contains(k, name) || strings.Contains(name, k)) {
				edits[k] = 0 // one is a part of the other
			}
		}
		slices.SortStableFunc(list, func(a, b string) int { return edits[a] - edits[b] })
	}
	text := strings.Join(list[:shortList], ", ")
	if command == "" {
		return fmt.Sprintf("%s (of %d)", text, len(known))
	}
	return fmt.Sprintf("%s (`%s` lists all)", text, command)
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
