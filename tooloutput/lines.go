package tooloutput

import (
	"bytes"
	"strings"
)

// textLines are the lines of an output, which must end with one: what has no end was cut
// short, and so perhaps was the last number.
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

// hidesRow says whether a line ends as a row of so many columns does, but does not begin
// as one: another process printed into it.
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

// beginsWithDigit says whether a line can be one of a table of numbers.
func beginsWithDigit(line string) bool {
	s := strings.TrimLeft(line, " \t")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}
