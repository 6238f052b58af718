package docs

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// rule is the line of a table of Markdown below its header.
var rule = regexp.MustCompile(`^\|(\s*:?-+:?\s*\|)+$`)

// leastText is the width below which the first column of a table with numbers is not cut.
const leastText = 16

// gap is what stands between two columns of a terminal.
const gap = "  "

// cells are those of a line of a table, with links as a terminal shows them.
func cells(line string) []string {
	const bar = "\x01"
	line = strings.ReplaceAll(unlinked(line), `\|`, bar)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	all := strings.Split(line, "|")
	for i, c := range all {
		all[i] = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(c), bar, "|"), unbroken, " ")
	}
	return all
}

// table writes a table for a terminal: in columns, or if these are too wide as a list with an entry for each row.
func (w *wrapper) table(lines []string) {
	var rows [][]string
	right := map[int]bool{} // columns of numbers
	for _, line := range lines {
		if !rule.MatchString(line) {
			rows = append(rows, cells(line))
			continue
		}
		for i, c := range cells(line) {
			if strings.HasSuffix(c, "-:") {
				right[i] = true
			}
		}
	}
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	total := -len(gap)
	for _, n := range widths {
		total += n + len(gap)
	}
	if over := total - w.width; over > 0 {
		if len(right) == 0 || widths[0]-over < leastText {
			w.entries(rows)
			return
		}
		widths[0], total = widths[0]-over, w.width // numbers stay in columns
	}
	for i, row := range rows {
		lines := strings.Split(strings.TrimSuffix(Fill(row[0], widths[0]), "\n"), "\n")
		for _, line := range lines[:len(lines)-1] {
			w.put(line)
		}
		row[0] = lines[len(lines)-1]
		var line strings.Builder
		for k, c := range row {
			pad := strings.Repeat(" ", max(0, widths[k]-utf8.RuneCountInString(c)))
			if right[k] {
				c, pad = pad+c, ""
			}
			line.WriteString(c + pad + gap)
		}
		w.put(strings.TrimRight(line.String(), " "))
		if i == 0 {
			w.put(strings.Repeat("─", total))
		}
	}
}

// entries writes the rows of a table as a list: the first cell, and below it the others with their headers.
func (w *wrapper) entries(rows [][]string) {
	for _, row := range rows[1:] {
		for i, c := range row {
			if i >= len(rows[0]) || c == "" {
				continue
			}
			w.first, w.hang = "- ", "  "
			if i > 0 {
				w.first, w.hang = "  ", "    "
				if rows[0][i] != "" {
					c = rows[0][i] + ": " + c
				}
			}
			w.words = append(w.words, c)
			w.flush()
		}
	}
}
