package structure

import (
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// wordsOnly are texts that a shell splits at blanks and does nothing else with.
var wordsOnly = lazyregexp.New(`^[\w ./=+%@-]+$`)

// split shows a command line as the list that a command is: its words, or a shell that reads it.
func split(line string) string {
	switch words := strings.Fields(line); {
	case len(words) == 0:
		return "[PROGRAM, ARGUMENT, …]"
	case wordsOnly().MatchString(line):
		return "[" + strings.Join(words, ", ") + "]"
	}
	return "[sh, -c, " + strconv.Quote(line) + "]"
}
