package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var (
	// betweenHeadings matches two or more spaces, or tabs. A single space may be inside of a heading or
	// between two.
	betweenHeadings = lazyregexp.New(`  +|\t\s*`)
	// unitOfHeading matches a heading that ends with a unit.
	unitOfHeading = lazyregexp.New(`^(.*?)\s*[\[(]([^\])]*)[\])]$`)
	// notInNames matches what the own name of a column does not have.
	notInNames = lazyregexp.New(`[^A-Za-z0-9_.]+`)
)

// readHeader finds the columns of a table by their headings.
func (s *scan) readHeader(n int, line string) error {
	seen, loosely := map[string]int{}, map[string]int{} // loosely: if each word of an unknown heading is a column
	fits, words := true, []column(nil)
	for _, part := range betweenHeadings().Split(strings.TrimSpace(line), -1) {
		for part != "" {
			heading := s.heading(part)
			seen[heading]++
			if s.Refused[heading] != "" {
				return at(n, "%s", s.Refused[heading])
			}
			c, err := s.columnOf(heading, seen[heading])
			if err != nil {
				return at(n, "%w", err)
			}
			if s.named(c.other) {
				_, unit := splitUnit(heading)
				c.other += "_" + strings.Trim(notInNames().ReplaceAllString(unit, "_"), "_")
			}
			for range max(1, c.Words) {
				s.header = append(s.header, c)
			}
			each := []string{heading}
			if _, known := s.columns[heading]; !known && c.other != "" {
				each = strings.Fields(heading)
			}
			for _, w := range each {
				loosely[w]++
				if len(each) > 1 {
					c, err = s.columnOf(w, loosely[w])
					fits, words = fits && err == nil, append(words, c)
				}
				s.loose = append(s.loose, c)
			}
			part = strings.TrimSpace(strings.TrimPrefix(part, heading))
		}
	}
	if !fits || slices.ContainsFunc(words, s.again) {
		s.loose = nil
	}
	s.header, s.loose = dropIncomplete(s.header), dropIncomplete(s.loose)
	for _, heading := range s.Needs {
		due := 1
		if s.Again != "" {
			due = 2
		}
		if seen[heading] != due && loosely[heading] != due && !s.elsewhere(heading, due) {
			times := strings.NewReplacer("{heading}", heading, "{n}", strconv.Itoa(seen[heading]))
			return at(n, "%s", times.Replace(s.Lacks))
		}
	}
	return nil
}

// again reports whether a column has a metric that another column of loose has, too.
func (s *scan) again(c column) bool {
	return slices.ContainsFunc(c.metrics, func(m columnMetric) bool {
		n := 0
		for _, other := range s.loose {
			if slices.ContainsFunc(other.metrics, func(o columnMetric) bool { return o.name == m.name }) {
				n++
			}
		}
		return n > 1
	})
}

// named reports whether the header has a column with this own name.
func (s *scan) named(own string) bool {
	return own != "" && slices.ContainsFunc(s.header, func(c column) bool { return c.other == own })
}

// elsewhere reports whether the header has the metrics of a heading under others, as in another unit.
func (s *scan) elsewhere(heading string, due int) bool {
	found := 0
	for _, c := range s.header {
		if c.metrics != nil && c.heading == heading {
			found++
		}
	}
	return found == due
}

// columnOf returns the column of a heading: a known one, a known one in another unit, or one that is
// passed on by its own name.
func (s *scan) columnOf(heading string, times int) (column, error) {
	c, known := s.columns[heading]
	if !known {
		var err error
		if c, err = s.unknown(heading); err != nil {
			return c, err
		}
	}
	switch {
	case times > 1 && s.Again == "", times > 2, times == 2 && c.key != nil:
		return c, fmt.Errorf("column %s occurs twice", quote(heading))
	case times == 2 && c.other != "":
		c.other = s.Again + c.other
	}
	c.metrics = slices.Clone(c.metrics)
	for i := range c.metrics {
		if times == 2 {
			c.metrics[i].name = s.Again + c.metrics[i].name
		}
	}
	return c, nil
}

// unknown returns the column of a heading that the tool's file does not have.
func (s *scan) unknown(heading string) (column, error) {
	own := ownColumn(heading)
	name, unit := splitUnit(heading)
	u, spelled := spelledUnit(unit)
	var read []string
	for _, other := range sortedNames(s.columns) {
		c := s.columns[other]
		same, in := splitUnit(other)
		if same != name || unit == "" || in == "" || c.metrics == nil {
			continue
		}
		if !spelled {
			read = append(read, in)
			continue
		}
		c.metrics = slices.Clone(c.metrics)
		for i := range c.metrics {
			c.metrics[i].unit = u
		}
		return c, nil
	}
	if read != nil {
		return own, fmt.Errorf("column %s is in %s, and %s are read", quote(name), quote(unit),
			strings.Join(slices.Compact(read), ", "))
	}
	return own, nil
}

// splitUnit separates a heading from its unit in brackets.
func splitUnit(heading string) (name, unit string) {
	if m := unitOfHeading().FindStringSubmatch(heading); m != nil {
		return m[1], m[2]
	}
	return heading, ""
}

// ownColumn returns the column of a heading without metric, which is passed on.
func ownColumn(heading string) column {
	name, unit := splitUnit(heading)
	c := column{heading: heading, scale: same, other: strings.Trim(notInNames().ReplaceAllString(name, "_"), "_")}
	if u, spelled := spelledUnit(unit); spelled {
		c.scale = u
	}
	if c.other == "" {
		c.other = "column"
	}
	return c
}

// heading returns the longest known heading at the beginning of a part of a line, or else the part: the end of an
// unknown heading may be a known one, as that of Median Latency(us).
func (s *scan) heading(part string) string {
	words := strings.Split(part, " ")
	for to := len(words); to > 0; to-- {
		heading := strings.Join(words[:to], " ")
		if _, known := s.columns[heading]; known || s.Refused[heading] != "" {
			return heading
		}
	}
	return part
}

// dropIncomplete removes the metrics that need a further column, if that is missing.
func dropIncomplete(columns []column) []column {
	for i, c := range columns {
		columns[i].metrics = slices.DeleteFunc(slices.Clone(c.metrics), func(m columnMetric) bool {
			return m.beside != nil && !slices.ContainsFunc(columns, func(other column) bool {
				return slices.Contains(m.beside, other.heading)
			})
		})
	}
	return columns
}
