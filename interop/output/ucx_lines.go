package output

import (
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// ucxPart matches a line with a part of the numbers of a row, into which another process printed.
var ucxPart = lazyregexp.New(`\d\.\d+,|,\d+\.\d|^(?:[^,\s]+,)*\d+,?$`)

// readUCXLines reads the lines of -v below their header. The last line of a test is its result; lines of
// threads are stages. They do not say whether times are latencies, so these are passed on by their own
// names.
func readUCXLines(lines []string, header int) ([]Row, error) {
	names := strings.Count(ucxCSV().FindStringSubmatch(lines[header])[1], ",")
	var found rows
	stage := 0
	for i := header + 1; i < len(lines); i++ {
		n, fields := i+1, strings.Split(lines[i], ",")
		switch {
		case strings.Contains(lines[i], " UCX  ERROR ") || strings.Contains(lines[i], " UCX  FATAL "):
			return nil, at(n, "ucx_perftest says: %s", quote(lines[i]))
		case strings.Contains(lines[i], "[thread "):
			stage = n
			continue
		case len(fields) < names+4 || !isDecimal(strings.TrimSpace(fields[names])):
			if ucxPart().MatchString(strings.TrimSpace(lines[i])) {
				return nil, tornRow(n, lines[i])
			}
			continue
		case len(fields) == names+4 && !ucxOfThreads(fields[names:]):
			return nil, tornRow(n, lines[i])
		}
		test := strings.Join(fields[:names], "/")
		for j := range fields {
			fields[j] = strings.TrimSpace(fields[j])
		}
		row, err := new(tableFormat).row(n, ucxLine(len(fields)-names), fields[names:])
		if err != nil {
			return nil, err
		}
		if names > 0 {
			row.At["test"] = test
		}
		found.drop(row)
		if err := found.add(row); err != nil {
			return nil, err
		}
		stage = 0
	}
	switch {
	case stage != 0:
		return nil, at(stage, "the output ends after stages of a test: the result is missing")
	case len(found.list) == 0:
		return nil, at(header+1, "%w: no line below has the numbers of the headings", errNoRow)
	}
	return found.list, nil
}

// ucxLine returns the columns of a line of -v with n numbers: four with several threads.
func ucxLine(n int) []column {
	microseconds := func(name string) column { return column{other: name, scale: scales["us"]} }
	iterations, last := ucxColumn("requests", ""), column{}
	bandwidth, rate := ucxColumn("bandwidth", "MiB/s"), ucxColumn("message_rate", "1/s")
	if n == 4 {
		return []column{iterations, microseconds("overall_lat"), bandwidth, rate}
	}
	return []column{iterations, microseconds("percentile_lat"), microseconds("avg_lat"), microseconds("overall_lat"),
		last, bandwidth, last, rate}
}
