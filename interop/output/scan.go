package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// deaths matches what launchers and shells print of a process that was killed or aborted.
var deaths = lazyregexp.New(`^srun: error: \S+: tasks? |^slurmstepd: error: (?:\*\*\*|Detected \d+ oom)|` +
	`^(?:mpi|prte|orte)(?:run|exec) (?:noticed|detected) that |MPI_ABORT was invoked|\*\*\* An error occurred in |` +
	`BAD TERMINATION OF ONE |Process received signal|^Abort\(|` +
	`^(?:Killed|Terminated|Aborted|Bus error|Segmentation fault)(?: \(core dumped\))?$`)

// title is what lines above a table say that it is of.
type title struct{ title, subtitle string }

func (t title) String() string { return strings.TrimSpace(t.title + " " + t.subtitle) }

var errNoRow = errors.New("the table has a header but no result")

// scan is the state of reading an output.
type scan struct {
	*tableFormat
	lines     []string
	header    []column
	loose     []column // the header, if each word of an unknown heading is a column
	begun     int      // the line of the header
	closed    []bool
	title     title
	titles    []title // of the tables so far
	section   string  // the prefix of the metrics
	inSection int     // rows of it
	first     int     // the first row of the table
	skipped   int     // rows that are no results
	between   int     // lines since the last row that belong to no table
	found     rows
}

func (s *scan) rows() ([]Row, error) {
	for i, line := range s.lines {
		if err := s.line(i+1, line); err != nil {
			return nil, err
		}
	}
	if s.begun == 0 {
		return nil, s.noTable()
	}
	if err := s.end(len(s.lines)); err != nil {
		return nil, err
	}
	if s.title != s.titles[len(s.titles)-1] {
		return nil, at(len(s.lines), "%s has begun and has no table", s.title)
	}
	for _, k := range s.tool.Keys {
		if k.Title || k.Subtitle {
			withoutOnly(s.found.list, k.Name)
		}
	}
	return s.found.list, nil
}

// noTable says what an output without a table has.
func (s *scan) noTable() error {
	first := slices.IndexFunc(s.lines, func(l string) bool { return strings.TrimSpace(l) != "" })
	return nothing("no table%s: no line has the headings %s (read: %s); the output has %d lines, the first is %s",
		s.None, strings.Join(s.expected(), ", "), s.tool.Versions, len(s.lines), quote(s.lines[max(0, first)]))
}

// expected returns the headings that a table must have.
func (s *scan) expected() []string {
	var all []string
	for _, k := range s.tool.Keys {
		if len(k.Column) > 0 {
			all = append(all, k.Column[0])
			break
		}
	}
	for _, heading := range s.Needs {
		all = append(all, heading)
	}
	return all
}

// end checks that the table is complete.
func (s *scan) end(n int) error {
	switch {
	case len(s.found.list) == s.first && s.skipped > 0:
		return at(n, "%s", strings.ReplaceAll(s.Only, "{n}", fmt.Sprint(s.skipped)))
	case len(s.found.list) == s.first:
		return at(n, "%w: %d lines follow the header of line %d, and none has its %d columns", errNoRow,
			max(0, len(s.lines)-s.begun), s.begun, len(s.header))
	case slices.Contains(s.closed, false):
		return at(n, "%s", s.Unclosed)
	case s.section != "" && s.inSection != len(s.found.list)-s.first:
		return at(n, "%s has %d rows, and the table above it %d", strings.TrimSuffix(s.section, "."), s.inSection,
			len(s.found.list)-s.first)
	}
	return nil
}

// open reports whether nothing says that the tables are complete.
func (s *scan) open() bool { return s.Closing == nil && s.special.final == nil }

// withoutOnly removes a key that has only one value.
func withoutOnly(list []Row, key string) {
	values := map[string]bool{}
	for _, row := range list {
		if v, ok := row.At[key]; ok {
			values[v] = true
		}
	}
	for _, row := range list {
		if len(values) == 1 {
			delete(row.At, key)
		}
	}
}

// entitle reads a line above a table.
func (s *scan) entitle(line string) {
	if m := s.Title.submatch(line); m != nil {
		s.title = title{title: m[1]}
	}
	if m := s.Subtitle.submatch(line); m != nil {
		s.title.subtitle = m[1]
		if last := len(s.titles) - 1; last >= 0 && len(s.found.list) == s.first && s.titles[last].subtitle == "" {
			s.titles[last] = s.title // of the header above it
		}
	}
}

func (s *scan) line(n int, line string) error {
	s.entitle(line)
	switch {
	case s.open() && deaths().MatchString(line):
		return at(n, "a process of the test did not end by itself: %s", quote(line))
	case s.Failure.matches(line):
		return at(n, "%s: %s", s.Says, quote(line))
	case s.Section.matches(line) && s.begun != 0:
		err := s.end(n)
		s.section = strings.ToLower(s.Section.submatch(line)[1]) + "."
		s.header, s.inSection = nil, 0
		return err
	case s.Header.matches(line):
		return s.begin(n, s.Header.submatch(line)[1])
	case s.Labelled.Begins != "" && strings.HasPrefix(line, s.Labelled.Begins):
		return s.labelled(n, line)
	case s.header == nil:
		return nil
	case s.Units.Line.matches(line) && !s.Units.Must.matches(line):
		return at(n, "%s: %s", s.Units.Else, quote(line))
	case s.Skip.matches(line):
		s.skipped++
		return nil
	}
	if isClosing, err := s.close(n, line); isClosing || err != nil {
		return err
	}
	fields := strings.Fields(line)
	switch {
	case s.rowLike(fields), s.worded() != nil && len(fields) > 0:
	case s.broken(fields): // an error of row
	case s.torn(fields):
		return at(n, "other output interrupts a row: %s", quote(line))
	default:
		if len(fields) > 0 && !strings.HasPrefix(line, "#") && strings.Trim(line, "-=+* ") != "" {
			s.between++
		}
		return nil
	}
	if s.Late != "" && s.section == "" && slices.Contains(s.closed, true) {
		return at(n, "%s: %s", s.Late, quote(line))
	}
	row, err := s.row(n, s.columnsOf(fields), fields)
	if err != nil {
		return err
	}
	return s.add(row)
}

// begin begins a table at its header.
func (s *scan) begin(n int, headings string) error {
	again := s.begun != 0
	if again && s.section == "" {
		if err := s.end(n); err != nil || s.title == (title{}) || slices.Contains(s.titles, s.title) {
			return at(n, "a second table, after that of line %d", s.begun)
		}
	}
	if s.section == "" {
		s.titles, s.first, s.skipped = append(s.titles, s.title), len(s.found.list), 0
		s.closed = make([]bool, len(s.Closing))
	}
	s.begun, s.header, s.loose = n, nil, nil
	return s.readHeader(n, headings)
}

// add keeps a row, or adds the metrics of a section to it.
func (s *scan) add(row Row) error {
	for _, k := range s.tool.Keys {
		if k.Title && s.title.title != "" {
			row.At[k.Name] = s.title.title
		}
		if k.Subtitle && s.title.subtitle != "" {
			row.At[k.Name] = s.title.subtitle
		}
	}
	if s.section == "" {
		row.Between, s.between = s.between, 0
		return s.found.add(row)
	}
	i := slices.IndexFunc(s.found.list, func(r Row) bool { return place(r.At) == place(row.At) })
	if i < 0 {
		return at(row.Line, "a row of %s, which the table above does not have", place(row.At))
	}
	s.inSection++
	for name, v := range row.Values {
		if s.tool.has(s.section + name) {
			s.found.list[i].Values[s.section+name] = v
		}
	}
	return nil
}

func (s *scan) labelled(n int, line string) error {
	m := s.Labelled.Row.FindStringSubmatch(line)
	if m == nil {
		return at(n, "%s: %s", s.Labelled.Else, quote(line))
	}
	var columns []column
	for _, heading := range s.Labelled.Headings {
		c := s.columns[heading]
		c.other = ""
		columns = append(columns, c)
	}
	s.begun, s.titles = n, []title{s.title}
	row, err := s.row(n, dropIncomplete(columns), m[1:])
	if err != nil {
		return err
	}
	return s.found.add(row)
}

// close reports whether a line closes the table.
func (s *scan) close(n int, line string) (bool, error) {
	for i, c := range s.Closing {
		m := c.Line.submatch(line)
		if m == nil || s.section != "" {
			continue
		}
		again := s.closed[i]
		s.closed[i] = true
		switch {
		case c.Metric == "":
			return true, nil
		case again:
			return true, at(n, "a second %s of the table of line %d", c.Metric, s.begun)
		}
		v, err := same.of(m[1])
		if err != nil {
			return true, at(n, "%w", err)
		}
		for _, row := range s.found.list[s.first:] {
			row.Values[c.Metric] = v
		}
		return true, nil
	}
	return false, nil
}

// worded returns the column with the words that no other column has, nil if there is none.
func (s *scan) worded() *keyData {
	if k := s.header[0].key; k != nil && k.As == "words" {
		return k
	}
	return nil
}
