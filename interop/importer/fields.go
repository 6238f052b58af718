package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// fieldPrinted matches a program of awk that prints one field of each line.
var fieldPrinted = lazyregexp.New(`^\s*\{\s*print\s+\$(\d+|NF)\s*\}\s*$`)

// printedField is awk that prints one field of each line.
func printedField(args []string, text string) (printed string, ok bool) {
	between, rest := flagValue(args, "-F")
	if len(rest) != 1 || len(between) > 1 || strings.Contains(`\`, between) && between != "" {
		return "", false
	}
	m := fieldPrinted().FindStringSubmatch(rest[0])
	if m == nil || m[1] == "0" {
		return "", false
	}
	return fieldOf(text, m[1], func(line string) []string {
		if between == "" || between == " " {
			return strings.Fields(line)
		}
		return strings.Split(line, between)
	}), true
}

// oneField is cut with the number of a field.
func oneField(args []string, text string) (printed string, ok bool) {
	between, rest := flagValue(args, "-d")
	field, rest := flagValue(rest, "-f")
	if len(rest) > 0 || !isCount(field) || len([]rune(between)) > 1 {
		return "", false
	}
	return fieldOf(text, field, func(line string) []string {
		fields := strings.Split(line, or(between, "\t"))
		if len(fields) == 1 {
			fields = slices.Repeat(fields, mostArguments) // it prints such a line whole
		}
		return fields
	}), true
}

// flagValue returns the value of a flag of one letter, and the other arguments.
func flagValue(args []string, flag string) (value string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch own, is := strings.CutPrefix(args[i], flag); {
		case is && own == "" && i+1 < len(args):
			i++
			value = args[i]
		case is:
			value = own
		default:
			rest = append(rest, args[i])
		}
	}
	return value, rest
}

// fieldOf returns a field of each line; NF is the last.
func fieldOf(text, number string, divide func(line string) []string) string {
	var out []string
	for _, line := range linesOf(text) {
		fields, field := divide(line), ""
		n, err := strconv.Atoi(number)
		if err != nil {
			n = len(fields)
		}
		if n > 0 && n <= len(fields) {
			field = fields[n-1]
		}
		out = append(out, field)
	}
	return joined(out)
}
