package output

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// betweenHeadings matches two or more spaces, or tabs. A single space may be inside of a heading or
// between two.
var betweenHeadings = lazyregexp.New(`  +|\t\s*`)

// readHeader finds the columns of a table by their headings.
func (s *scan) readHeader(n int, line string) error {
	seen := map[string]int{}
	for _, part := range betweenHeadings().Split(strings.TrimSpace(line), -1) {
		for part != "" {
			heading := s.heading(part)
			c, known := s.columns[heading]
			seen[heading]++
			switch {
			case s.Refused[heading] != "":
				return at(n, "%s", s.Refused[heading])
			case !known, s.Again != "" && (seen[heading] > 2 || seen[heading] == 2 && c.key != nil):
				return at(n, "unknown column %s", quote(heading))
			case s.Again == "" && seen[heading] > 1:
				return at(n, "column %s occurs twice", quote(heading))
			}
			c.metrics = slices.Clone(c.metrics)
			for i := range c.metrics {
				if seen[heading] == 2 {
					c.metrics[i].name = s.Again + c.metrics[i].name
				}
			}
			for range max(1, c.Words) {
				s.header = append(s.header, c)
			}
			part = strings.TrimSpace(strings.TrimPrefix(part, heading))
		}
	}
	s.header = dropIncomplete(s.header)
	for _, heading := range s.Needs {
		due := 1
		if s.Again != "" {
			due = 2
		}
		if seen[heading] != due {
			times := strings.NewReplacer("{heading}", heading, "{n}", strconv.Itoa(seen[heading]))
			return at(n, "%s", times.Replace(s.Lacks))
		}
	}
	return nil
}

// heading returns the longest known heading at the beginning of a part of a line, or the text
// before the next one.
func (s *scan) heading(part string) string {
	words := strings.Split(part, " ")
	for from := range words {
		for to := len(words); to > from; to-- {
			heading := strings.Join(words[from:to], " ")
			if _, known := s.columns[heading]; !known && s.Refused[heading] == "" {
				continue
			}
			if from == 0 {
				return heading
			}
			return strings.Join(words[:from], " ")
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
