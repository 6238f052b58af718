package tooloutput

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// JSON is the format of a JSON document: a path for each key and each metric. A path
// names members and places in lists, as in a.b[0].c; a["b c"] is a member with any name.
// Where paths have a [*], each place of that list is a row, and all of them must have
// the same list; a path without is the same in each row.
func JSON(paths map[string]string, keys []string, metrics []Metric) (Format, error) {
	columns, err := named(keys, metrics)
	if err != nil {
		return Format{}, err
	}
	steps := map[string][]step{}
	var rowsOf []step
	var rowsName string
	for _, name := range sortedNames(paths) {
		if _, ok := columns[name]; !ok {
			return Format{}, fmt.Errorf("path %q is of neither a key nor a metric", name)
		}
		s, err := parsePath(paths[name])
		if err != nil {
			return Format{}, fmt.Errorf("path of %s: %w", name, err)
		}
		steps[name] = s
		star := slices.IndexFunc(s, step.isRows)
		if star < 0 {
			continue
		}
		if slices.ContainsFunc(s[star+1:], step.isRows) {
			return Format{}, fmt.Errorf("path of %s: a second [*]", name)
		}
		if rowsOf != nil && !slices.Equal(rowsOf, s[:star+1]) {
			return Format{}, fmt.Errorf("the paths of %s and %s have their [*] in different lists", rowsName, name)
		}
		rowsOf, rowsName = s[:star+1], name
	}
	for name := range columns {
		if _, ok := steps[name]; !ok {
			return Format{}, fmt.Errorf("no path is given for %s", name)
		}
	}
	read := func(output []byte) ([]Row, error) { return readPaths(output, rowsOf, steps, columns) }
	return Format{Name: "json", Doc: "a JSON document", Keys: keys, Metrics: metrics, Read: read}, nil
}

func readPaths(output []byte, rowsOf []step, steps map[string][]step, columns map[string]column) ([]Row, error) {
	root, err := document(output)
	if err != nil {
		return nil, err
	}
	places := []*node{root}
	if rowsOf != nil {
		list, err := walk(root, rowsOf[:len(rowsOf)-1])
		if err != nil {
			return nil, err
		}
		if places, err = list.list(); err != nil {
			return nil, err
		}
		if len(places) == 0 {
			return nil, nothing("the list of line %d is empty", list.line)
		}
	}
	var found rows
	for i, p := range places {
		row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: p.line}
		for _, name := range sortedNames(steps) {
			from, way := root, steps[name]
			if star := slices.IndexFunc(way, step.isRows); star >= 0 {
				from, way = p, way[star+1:]
			}
			n, err := walk(from, way)
			if err == nil && n.kind != number && n.kind != text && (n.kind != boolean || columns[name].key == "") {
				err = at(n.line, "%s where a number is due", n.kind)
			}
			if err == nil {
				if err = row.set(name, columns[name], n.text); err != nil {
					err = at(n.line, "%w", err)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("%s of row %d: %w", name, i+1, err)
			}
		}
		if err := found.add(row); err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

// step is one part of a path: a member, a place in a list, or all places of it.
type step struct {
	member string
	index  int
	form   stepForm
}

type stepForm int

const (
	intoMember stepForm = iota
	intoIndex
	intoAll
)

func (s step) isRows() bool { return s.form == intoAll }

func parsePath(path string) ([]step, error) {
	var steps []step
	rest := path
	for first := true; rest != "" || first; first = false {
		switch {
		case strings.HasPrefix(rest, "["):
			s, after, err := parseBracket(rest)
			if err != nil {
				return nil, err
			}
			steps, rest = append(steps, s), after
			continue
		case !first && !strings.HasPrefix(rest, "."):
			return nil, fmt.Errorf("%s: a . or [ is due before %s", quote(path), quote(rest))
		case !first:
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("%s: a member without a name", quote(path))
		}
		steps, rest = append(steps, step{member: rest[:end]}), rest[end:]
	}
	return steps, nil
}

// parseBracket reads [0], [*] or ["name"] and gives what follows it.
func parseBracket(s string) (step, string, error) {
	if strings.HasPrefix(s, `["`) {
		decoder := json.NewDecoder(strings.NewReader(s[1:]))
		var name string
		if err := decoder.Decode(&name); err == nil {
			if after := s[1+decoder.InputOffset():]; strings.HasPrefix(after, "]") {
				return step{member: name}, after[1:], nil
			}
		}
		return step{}, "", fmt.Errorf("%s: no name in quotes and a ]", quote(s))
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return step{}, "", fmt.Errorf("%s: the ] is missing", quote(s))
	}
	if s[1:end] == "*" {
		return step{form: intoAll}, s[end+1:], nil
	}
	if i, err := strconv.Atoi(s[1:end]); err == nil && i >= 0 && isCount(s[1:end]) {
		return step{index: i, form: intoIndex}, s[end+1:], nil
	}
	return step{}, "", fmt.Errorf("%s: within [ ] is a place from 0, * or a name in quotes", quote(s))
}

// walk follows a path without [*].
func walk(n *node, steps []step) (*node, error) {
	for _, s := range steps {
		switch {
		case s.form == intoIndex:
			items, err := n.list()
			if err != nil {
				return nil, err
			}
			if s.index >= len(items) {
				return nil, at(n.line, "the list has %d places, and none of number %d", len(items), s.index)
			}
			n = items[s.index]
		case n.kind != object:
			return nil, at(n.line, "%s where an object with member %s is due", n.kind, quote(s.member))
		default:
			member, ok := n.members[s.member]
			if !ok {
				return nil, at(n.line, "the object has no member %s", quote(s.member))
			}
			n = member
		}
	}
	return n, nil
}

func (n *node) list() ([]*node, error) {
	if n.kind != list {
		return nil, at(n.line, "%s where a list is due", n.kind)
	}
	return n.items, nil
}
