package output

import (
	"fmt"
	"regexp"
	"slices"
)

// Lines returns the format of an output in which each line that matches the pattern is a row. Its
// named groups must be exactly the keys and metrics. Without keys there is one row. Its metrics may be on several
// lines if each line matches an alternative of the pattern.
func Lines(pattern string, keys []string, metrics []Metric) (Format, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Format{}, err
	}
	columns, err := named(keys, metrics)
	if err != nil {
		return Format{}, err
	}
	groups := re.SubexpNames()
	for i, name := range groups {
		if name == "" {
			continue
		}
		if _, ok := columns[name]; !ok {
			return Format{}, fmt.Errorf("group %q is neither a key nor a metric", name)
		}
		if slices.Index(groups, name) != i {
			return Format{}, fmt.Errorf("group %q occurs twice", name)
		}
	}
	for name := range columns {
		if !slices.Contains(groups, name) {
			return Format{}, fmt.Errorf("the expression has no group %q, as in (?<%s>...)", name, name)
		}
	}
	add := (*rows).add
	if len(keys) == 0 {
		add = (*rows).addPart
	}
	read := func(output []byte) ([]Row, error) { return readLines(output, re, columns, add) }
	return Format{Name: "lines", Doc: "lines that match " + pattern, Keys: keys, Metrics: metrics, Read: read}, nil
}

func readLines(output []byte, re *regexp.Regexp, columns map[string]bool, add func(*rows, Row) error) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var found rows
	for i, line := range lines {
		m := re.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		row := newRow(i + 1)
		for g, name := range re.SubexpNames() {
			if name == "" || m[2*g] < 0 { // a group of another alternative
				continue
			}
			if err := row.set(name, columns[name], line[m[2*g]:m[2*g+1]]); err != nil {
				return nil, at(row.Line, "%s: %w", name, err)
			}
		}
		if err := add(&found, row); err != nil {
			return nil, err
		}
	}
	if len(found.list) == 0 {
		return nil, nothing("no line matches %s", re)
	}
	return found.list, nil
}

// named maps the keys and metrics of a caller to whether they are keys.
func named(keys []string, metrics []Metric) (map[string]bool, error) {
	columns := map[string]bool{}
	for _, k := range keys {
		columns[k] = true
	}
	for _, m := range metrics {
		columns[m.Name] = false
	}
	switch {
	case len(metrics) == 0:
		return nil, fmt.Errorf("there is no metric")
	case len(columns) < len(keys)+len(metrics):
		return nil, fmt.Errorf("a key or a metric is given twice")
	}
	return columns, nil
}

// set sets one key or metric of the row.
func (r *Row) set(name string, isKey bool, text string) error {
	if isKey {
		r.At[name] = text
		return nil
	}
	v, err := same.signed(text)
	if err != nil {
		return err
	}
	r.Values[name] = v
	return nil
}
