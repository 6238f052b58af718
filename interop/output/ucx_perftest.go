package output

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var (
	// ucxKind matches the line of the header that names the times.
	ucxKind = lazyregexp.New(`^\|(?: +\|){1,2} +(latency|overhead) \(usec\) ` +
		`+\| +bandwidth \(MB/s\) +\| +message rate \(msg/s\) +\|$`)
	// ucxHeader matches the line below it. Until 1.10 it says typical for the median, and until 1.8 it has
	// no stage.
	ucxHeader = lazyregexp.New(`^\|(?: +(Test|Stage) +\|)? # iterations \| *(?:([\d.]+)%ile|typical) ` +
		`\| average \| overall \| +average \| +overall \| +average +\| +overall +\|$`)
	// ucxCSV matches the header of -v.
	ucxCSV = lazyregexp.New(`^((?:[^,\s]+,)*)iterations,(?:typical|[\d.]+_percentile)_lat,avg_lat,`)
	// ucxTest matches the line that names a test of a batch file.
	ucxTest = lazyregexp.New(`^\+([^-+ ][^ ]*?)-*\+[-+]*\+$`)
	// ucxGroups matches a whole number with the separators of -N.
	ucxGroups = lazyregexp.New(`^\d{1,3}(,\d{3})+$`)
)

// ucxTable is the state of reading the output.
type ucxTable struct {
	kind   string // latency or overhead
	rank   string // of its percentile
	old    bool   // until 1.8: the last line is the result, and all times are called latency
	final  bool   // the lines are results, not stages before one (-f)
	header int
	test   string // the current test of a batch file
	named  int    // its line
	stage  int    // the last line of stages without a result yet
}

func readUCXPerftest(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var (
		found rows
		t     ucxTable
	)
	lines = untagged(lines)
	for i, line := range lines {
		n := i + 1
		switch trimmed := strings.TrimSpace(line); {
		case strings.Contains(line, " UCX  ERROR ") || strings.Contains(line, " UCX  FATAL "):
			return nil, at(n, "ucx_perftest says: %s", quote(line))
		case ucxCSV().MatchString(line):
			return readUCXLines(lines, i)
		case ucxKind().MatchString(trimmed):
			if t.kind != "" {
				return nil, at(n, "a second table, after that of line %d", t.header)
			}
			t.kind, t.header = ucxKind().FindStringSubmatch(trimmed)[1], n
		case t.kind != "" && t.rank == "" && ucxHeader().MatchString(trimmed):
			m := ucxHeader().FindStringSubmatch(trimmed)
			t.final, t.old, t.rank = m[1] == "Test", m[1] == "", m[2]
			if t.rank == "" {
				t.rank = "50.0"
			}
		case t.rank == "":
		case ucxTest().MatchString(line):
			if t.test != "" && !t.old {
				return nil, at(n, "test %s of line %d has no result", quote(t.test), t.named)
			}
			t.test, t.named = ucxTest().FindStringSubmatch(line)[1], n
		default:
			row, err := t.line(n, line)
			if err != nil {
				return nil, err
			}
			if row == nil {
				continue
			}
			if t.old { // the last line of a test is its result
				found.drop(*row)
			}
			if err := found.add(*row); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case t.rank == "":
		return nil, nothing("no table (a server prints none): no line has the headings # iterations, average, "+
			"overall (read: 1.4 to 1.23); the output has %d lines, the first is %s", len(lines), quote(lines[0]))
	case t.stage != 0:
		return nil, at(len(lines),
			"the output ends after stages of a test: the result, a line that begins with Final, is missing")
	case t.test != "" && !t.old:
		return nil, at(len(lines), "test %s of line %d has no result", quote(t.test), t.named)
	case len(found.list) == 0:
		return nil, at(len(lines), "the table has a header but no result")
	}
	return found.list, nil
}

// line reads one line below the header; nil if it is not a result.
func (t *ucxTable) line(n int, line string) (*Row, error) {
	printed := strings.Fields(line)
	fields := slices.Clone(printed)
	for i, f := range fields {
		if ucxGroups().MatchString(f) {
			fields[i] = strings.ReplaceAll(f, ",", "")
		}
	}
	stage := false
	switch {
	case len(fields) == 0:
		return nil, nil
	case t.final && len(fields) > 1 && !isDecimal(fields[0]) && isDecimal(fields[1]):
		t.test, fields = fields[0], fields[1:]
	case !t.final && fields[0] == "Final:":
		fields = fields[1:]
	case !t.final && fields[0] == "[thread" && len(fields) > 1:
		fields, stage = fields[2:], true
	case isDecimal(fields[0]):
		stage = !t.final && !t.old // of a build without threads
	case t.torn(fields):
		return nil, tornRow(n, line)
	default:
		return nil, nil // a rule, or a line of a log
	}
	if len(fields) == 4 && !ucxOfThreads(fields) {
		return nil, tornRow(n, line)
	}
	printed = printed[len(printed)-len(fields):]
	if columns := 8; len(fields) > columns && !isDecimal(fields[columns]) { // of -I
		fields = fields[:columns]
	}
	for i := 1; i < len(fields)-len(fields)/4; i++ { // -N groups counts, so that a comma of others is a decimal one
		fields[i] = printed[i]
	}
	row, err := new(tableFormat).row(n, t.columns(len(fields)), fields)
	switch {
	case err != nil:
		return nil, err
	case stage:
		t.stage = n
		return nil, nil
	case t.test != "":
		row.At["test"] = t.test
	}
	t.stage = 0
	if !t.old {
		t.test = ""
	}
	return &row, nil
}

func tornRow(n int, line string) error {
	return at(n, "a line with the numbers of a row is no whole row: %s", quote(line))
}

// ucxOfThreads reports whether four numbers are those of several threads, and not the first of eight: the third is a
// bandwidth, which has two decimals, and no time, which has three.
func ucxOfThreads(fields []string) bool {
	_, decimals, _ := strings.Cut(strings.TrimSpace(fields[2]), ".")
	return len(decimals) == len("00")
}

// torn reports whether a line has most of the numbers of a row, unlike a log. Where the last line is the result, some
// of them count.
func (t *ucxTable) torn(fields []string) bool {
	numbers, points := 0, 0
	for _, f := range fields {
		if numeric().MatchString(f) {
			numbers++
			points += strings.Count(f, ".")
		}
	}
	return numbers > 5 && points > 2 || t.old && numbers > 1 && points > 1
}

// columns returns the columns of a line with n numbers: four with several threads, otherwise the
// eight of the header.
func (t *ucxTable) columns(n int) []column {
	overall, percentile := column{}, column{}
	// Before the tests of a batch file, the header always says overhead.
	if t.test == "" && !t.old {
		overall = ucxColumn(t.kind+".avg", "us")
		if name := ucxPercentiles[t.rank]; name != "" && (t.kind == "latency" || name == "p50") {
			percentile = ucxColumn(t.kind+"."+name, "us")
		}
	}
	iterations, last := ucxColumn("requests", ""), column{} // last is of the last stage alone
	bandwidth, rate := ucxColumn("bandwidth", "MiB/s"), ucxColumn("message_rate", "1/s")
	if n == 4 {
		return []column{iterations, overall, bandwidth, rate}
	}
	return []column{iterations, percentile, last, overall, last, bandwidth, last, rate}
}

func ucxColumn(metric, unit string) column {
	return column{metrics: []columnMetric{{name: metric, unit: scales[unit]}}}
}

// ucxPercentiles are the ranks that a percentile of the table may have.
var ucxPercentiles = map[string]string{"50.0": "p50", "90.0": "p90", "95.0": "p95", "99.0": "p99", "99.9": "p999"}
