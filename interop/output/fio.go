package output

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var (
	fioLine    = lazyregexp.New(`^(\d);(?:fio-[^;]*);`)
	percentile = lazyregexp.New(`^([\d.]+)%=(\d+)$`)
)

// Columns of a line of fio's terse versions 3 to 5: five of the job, and these of each direction.
const (
	fioJob         = 5
	fioCompletion  = 8  // min, max, mean, deviation, in microseconds
	fioPercentiles = 12 // twenty of completion
	fioLatency     = 32 // min, max, mean, deviation
	fioDirection   = 41
	fioMore        = 6 // of version 5 in each direction
)

// fioTerse makes a document of the lines of --output-format=terse, each on its line, and the document of fio alone of
// that of --client; other outputs stay.
func fioTerse(output []byte) ([]byte, error) {
	lines := bytes.Split(output, []byte("\n"))
	found, last := 0, -1
	for i, line := range lines {
		if len(line) > 0 && line[0] == '{' { // json,terse
			return bytes.Replace(output, []byte("\n  \"client_stats\" : ["), []byte("\n  \"jobs\" : ["), 1), nil
		}
		m := fioLine().FindSubmatch(line)
		if m == nil {
			lines[i] = nil
			continue
		}
		if i == len(lines)-1 {
			return nil, at(i+1, "the output ends in the middle of a line: %s", quote(string(line)))
		}
		directions, width := 3, fioDirection
		switch string(m[1]) {
		case "3":
			directions = 2
		case "4":
		case "5":
			width += fioMore
		default:
			return nil, at(i+1, "terse version %s: versions 3 to 5 are read, and --output-format=json", m[1])
		}
		job, err := fioFields(strings.Split(string(line), ";"), directions, width)
		if err != nil {
			return nil, at(i+1, "%w", err)
		}
		if last < 0 {
			job = `{"jobs":[` + job
		} else {
			job = "," + job
		}
		lines[i], last = []byte(job), i
		found++
	}
	if found == 0 {
		return output, nil
	}
	lines[last] = append(lines[last], "]}"...)
	return bytes.Join(lines, []byte("\n")), nil
}

// fioFields returns the job of a line in JSON.
func fioFields(fields []string, directions, width int) (string, error) {
	if least := fioJob + directions*width; len(fields) < least {
		return "", fmt.Errorf("%d columns, and at least %d are due: the line is truncated", len(fields), least)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"jobname":%s,"error":%s`, strconv.Quote(fields[2]), fioNumber(fields[4]))
	for d, name := range []string{"read", "write", "trim"}[:directions] {
		f := fields[fioJob+d*width:]
		fmt.Fprintf(&b, `,"%s":{"kb":%s,"bw":%s,"iops":%s`, name, fioNumber(f[0]), fioNumber(f[1]), fioNumber(f[2]))
		for _, l := range []struct {
			name string
			at   int
		}{{"clat", fioCompletion}, {"lat", fioLatency}} {
			fmt.Fprintf(&b, `,"%s":{"min":%s,"max":%s,"mean":%s`, l.name, fioNumber(f[l.at]), fioNumber(f[l.at+1]),
				fioNumber(f[l.at+2]))
			if l.name == "clat" {
				b.WriteString(`,"percentile":{`)
				between := ""
				for _, text := range f[fioPercentiles:fioLatency] {
					if m := percentile().FindStringSubmatch(text); m != nil && m[1] != "0" {
						fmt.Fprintf(&b, `%s"%s":%s`, between, m[1], m[2])
						between = ","
					}
				}
				b.WriteString("}")
			}
			b.WriteString("}")
		}
		b.WriteString("}")
	}
	b.WriteString("}")
	return b.String(), nil
}

// fioNumber returns a number, or a text that the reader refuses.
func fioNumber(field string) string {
	if isDecimal(field) {
		return field
	}
	return strconv.Quote(field)
}
