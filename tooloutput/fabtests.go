package tooloutput

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// fi_pingpong is util/pingpong.c of libfabric; the outputs in testdata are of 1.17.0. The
// tables of the other tests are printed by show_perf and, with -m, show_perf_mr of
// fabtests/common/shared.c (read as of 2c325372c, 2026; not run here).
var fabtests = Format{
	Name: "fabtests",
	Doc: "the tables of fi_pingpong and of the tests in fabtests, also what these print with -m. A row has at " +
		"most two decimals; -m has six. " +
		"Nothing says which sizes are due, so an output of fewer rows is not noticed",
	Keys: []string{"block_size", "name"},
	Metrics: []Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "MB/sec (10^6 bytes): payload bytes sent divided by the time, both ways of a ping-pong. " +
				"Absent where it is printed as 0.00, which is below 5 kB/s"},
		{Name: "message_rate", Unit: "1/s", Better: Higher,
			Doc: "Mxfers/sec: the inverse of usec/xfer. Absent where it is printed as 0.00"},
		{Name: "latency.avg", Unit: "s", Better: Lower,
			Doc: "usec/xfer of fi_pingpong: time divided by transfers, which is half of a round trip"},
		{Name: "time_per_transfer", Unit: "s", Better: Lower,
			Doc: "usec/xfer of fabtests: the same, of a ping-pong half of a round trip, of a bandwidth test " +
				"an inverse rate. The output does not say which"},
	},
	Read: readFabtests,
}

var (
	fabSize  = regexp.MustCompile(`^(\d+(?:\.\d)?)([kmg]?)$`)
	fabCount = regexp.MustCompile(`^\d+[kmb]?$`)
	fabTime  = regexp.MustCompile(`^\d+\.\d+s$`)
	// fabExact is a row of -m.
	fabExact = regexp.MustCompile(`^- \{ xfer_size: (\d+), iterations: (\d+), total: (\d+), time: (\S+), ` +
		`MB/sec: (\S+), usec/xfer: (\S+), Mxfers/sec: (\S+) \}$`)
	// fabError is a line that a call's failure leaves, or that of a check of the data.
	fabError = regexp.MustCompile(`^\[error\] |^\S+\(\): .*, ret=-?\d+ \(|^Error at iteration=`)
)

// The ends of the headers; before them is bytes, and before that name if tests have one.
var (
	fabPingpong = []string{"#sent", "#ack", "total", "time", "MB/sec", "usec/xfer", "Mxfers/sec"}
	fabOther    = []string{"iters", "total", "time", "MB/sec", "usec/xfer", "Mxfers/sec"}
)

func readFabtests(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var (
		found  rows
		header []string
		begun  int
	)
	for i, line := range lines {
		n := i + 1
		fields := strings.Fields(line)
		isHeader := len(fields) > 1 && (fields[0] == "bytes" || fields[0] == "name" && fields[1] == "bytes")
		var row Row
		switch {
		case fabError.MatchString(line):
			return nil, at(n, "the test says: %s", quote(line))
		case isHeader && begun != 0:
			return nil, at(n, "a second table, after that of line %d", begun)
		case isHeader:
			header, begun = fields, n
			rest := fields[slices.Index(fields, "bytes")+1:]
			if !slices.Equal(rest, fabPingpong) && !slices.Equal(rest, fabOther) {
				return nil, at(n, "unknown columns: %s", quote(line))
			}
			continue
		case header != nil && len(fields) > 0 && (beginsWithDigit(line) || header[0] == "name"):
			row, err = fabRow(n, header, fields)
		case strings.HasPrefix(line, "- {"):
			row, err = fabExactRow(n, line)
			begun = n
		default:
			continue
		}
		if err == nil {
			err = found.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	if begun == 0 {
		return nil, nothing("no table")
	}
	if len(found.list) == 0 {
		return nil, at(len(lines), "the table has a header and no result")
	}
	return found.list, nil
}

func fabRow(n int, header, fields []string) (Row, error) {
	var name string
	if header[0] == "name" {
		header = header[1:]
		if extra := len(fields) - len(header); extra > 0 {
			name, fields = strings.Join(fields[:extra], " "), fields[extra:]
		}
	}
	if len(fields) != len(header) {
		return Row{}, cut(n, len(fields), len(header))
	}
	bytes, err := fabBytes(fields[0])
	if err != nil {
		return Row{}, at(n, "%w", err)
	}
	columns := make([]column, len(header))
	for i, h := range header {
		ok := true
		switch h {
		case "bytes":
			columns[i].key = "block_size"
		case "#sent", "iters":
			columns[i].text, ok = true, fabCount.MatchString(fields[i])
		case "#ack":
			columns[i].text, ok = true, fabCount.MatchString(strings.TrimLeft(fields[i], "=+-"))
			if ok && fields[i][0] != '=' {
				return Row{}, at(n,
					"not as many transfers were acknowledged as sent (%s), and the rates count those sent", fields[i])
			}
		case "total":
			columns[i].text, ok = true, fabSize.MatchString(fields[i])
		case "time":
			columns[i].text, ok = true, fabTime.MatchString(fields[i])
		default:
			columns[i] = fabColumns(slices.Contains(header, "#sent"))[h]
		}
		if !ok {
			return Row{}, at(n, "column %s: %s is no number", h, quote(fields[i]))
		}
	}
	row, err := readRow(n, columns, fields)
	if err != nil {
		return Row{}, err
	}
	row.At["block_size"] = bytes
	if name != "" {
		row.At["name"] = name
	}
	return row, nil
}

// fabColumns are the columns of results; a 0 is what two decimals leave of small numbers.
func fabColumns(pingpong bool) map[string]column {
	each := column{metric: "time_per_transfer", unit: microseconds, noZero: true}
	if pingpong {
		each.metric = "latency.avg"
	}
	return map[string]column{
		"MB/sec":     {metric: "bandwidth", unit: mbPerSec, noZero: true},
		"usec/xfer":  each,
		"Mxfers/sec": {metric: "message_rate", unit: megaPerSec, noZero: true},
	}
}

// fabBytes reads a size with a k, m or g of 1024. The test cuts sizes to one decimal, so
// one that is no whole number of bytes was another size.
func fabBytes(text string) (string, error) {
	m := fabSize.FindStringSubmatch(text)
	if m == nil || len(text) > longestNumber {
		return "", fmt.Errorf("%s is no size", quote(text))
	}
	size, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return "", fmt.Errorf("%s is no size", quote(text))
	}
	size.Mul(size, new(big.Rat).SetInt64(map[string]int64{"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[m[2]]))
	if !size.IsInt() {
		return "", fmt.Errorf("a size of %s is a rounded one: which it was cannot be told (with -m it can)", text)
	}
	return size.Num().String(), nil
}

func fabExactRow(n int, line string) (Row, error) {
	m := fabExact.FindStringSubmatch(line)
	if m == nil {
		return Row{}, at(n, "no whole row of -m: %s", quote(line))
	}
	c := fabColumns(false)
	columns := []column{
		{key: "block_size"}, {unit: same}, {unit: same}, {unit: same}, c["MB/sec"], c["usec/xfer"], c["Mxfers/sec"],
	}
	return readRow(n, columns, m[1:])
}
