package output

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// JSON returns the format of a JSON document with a path for each key and metric. A path names
// members and list indices, as in a.b[0].c; a["b c"] is a member with any name. If paths have [*],
// each item of that list is a row, and all of them must use the same list; a path without [*] has
// the same value in each row.
func JSON(paths map[string]string, keys []string, metrics []Metric) (Format, error) {
	columns, err := named(keys, metrics)
	if err != nil {
		return Format{}, err
	}
	f := &jsonFormat{convert: unchanged}
	var rowsName string
	for _, name := range sortedNames(paths) {
		isKey, ok := columns[name]
		if !ok {
			return Format{}, fmt.Errorf("path %q is of neither a key nor a metric", name)
		}
		s, err := parsePath(paths[name])
		if err != nil {
			return Format{}, fmt.Errorf("path of %s: %w", name, err)
		}
		f.due = append(f.due, declaredValue{name, isKey, s})
		star := slices.IndexFunc(s, step.isRows)
		if star < 0 {
			continue
		}
		if slices.ContainsFunc(s[star+1:], step.isRows) {
			return Format{}, fmt.Errorf("path of %s: a second [*]", name)
		}
		if f.rowsOf != nil && !slices.Equal(f.rowsOf, s[:star+1]) {
			return Format{}, fmt.Errorf("the paths of %s and %s have their [*] in different lists", rowsName, name)
		}
		f.rowsOf, rowsName = s[:star+1], name
	}
	for name := range columns {
		if _, ok := paths[name]; !ok {
			return Format{}, fmt.Errorf("%s has no path", name)
		}
	}
	return Format{Name: "json", Doc: "a JSON document", Keys: keys, Metrics: metrics, Read: f.read}, nil
}

// declaredValue is a value that a user declares. A path without [*] begins at the document.
type declaredValue struct {
	name  string
	isKey bool
	path  []step
}

func (d *declaredValue) take(root, place *jsonValue, row *Row) error {
	from, path := root, d.path
	if star := slices.IndexFunc(path, step.isRows); star >= 0 {
		from, path = place, path[star+1:]
	}
	n, err := walk(from, path)
	if err != nil {
		return err
	}
	if n.kind != number && n.kind != text && (n.kind != boolean || !d.isKey) {
		return at(n.line, "%s instead of a number", n.kind)
	}
	if err := row.set(d.name, d.isKey, n.text); err != nil {
		return at(n.line, "%w", err)
	}
	return nil
}

// step is one part of a path: a member, a list index, or all items.
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
	if root, ok := strings.CutPrefix(path, "$"); ok && strings.IndexAny(root, ".[") == 0 { // of JSONPath
		rest = root
	}
	rest = strings.TrimPrefix(rest, ".") // of JSONPath and jq
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
			return nil, fmt.Errorf("%s: a . or [ is missing before %s", quote(path), quote(rest))
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

// parseBracket reads [0], [*] or ["name"] and returns the rest.
func parseBracket(s string) (step, string, error) {
	if strings.HasPrefix(s, `["`) {
		decoder := json.NewDecoder(strings.NewReader(s[1:]))
		var name string
		if err := decoder.Decode(&name); err == nil {
			if after := s[1+decoder.InputOffset():]; strings.HasPrefix(after, "]") {
				return step{member: name}, after[1:], nil
			}
		}
		return step{}, "", fmt.Errorf("%s: a name in quotes and ] are missing", quote(s))
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
	return step{}, "", fmt.Errorf("%s: [ ] must contain an index from 0, * or a name in quotes", quote(s))
}

// walk follows a path without [*].
func walk(n *jsonValue, steps []step) (*jsonValue, error) {
	for _, s := range steps {
		switch {
		case s.form == intoIndex:
			items, err := n.list()
			if err != nil {
				return nil, err
			}
			if s.index >= len(items) {
				return nil, at(n.line, "the list has %d items, but none with index %d", len(items), s.index)
			}
			n = items[s.index]
		case n.kind != object:
			return nil, at(n.line, "%s instead of an object with member %s", n.kind, quote(s.member))
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

func (n *jsonValue) list() ([]*jsonValue, error) {
	if n.kind != list {
		return nil, at(n.line, "%s instead of a list", n.kind)
	}
	return n.items, nil
}
