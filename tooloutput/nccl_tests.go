package tooloutput

import (
	"regexp"
	"strings"
)

// The table of nccl-tests is printed by src/util.cu of NVIDIA/nccl-tests (read as of
// 0fdb00a3f, 2025) and src/common.cu of older versions (2.13 to 2.17, which spell the last
// lines a little differently). There are no GPUs here: the outputs in testdata were
// written by these formats.
var ncclTests = Format{
	Name: "nccl-tests",
	Doc: "the table of all_reduce_perf and its like, up to the line with the average bus bandwidth. " +
		"Wrong elements are an error, and so is a bandwidth below NCCL_TESTS_MIN_BW",
	Keys: []string{"block_size", "type", "redop", "root"},
	Metrics: []Metric{
		{Name: "algbw", Unit: "GB/s", Better: Higher,
			Doc: "algbw, out of place: the size of the row (10^9 bytes) divided by time_per_operation. " +
				"Absent, as all of them, where it is printed as 0.00"},
		{Name: "busbw", Unit: "GB/s", Better: Higher,
			Doc: "busbw, out of place: algbw times a factor of the collective and the number of ranks, after " +
				"which it can be compared with a link"},
		{Name: "time_per_operation", Unit: "s", Better: Lower,
			Doc: "time, out of place: time of all iterations divided by their number, mean over ranks unless " +
				"-a says otherwise. " +
				"Operations are enqueued one behind the other: an inverse rate and no latency"},
		{Name: "latency.min", Unit: "s", Better: Lower,
			Doc: "i_min, out of place, where iterations are timed singly"},
		{Name: "latency.p99", Unit: "s", Better: Lower, Doc: "i_p99, out of place"},
		{Name: "latency.max", Unit: "s", Better: Lower, Doc: "i_max, out of place"},
		{Name: "inplace.algbw", Unit: "GB/s", Better: Higher, Doc: "algbw, in place"},
		{Name: "inplace.busbw", Unit: "GB/s", Better: Higher, Doc: "busbw, in place"},
		{Name: "inplace.time_per_operation", Unit: "s", Better: Lower, Doc: "time, in place"},
		{Name: "inplace.latency.min", Unit: "s", Better: Lower, Doc: "i_min, in place"},
		{Name: "inplace.latency.p99", Unit: "s", Better: Lower, Doc: "i_p99, in place"},
		{Name: "inplace.latency.max", Unit: "s", Better: Lower, Doc: "i_max, in place"},
		{Name: "busbw.avg", Unit: "GB/s", Better: Higher,
			Doc: "Avg bus bandwidth: mean of busbw over all rows, in place too; the same in each row"},
	},
	Read: readNCCLTests,
}

var ncclColumns = map[string]column{
	"size":   {key: "block_size"},
	"count":  {unit: same},
	"type":   {key: "type"},
	"redop":  {key: "redop"},
	"root":   {key: "root"},
	"time":   {metric: "time_per_operation", unit: microseconds},
	"algbw":  {metric: "algbw", unit: same, noZero: true},
	"busbw":  {metric: "busbw", unit: same, noZero: true},
	"#wrong": {unit: same, none: "N/A"},
	"error":  {unit: same, none: "N/A"}, // of older versions: the greatest deviation, not 0 of sums
	"i_min":  {metric: "latency.min", unit: microseconds},
	"i_max":  {metric: "latency.max", unit: microseconds},
	"i_p99":  {metric: "latency.p99", unit: microseconds},
	"i_cv%":  {unit: same},
}

var (
	ncclOutOfBounds = regexp.MustCompile(`^# Out of bounds values +: (\d+) (OK|FAILED)$`)
	ncclAverage     = regexp.MustCompile(`^# Avg bus bandwidth +: (\S+) *(OK|FAILED)?$`)
	ncclFailure     = regexp.MustCompile(`Test (NCCL|CUDA) failure|: Test failure |^# error: |Test timeout`)
)

func readNCCLTests(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var (
		found   rows
		columns []column
		wrong   []int // the columns that count wrong elements
		heading int
		checked bool
		average float64
		closed  int
	)
	for i, line := range lines {
		n := i + 1
		bounds, mean := ncclOutOfBounds.FindStringSubmatch(line), ncclAverage.FindStringSubmatch(line)
		switch {
		case ncclFailure.MatchString(line):
			return nil, at(n, "the test says: %s", quote(line))
		case columns == nil && ncclHeading(line):
			if columns, wrong, err = ncclHeader(n, strings.Fields(line)[1:]); err != nil {
				return nil, err
			}
			heading = n
		case columns == nil:
		case ncclHeading(line):
			return nil, at(n, "a second table, after that of line %d", heading)
		case bounds != nil:
			if bounds[1] != "0" || bounds[2] != "OK" {
				return nil, at(n, "the test says: %s", quote(line))
			}
			checked = true
		case mean != nil:
			if mean[2] == "FAILED" {
				return nil, at(n, "the test says: %s", quote(line))
			}
			if average, err = same.of(mean[1]); err != nil {
				return nil, at(n, "%w", err)
			}
			closed = n
		case hidesRow(line, len(columns)):
			return nil, at(n, "something was printed into a row: %s", quote(line))
		case beginsWithDigit(line):
			row, err := ncclRow(n, columns, wrong, strings.Fields(line))
			if err == nil {
				err = found.add(row)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	switch {
	case columns == nil:
		return nil, nothing("no table (only the first process prints one)")
	case !checked || closed == 0:
		return nil, at(len(lines),
			"the lines Out of bounds values and Avg bus bandwidth are missing: the output was cut short")
	case len(found.list) == 0:
		return nil, at(len(lines), "the table has a header and no result")
	}
	for _, row := range found.list {
		row.Values["busbw.avg"] = average
	}
	return found.list, nil
}

// ncclHeading says whether a line names the columns.
func ncclHeading(line string) bool {
	fields := strings.Fields(line)
	return len(fields) > 3 && fields[0] == "#" && fields[1] == "size" && fields[2] == "count"
}

// ncclHeader reads the names of the columns; the second time, algbw, ... are in place.
func ncclHeader(n int, names []string) (columns []column, wrong []int, err error) {
	seen := map[string]int{}
	for i, name := range names {
		if name == "cputime" {
			return nil, nil, at(n, "with -C the column of times is that of the CPU: leave -C out")
		}
		if name == "timestamp" && i == len(names)-1 {
			columns = append(columns, column{text: true}, column{text: true}) // a day and a time
			break
		}
		c, ok := ncclColumns[name]
		seen[name]++
		if !ok || seen[name] > 2 || c.key != "" && seen[name] > 1 {
			return nil, nil, at(n, "unknown column %s", quote(name))
		}
		if seen[name] == 2 && c.metric != "" {
			c.metric = "inplace." + c.metric
		}
		if name == "#wrong" {
			wrong = append(wrong, i)
		}
		columns = append(columns, c)
	}
	for _, name := range []string{"time", "algbw", "busbw"} {
		if seen[name] != 2 {
			return nil, nil, at(n, "the header has column %s %d times, and 2 are due", name, seen[name])
		}
	}
	return columns, wrong, nil
}

func ncclRow(n int, columns []column, wrong []int, fields []string) (Row, error) {
	row, err := readRow(n, columns, fields)
	if err != nil {
		return Row{}, err
	}
	for _, i := range wrong {
		if fields[i] != "0" && fields[i] != "N/A" {
			return Row{}, at(n, "%s wrong elements", fields[i])
		}
	}
	return row, nil
}
