package importer

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// filters are programs that make a text of what they read, or of their arguments.
var filters = map[string]func(args []string, text string) (printed string, ok bool){
	"seq": func(args []string, _ string) (string, bool) { return counted(args) },
	"expr": func(args []string, _ string) (string, bool) {
		return calculated(strings.Join(args, " "), onlyCalculates(args))
	},
	"bc": func(args []string, text string) (string, bool) {
		plain := strings.Trim(text, "0123456789+-*/%^() \n") == "" && strings.Count(text, "\n") < 2
		return calculated(strings.ReplaceAll(strings.TrimSpace(text), "^", "**"), plain && len(args) == 0)
	},
	"basename": func(args []string, _ string) (string, bool) {
		args = append(args, "", "")
		return strings.TrimSuffix(path.Base(args[0]), args[1]) + "\n", len(args) == 3 || len(args) == 4
	},
	"dirname": func(args []string, _ string) (string, bool) {
		return path.Dir(strings.Join(args, "")) + "\n", len(args) == 1
	},
	"cat":  func(_ []string, text string) (string, bool) { return text, true },
	"tr":   translated,
	"head": func(args []string, text string) (string, bool) { return someLines(args, text, false) },
	"tail": func(args []string, text string) (string, bool) { return someLines(args, text, true) },
	"sort": sorted,
	"cut":  func(args []string, text string) (string, bool) { return oneField(args, text, true) },
	"awk":  func(args []string, text string) (string, bool) { return oneField(args, text, false) },
	"uniq": func(args []string, text string) (string, bool) {
		return joined(slices.Compact(linesOf(text))), len(args) == 0
	},
	"wc": func(args []string, text string) (string, bool) {
		return strconv.Itoa(strings.Count(text, "\n")) + "\n", slices.Equal(args, []string{"-l"})
	},
}

// withoutInput are those that read nothing.
var withoutInput = names("seq|expr|basename|dirname")

// calculated is the line with the value of arithmetic.
func calculated(text string, plain bool) (printed string, ok bool) {
	e, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
	if err != nil || e == nil || !plain {
		return "", false
	}
	n, err := expand.Arithm(nil, e)
	return strconv.Itoa(n) + "\n", err == nil
}

// onlyCalculates reports whether words of expr are numbers and operators that arithmetic has too.
func onlyCalculates(args []string) bool {
	for _, a := range args {
		if _, err := strconv.ParseInt(a, 10, 64); err != nil && !strings.Contains(" + - * / % ( ) ", " "+a+" ") {
			return false
		}
	}
	return len(args) > 0
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// fieldOfLines matches arguments of cut with the number of a field, and those of awk that prints one.
var fieldOfLines = lazyregexp.New(
	`^(?:-[dF]\x00?([^\\])\x00)?(?:-f\x00?|\s*\{\s*print\s+\$)([1-9]\d*|NF)(?:\s*\}\s*)?(?:\x00-d\x00?(.))?$`)

// oneField is cut or awk with one field of each line. cut prints lines without a separator whole.
func oneField(args []string, text string, isCut bool) (printed string, ok bool) {
	m := fieldOfLines().FindStringSubmatch(strings.Join(args, "\x00"))
	if m == nil {
		return "", false
	}
	lines := linesOf(text)
	for i, line := range lines {
		fields := strings.Fields(line)
		if between := m[1] + m[3]; isCut || strings.TrimSpace(between) != "" {
			fields = strings.Split(line, or(between, "\t"))
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			n = len(fields)
		}
		if len(fields) > 1 || !isCut {
			lines[i] = strings.Join(fields[min(max(n-1, 0), len(fields)):min(n, len(fields))], "")
		}
	}
	return joined(lines), true
}

// unescapedText returns a text with what printf makes of its backslashes.
func unescapedText(text string) string {
	out, _, err := expand.Format(nil, text, nil)
	if err != nil {
		return text
	}
	return out
}

// translated is tr with -d, or with two sets of plain characters; the second set may be one character.
func translated(args []string, text string) (printed string, ok bool) {
	deletes := len(args) == 2 && args[0] == "-d"
	if deletes {
		args = []string{args[1], ""}
	}
	if len(args) != 2 || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	from, to := []rune(unescapedText(args[0])), []rune(unescapedText(args[1]))
	if slices.ContainsFunc(args, func(a string) bool { return len(a) > 1 && strings.ContainsAny(a, "-[") }) ||
		!deletes && len(to) == 0 {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		i := slices.Index(from, r)
		switch {
		case i < 0:
			return r
		case deletes:
			return -1
		}
		return to[min(i, len(to)-1)]
	}, text), true
}

// someLines is head and tail with a number of lines.
func someLines(args []string, text string, last bool) (printed string, ok bool) {
	count := "10"
	switch {
	case len(args) == 2 && args[0] == "-n":
		count = args[1]
	case len(args) == 1:
		count = strings.TrimPrefix(strings.TrimPrefix(args[0], "-n"), "-")
	case len(args) > 0:
		return "", false
	}
	fromStart := last && strings.HasPrefix(count, "+")
	n, err := strconv.Atoi(strings.TrimPrefix(count, "+"))
	lines := linesOf(text)
	switch {
	case err != nil || n < 0:
		return "", false
	case fromStart:
		return joined(lines[min(max(n-1, 0), len(lines)):]), true
	case last:
		return joined(lines[max(0, len(lines)-n):]), true
	}
	return joined(lines[:min(n, len(lines))]), true
}

// sorted is sort with -n, -r and -u.
func sorted(args []string, text string) (printed string, ok bool) {
	flags := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") || strings.Trim(a, "-nru") != "" {
			return "", false
		}
		flags += a
	}
	lines := linesOf(text)
	for _, l := range lines { // the order of texts is that of a language
		if _, err := strconv.Atoi(l); err != nil {
			return "", false
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		if strings.Contains(flags, "n") {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return x - y
		}
		return strings.Compare(a, b)
	})
	if strings.Contains(flags, "r") {
		slices.Reverse(lines)
	}
	if strings.Contains(flags, "u") {
		lines = slices.Compact(lines)
	}
	return joined(lines), true
}

// counted is what seq prints.
func counted(args []string) (printed string, ok bool) {
	r, ok := rangeOf(args)
	if !ok || r.count > mostItems {
		return "", false
	}
	var numbers []string
	for i := range r.count {
		number := r.decimal(r.from + i*r.by)
		numbers = append(numbers, r.before+strings.Repeat("0", max(0, r.width-len(number)))+number+r.after)
	}
	if numbers == nil {
		return "", true
	}
	return strings.Join(numbers, r.separator) + "\n", true
}

// numberRange is what seq prints.
type numberRange struct {
	from, by, count int
	separator       string
	width           int // to which zeros fill numbers; 0: none do
	before, after   string
	scale, decimals int // numbers have as many decimals, and as many are printed
}

// decimal returns a number with its decimals.
func (r numberRange) decimal(n int) string {
	if r.scale == 0 {
		return strconv.Itoa(n)
	}
	return strconv.FormatFloat(float64(n)/math.Pow10(r.scale), 'f', r.decimals, 64)
}

// decimalsOf returns the number of decimals of a number.
func decimalsOf(number string) int {
	_, after, _ := strings.Cut(number, ".")
	return len(after)
}

// seqFormat matches a format of seq for whole numbers.
var seqFormat = lazyregexp.New(`^([^%\\]*)%(?:0(\d))?(?:\.0f|g)([^%\\]*)$`)

// rangeOf returns the numbers that arguments of seq give.
func rangeOf(args []string) (r numberRange, ok bool) {
	padded, formatted := false, false
	r.separator = "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && !isDigit(args[0][1]) {
		flag := args[0]
		switch args = args[1:]; {
		case flag == "-w":
			padded = true
		case flag == "-f" && len(args) > 0:
			m := seqFormat().FindStringSubmatch(args[0])
			if m == nil {
				return r, false
			}
			r.before, r.after, args = m[1], m[3], args[1:]
			r.width, _ = strconv.Atoi(m[2])
			formatted = true
		case flag == "-s" && len(args) > 0:
			r.separator, args = args[0], args[1:]
		case strings.HasPrefix(flag, "-s"):
			r.separator = flag[2:]
		default:
			return r, false
		}
	}
	if len(args) == 0 || len(args) > 3 || strings.Contains(r.separator, `\`) {
		return r, false
	}
	var ends []int
	width := 0
	for i, a := range args {
		r.scale = max(r.scale, decimalsOf(a))
		if i == 0 && len(args) > 1 || i == 1 && len(args) > 2 {
			r.decimals = max(r.decimals, decimalsOf(a))
		}
	}
	if r.scale > 6 || r.scale > 0 && (padded || formatted) {
		return r, false
	}
	for _, a := range args {
		whole, after, _ := strings.Cut(a, ".")
		number, err := strconv.Atoi(whole + after + strings.Repeat("0", r.scale-len(after)))
		filled := padded || formatted
		if err != nil || number > 1<<30 || number < -1<<30 || filled && number < 0 || formatted && number > 999_999 {
			return r, false
		}
		ends, width = append(ends, number), max(width, len(a))
	}
	r.from = int(math.Pow10(r.scale))
	r.by = r.from
	to := ends[len(ends)-1]
	if len(ends) > 1 {
		r.from = ends[0]
	}
	if len(ends) > 2 {
		r.by, width = ends[1], max(len(args[0]), len(args[2]))
	}
	if r.by == 0 {
		return r, false
	}
	if padded {
		r.width = width
	}
	r.count = max(0, (to-r.from+r.by)/r.by)
	return r, true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
