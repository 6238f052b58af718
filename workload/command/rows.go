package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/interop/output"
)

// RowAxis returns the axis with a value for each row.
func (behaviour) RowAxis(v option.Values) string {
	text, _ := Kind.Get(v)("parse").(string)
	p, _ := readParse(text) // errors are reported elsewhere
	return p.Rows
}

// RowValues returns the values of the axis of rows that a command line of the tool asks for; none: unknown.
func (behaviour) RowValues(v option.Values) []string {
	get := Kind.Get(v)
	parse, _ := get("parse").(string)
	programs, _ := get("roles").(string)
	p, err := readParse(parse)
	if err != nil || p.Rows == "" {
		return nil
	}
	f, err := p.format()
	roles, wrong := readRoles(programs)
	if err != nil || wrong != nil || f.Rows == nil {
		return nil
	}
	for _, r := range roles {
		if p.Of == r.Name || p.Of == anyRole {
			if rows := f.Rows(r.Command, p.Rows); len(rows) > 0 {
				return rows
			}
		}
	}
	return nil
}

// values returns the numbers of an output: of its only row, or of the row with a value of its key.
func (p *Parse) values(output []byte, at string) (map[string]float64, error) {
	f, err := p.format()
	if err != nil {
		return nil, err
	}
	rows, err := f.Read(output)
	if err != nil {
		return nil, fmt.Errorf("reading its output as %s: %w", p.Format, err)
	}
	if p.Rows != "" && at != "" {
		if rows, err = p.selected(rows, at); err != nil {
			return nil, err
		}
	}
	if len(rows) > 1 && p.Rows != "" && at == "" {
		return nil, p.unswept(rows)
	}
	if len(rows) > 1 {
		return nil, fmt.Errorf("its output has %d results, the second on line %d%s: a case has one", len(rows),
			rows[1].Line, differ(rows))
	}
	for _, name := range p.own() {
		if _, ok := rows[0].Values[name]; !ok {
			return nil, fmt.Errorf("its output has no %s: no line of the result that begins on line %d has it", name,
				rows[0].Line)
		}
	}
	values := maps.Clone(rows[0].Others)
	if values == nil {
		values = map[string]float64{}
	}
	maps.Copy(values, rows[0].Values)
	return values, nil
}

// selected returns the rows with a value of the key, at least one.
func (p *Parse) selected(rows []output.Row, at string) (found []output.Row, err error) {
	var others []string
	for _, r := range rows {
		if same(r.At[p.Rows], at) {
			found = append(found, r)
		}
		others = append(others, r.At[p.Rows])
	}
	if found == nil {
		return nil, fmt.Errorf("its output has no row of %s %s; it has %s", p.Rows, at,
			strings.Join(slices.Compact(others), ", "))
	}
	return found, nil
}

// differ names the keys in which the first two rows differ.
func differ(rows []output.Row) string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(rows[1].At)) {
		if a, b := rows[0].At[key], rows[1].At[key]; a != b {
			keys = append(keys, fmt.Sprintf("%s %s instead of %s", key, b, a))
		}
	}
	if keys == nil {
		return ""
	}
	return " of " + strings.Join(keys, ", ")
}

// unswept lists the rows that could be cases, for a run without a sweep over them.
func (p *Parse) unswept(rows []output.Row) error {
	var values []string
	for _, r := range rows {
		values = ordered.Append(values, r.At[p.Rows])
	}
	return fmt.Errorf("its output has %d rows, but the run has one case: make each row a case by sweep: {%s: [%s]}",
		len(rows), p.Rows, strings.Join(values, ", "))
}

// same reports whether two texts are the same text, number or size: tools print 4096 for 4KiB.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := quantity.ParseSize(a)
	y, wrong := quantity.ParseSize(b)
	if err == nil && wrong == nil {
		return x == y
	}
	f, err := strconv.ParseFloat(a, 64)
	g, wrong := strconv.ParseFloat(b, 64)
	return err == nil && wrong == nil && f == g
}

// printed is the output of a role: the parsed output, and the last lines of both streams.
type printed struct {
	role   string
	output []byte
	last   LastLines
}

// find returns the values of the output that has a result.
func (p *Parse) find(all []printed, at string) (map[string]float64, error) {
	var found map[string]float64
	nothing := error(fmt.Errorf("no role has an output"))
	by := ""
	for _, one := range all {
		values, err := p.values(one.output, at)
		switch {
		case errors.Is(err, output.ErrNothing):
			nothing = p.unread(one, err)
		case err != nil:
			return nil, p.unread(one, err)
		case found != nil:
			return nil, fmt.Errorf("roles %s and %s both have a result: name one in parse", by, one.role)
		default:
			found, by = values, one.role
		}
	}
	if found == nil {
		return nil, nothing
	}
	return found, nil
}

// unread is the error of an unparsable output, with its last lines and those of the role.
func (p *Parse) unread(of printed, err error) error {
	last := of.last.String()
	switch {
	case p.File != "":
		last = ending("the file", linesOf(of.output)) + last
	case last == "": // the role has not printed it
		last = ending("stdout", linesOf(of.output))
	}
	return fmt.Errorf("role %s: %w%s", of.role, err, last)
}
