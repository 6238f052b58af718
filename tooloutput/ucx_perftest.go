package tooloutput

import (
	"regexp"
	"strings"
)

// The table of ucx_perftest is printed by src/tools/perf/perftest_run.c of UCX; the
// outputs in testdata are of 1.13.1 and 1.23, and the formats are the same in both. The
// numbers are computed in src/tools/perf/lib/libperf.c (ucx_perf_calc_result).
var ucxPerftest = Format{
	Name: "ucx_perftest",
	Doc: "the table that ucx_perftest prints at the client, with or without -f, -N and -T; not -v, whose lines of " +
		"numbers do not say which of them is the last. The columns are those named overall: of the whole timed part",
	Keys: []string{"test"}, // the name that a batch file (-b) gives a test
	Metrics: []Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "bandwidth, overall: payload bytes divided by the time, those of both ways of a ping-pong; " +
				"of several threads (-T) the sum of each one's own. The tool prints it as MB/s of 2^20 bytes; a " +
				"GB here is 10^9"},
		{Name: "message_rate", Unit: "1/s", Better: Higher,
			Doc: "message rate, overall: messages divided by the time, with pairs and threads as bandwidth has them"},
		{Name: "latency.avg", Unit: "s", Better: Lower,
			Doc: "latency, overall, of the tests whose header says latency: time divided by iterations, of a " +
				"ping-pong half of that; of several threads the mean"},
		{Name: "latency.p50", Unit: "s", Better: Lower, Doc: "latency, 50.0%ile: of the last 2048 iterations"},
		{Name: "latency.p90", Unit: "s", Better: Lower, Doc: "the same with -R 90"},
		{Name: "latency.p95", Unit: "s", Better: Lower, Doc: "the same with -R 95"},
		{Name: "latency.p99", Unit: "s", Better: Lower, Doc: "the same with -R 99"},
		{Name: "latency.p999", Unit: "s", Better: Lower, Doc: "the same with -R 99.9"},
		{Name: "overhead.avg", Unit: "s", Better: Lower,
			Doc: "overhead, overall, of the tests whose header says overhead: time divided by iterations, an " +
				"inverse rate and no latency"},
		{Name: "overhead.p50", Unit: "s", Better: Lower, MayBeZero: true,
			Doc: "overhead, 50.0%ile: between the ends of two posts, of the last 2048 iterations"},
		{Name: "requests", Better: Neither, Doc: "# iterations, of several threads those of the first"},
	},
	Read: readUCXPerftest,
}

var (
	// ucxKind is the line of the header that says what its times are.
	ucxKind = regexp.MustCompile(`^\|  +\|  +\| +(latency|overhead) \(usec\) ` +
		`+\| +bandwidth \(MB/s\) +\| +message rate \(msg/s\) +\|$`)
	// ucxHeader is the line below it.
	ucxHeader = regexp.MustCompile(`^\| +(Test|Stage) +\| # iterations \| *([\d.]+)%ile ` +
		`\| average \| overall \|  average \|  overall \|  average  \|  overall  \|$`)
	// ucxTest is the line that names a test of a batch file.
	ucxTest = regexp.MustCompile(`^\+([^-+ ][^ ]*?)-*\+[-+]*\+$`)
	// ucxGroups is a whole number with the separators of -N.
	ucxGroups = regexp.MustCompile(`^\d{1,3}(,\d{3})+$`)
)

// ucxTable is what is known of the output so far.
type ucxTable struct {
	kind   string // latency or overhead
	rank   string // of its percentile
	final  bool   // the lines are results, not stages before one (-f)
	header int
	test   string // of a batch file, and not seen the end of yet
	named  int    // where
	stage  int    // the last line of stages that no result has followed yet
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
	for i, line := range lines {
		n := i + 1
		switch {
		case strings.Contains(line, " UCX  ERROR ") || strings.Contains(line, " UCX  FATAL "):
			return nil, at(n, "ucx_perftest says: %s", quote(line))
		case strings.HasPrefix(line, "iterations,") || strings.Contains(line, ",iterations,"):
			return nil, at(n,
				"the output of -v does not say which line is the result, nor whether its times are latencies: "+
					"leave -v out")
		case ucxKind.MatchString(line):
			if t.kind != "" {
				return nil, at(n, "a second table, after that of line %d", t.header)
			}
			t.kind, t.header = ucxKind.FindStringSubmatch(line)[1], n
		case t.kind != "" && t.rank == "" && ucxHeader.MatchString(line):
			m := ucxHeader.FindStringSubmatch(line)
			t.final, t.rank = m[1] == "Test", m[2]
		case t.rank == "":
		case ucxTest.MatchString(line):
			if t.test != "" {
				return nil, at(n, "test %s of line %d has no result", quote(t.test), t.named)
			}
			t.test, t.named = ucxTest.FindStringSubmatch(line)[1], n
		default:
			row, err := t.line(n, line)
			if err != nil {
				return nil, err
			}
			if row == nil {
				continue
			}
			if err := found.add(*row); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case t.kind == "":
		return nil, nothing("no table (a server prints none)")
	case t.stage != 0:
		return nil, at(len(lines),
			"the output ends after stages of a test, without its result: the line that begins with Final is missing")
	case t.test != "":
		return nil, at(len(lines), "test %s of line %d has no result", quote(t.test), t.named)
	case len(found.list) == 0:
		return nil, at(len(lines), "the table has a header and no result")
	}
	return found.list, nil
}

// line reads one line below the header; nil is one that is no result.
func (t *ucxTable) line(n int, line string) (*Row, error) {
	fields := strings.Fields(line)
	for i, f := range fields {
		if ucxGroups.MatchString(f) {
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
		stage = !t.final // of a build without threads
	default:
		return nil, nil // a rule, or a line of a log
	}
	row, err := readRow(n, t.columns(len(fields)), fields)
	switch {
	case err != nil:
		return nil, err
	case stage:
		t.stage = n
		return nil, nil
	case t.test != "":
		row.At["test"] = t.test
	}
	t.test, t.stage = "", 0
	return &row, nil
}

// columns are those of a line with so many: four of several threads, else the eight of
// the header.
func (t *ucxTable) columns(n int) []column {
	iterations := column{metric: "requests", unit: same}
	overall := column{unit: microseconds}
	percentile := column{unit: microseconds}
	// Before a batch file is read the header says overhead, whatever its tests are.
	if t.test == "" {
		overall.metric = t.kind + ".avg"
		percentile.metric = t.percentile()
	}
	bandwidth, rate := column{metric: "bandwidth", unit: mibPerSec}, column{metric: "message_rate", unit: same}
	if n == 4 {
		return []column{iterations, overall, bandwidth, rate}
	}
	last := column{unit: same} // of the last stage alone
	return []column{iterations, percentile, last, overall, last, bandwidth, last, rate}
}

// percentile names the metric of the column, "" if there is none for this rank.
func (t *ucxTable) percentile() string {
	if t.kind == "overhead" && t.rank != "50.0" {
		return ""
	}
	switch t.rank {
	case "50.0", "90.0", "95.0", "99.0":
		return t.kind + ".p" + strings.TrimSuffix(t.rank, ".0")
	case "99.9":
		return t.kind + ".p999"
	}
	return ""
}
