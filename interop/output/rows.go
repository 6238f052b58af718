package output

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// rows collects the rows of an output and refuses two with the same keys.
type rows struct {
	list []Row
	seen map[string]int // the line of each
}

func (r *rows) add(row Row) error {
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if len(row.Values) == 0 {
		return at(row.Line, "the line has no number")
	}
	place := place(row.At)
	if line, ok := r.seen[place]; ok {
		if place == "" {
			return at(row.Line, "a second result, after that of line %d", line)
		}
		return at(row.Line, "a second result of %s, after that of line %d", place, line)
	}
	r.seen[place] = row.Line
	r.list = append(r.list, row)
	return nil
}

// addPart adds the metrics of a line to a single row: none of them may be on an earlier line.
func (r *rows) addPart(part Row) error {
	if len(part.Values) == 0 {
		return at(part.Line, "the line has no number")
	}
	if r.list == nil {
		r.list, r.seen = []Row{newRow(part.Line)}, map[string]int{}
	}
	for _, name := range slices.Sorted(maps.Keys(part.Values)) {
		if line, ok := r.seen[name]; ok {
			return at(part.Line, "a second result, after that of line %d", line)
		}
		r.seen[name], r.list[0].Values[name] = part.Line, part.Values[name]
	}
	return nil
}

// drop removes the row with the keys of another.
func (r *rows) drop(row Row) {
	if _, ok := r.seen[place(row.At)]; !ok {
		return
	}
	delete(r.seen, place(row.At))
	r.list = slices.DeleteFunc(r.list, func(other Row) bool { return maps.Equal(other.At, row.At) })
}

// enumerate numbers rows with the same keys, from 1.
func enumerate(all []Row, key string) {
	seen := map[string]int{}
	for _, row := range all {
		seen[place(row.At)]++
	}
	next := map[string]int{}
	for _, row := range all {
		if p := place(row.At); seen[p] > 1 {
			next[p]++
			row.At[key] = strconv.Itoa(next[p])
		}
	}
}

// place names a row by its keys.
func place(keys map[string]string) string {
	var parts []string
	for _, k := range sortedNames(keys) {
		parts = append(parts, k+" "+quote(keys[k]))
	}
	return strings.Join(parts, ", ")
}

func sortedNames[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
