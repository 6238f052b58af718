package tooloutput

import "strings"

// The tables of perftest are printed by print_report_bw and print_report_lat of
// src/perftest_parameters.c in linux-rdma/perftest; the formats are those in the programs
// of Debian 12 (4.5-0.17). Newer ones spell MB/sec MiB/sec. There is no RDMA device here: the outputs in
// testdata were written by these formats.
var perftest = Format{
	Name: "perftest",
	Doc: "the tables of ib_write_bw, ib_read_lat and their like, up to the rule that closes them; not those " +
		"of --output. " +
		"Of a test in both directions (-b) the numbers are the sum of both",
	Keys: []string{"block_size"},
	Metrics: []Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "BW average: payload bytes divided by the time from the first post to the last completion. " +
				"MB/sec and MiB/sec are both of 2^20 bytes, Gb/sec of 10^9 bits"},
		{Name: "bandwidth.peak", Unit: "GB/s", Better: Higher,
			Doc: "BW peak: the best rate from any post to any later completion; absent where it was not " +
				"looked for and is printed as 0.00"},
		{Name: "message_rate", Unit: "1/s", Better: Higher, Doc: "MsgRate: messages divided by the same time"},
		{Name: "latency.min", Unit: "s", Better: Lower,
			Doc: "t_min: of a write or send half of a round trip, of a read or atomic all of it"},
		{Name: "latency.p50", Unit: "s", Better: Lower, Doc: "t_typical, the median"},
		{Name: "latency.avg", Unit: "s", Better: Lower, Doc: "t_avg"},
		{Name: "latency.p99", Unit: "s", Better: Lower, Doc: "99% percentile"},
		{Name: "latency.p999", Unit: "s", Better: Lower, Doc: "99.9% percentile"},
		{Name: "latency.max", Unit: "s", Better: Lower, Doc: "t_max"},
		{Name: "requests", Better: Neither, Doc: "#iterations"},
	},
	Read: readPerftest,
}

// perftestColumns are the columns by their headings; ports apart are part of the sum.
var perftestColumns = map[string]column{
	"#bytes": {key: "block_size"}, "#iterations": {metric: "requests", unit: same},
	"BW peak[MB/sec]":     {metric: "bandwidth.peak", unit: mibPerSec, noZero: true},
	"BW peak[MiB/sec]":    {metric: "bandwidth.peak", unit: mibPerSec, noZero: true},
	"BW peak[Gb/sec]":     {metric: "bandwidth.peak", unit: gbitPerSec, noZero: true},
	"BW average[MB/sec]":  {metric: "bandwidth", unit: mibPerSec},
	"BW average[MiB/sec]": {metric: "bandwidth", unit: mibPerSec},
	"BW average[Gb/sec]":  {metric: "bandwidth", unit: gbitPerSec},
	"MsgRate[Mpps]":       {metric: "message_rate", unit: megaPerSec},
	"BW Port1[MB/sec]":    {unit: same}, "BW Port2[MB/sec]": {unit: same},
	"BW Port1[MiB/sec]": {unit: same}, "BW Port2[MiB/sec]": {unit: same},
	"BW Port1[Gb/sec]": {unit: same}, "BW Port2[Gb/sec]": {unit: same},
	"MsgRate Port1[Mpps]": {unit: same}, "MsgRate Port2[Mpps]": {unit: same},
	"t_min[usec]":            {metric: "latency.min", unit: microseconds},
	"t_max[usec]":            {metric: "latency.max", unit: microseconds},
	"t_typical[usec]":        {metric: "latency.p50", unit: microseconds},
	"t_avg[usec]":            {metric: "latency.avg", unit: microseconds},
	"t_stdev[usec]":          {unit: same},
	"99% percentile[usec]":   {metric: "latency.p99", unit: microseconds},
	"99.9% percentile[usec]": {metric: "latency.p999", unit: microseconds},
	"tps average":            {unit: same},
}

// perftestErrors begin lines by which the tests tell of failures.
var perftestErrors = []string{
	"Couldn't ", "Unable ", "Failed ", "failed ", "Error", "ERROR", "Completion with error", "Did not detect devices",
}

func readPerftest(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var (
		found   rows
		columns []column
		heading int
		closed  bool
	)
	for i, line := range lines {
		n := i + 1
		trimmed := strings.TrimSpace(line)
		switch {
		case hasAnyPrefix(trimmed, perftestErrors):
			return nil, at(n, "perftest says: %s", quote(line))
		case strings.HasPrefix(trimmed, "#bytes"):
			if columns != nil {
				return nil, at(n, "a second table, after that of line %d", heading)
			}
			if columns, err = perftestHeader(n, strings.Fields(line)); err != nil {
				return nil, err
			}
			heading = n
		case columns == nil:
		case strings.HasPrefix(trimmed, "-----") && strings.Trim(trimmed, "-") == "":
			closed = true
		case hidesRow(line, len(columns)):
			return nil, at(n, "something was printed into a row: %s", quote(line))
		case beginsWithDigit(line):
			if closed {
				return nil, at(n, "a row after the rule that closes the table: %s", quote(line))
			}
			row, err := readRow(n, columns, strings.Fields(line))
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
		return nil, nothing("no table")
	case len(found.list) == 0:
		return nil, at(len(lines), "the table has a header and no result")
	case !closed:
		return nil, at(len(lines), "the table is not closed by a rule: it was cut short")
	}
	return found.list, nil
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// perftestHeader joins the words of headings, which spaces set apart too.
func perftestHeader(n int, words []string) ([]column, error) {
	var columns []column
	seen := map[string]bool{}
	for i := 0; i < len(words); i++ {
		name := words[i]
		if _, ok := perftestColumns[name]; !ok && i+1 < len(words) {
			i++
			name += " " + words[i]
		}
		c, ok := perftestColumns[name]
		if !ok {
			return nil, at(n, "unknown column %s", quote(name))
		}
		if seen[name] {
			return nil, at(n, "column %s is there twice", quote(name))
		}
		seen[name] = true
		columns = append(columns, c)
	}
	return columns, nil
}
