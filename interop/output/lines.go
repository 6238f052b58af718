package output

import (
	"bytes"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// textLines returns the lines of an output, which must end with a line end: otherwise it was
// truncated, perhaps within the last number.
func textLines(output []byte) ([]string, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nothing("the output is empty")
	}
	lines := strings.Split(string(output), "\n")
	last := len(lines) - 1
	if lines[last] != "" {
		return nil, at(last+1, "the output ends in the middle of a line: %s", quote(lines[last]))
	}
	lines = lines[:last]
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines, nil
}

// hidesRow reports whether a line ends like a row of that many columns, but does not begin like
// one, since another process printed into it.
func hidesRow(line string, columns int) bool {
	if beginsWithDigit(line) {
		return false
	}
	fields := strings.Fields(line)
	if len(fields) < columns {
		return false
	}
	for _, f := range fields[len(fields)-min(3, columns):] {
		if !isDecimal(f) && f != "N/A" {
			return false
		}
	}
	return true
}

// beginsWithDigit reports whether a line may belong to a table of numbers.
func beginsWithDigit(line string) bool {
	s := strings.TrimLeft(line, " \t")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// launcherTag matches the prefix of mpirun --tag-output and srun --label.
var launcherTag = lazyregexp.New(`^(?:\[[^\]]*\d+,\d+\]<\w+>: ?|\s*\d+: )`)

// untagged removes the prefix of a launcher if each line has one.
func untagged(lines []string) []string {
	var all []string
	for _, l := range lines {
		tag := launcherTag().FindString(l)
		if tag == "" && l != "" {
			return lines
		}
		all = append(all, l[len(tag):])
	}
	return all
}
