package output

import (
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// The first process of each node prints these lines of test_intranode.py and test_internode.py.
var (
	deepEPLayout = lazyregexp.New(`^\[layout\] Kernel performance: (\S+) ms$`)
	deepEPBest   = lazyregexp.New(`^\[tuning\] Best (?:(dispatch) \((FP8|BF16)\)|(combine)): SMs \d+, NVL chunk \d+` +
		`(, RDMA chunk \d+)?[:,] ` +
		`(?:(\S+) \+ (\S+) us, |transmit: (\S+) us, notify: (\S+) us, BW: )?` +
		`(?:(\S+) GB/s \(RDMA\), )?(\S+) GB/s \(NVL\)(?:, t: (\S+) us)?$`)
)

// deepEPGroups are the metrics that groups of deepEPBest are, after the name of the kernel.
var deepEPGroups = map[int]string{
	5: "notify", 6: "time", 7: "time", 8: "notify", 9: "rdma.bandwidth", 10: "nvl.bandwidth", 11: "time",
}

// deepEPTuning collects the best results of a search for sizes of chunks, of one node.
type deepEPTuning struct {
	row  *Row
	line map[string]int // of the result of each kernel
	last int            // the last line of a search
}

// take takes a line, and reports whether it is one of the two tests.
func (t *deepEPTuning) take(n int, line string) (bool, error) {
	if m := deepEPLayout().FindStringSubmatch(line); m != nil {
		return true, t.set(n, "layout.time", "ms", m[1])
	}
	if !strings.HasPrefix(line, "[tuning] ") {
		if strings.Contains(line, "[tuning] ") && strings.Contains(line, " GB/s (NVL)") {
			return true, at(n, "other output interrupts a line: %s", quote(line))
		}
		return false, nil
	}
	t.last = n
	if !strings.HasPrefix(line, "[tuning] Best ") {
		return true, nil
	}
	m := deepEPBest().FindStringSubmatch(line)
	if m == nil {
		return true, at(n, "no whole line of the best result: %s", quote(line))
	}
	kernel := m[3]
	if m[1] != "" {
		kernel = m[1] + "." + strings.ToLower(m[2])
	}
	if before := t.line[kernel]; before != 0 {
		const second = "a second best result of %s, after that of line %d: a result is of one test, and of one node"
		return true, at(n, second, kernel, before)
	}
	t.line[kernel] = n
	for group, metric := range deepEPGroups {
		unit := "us"
		if strings.HasSuffix(metric, ".bandwidth") {
			unit = "GB/s"
		}
		if m[group] == "" {
			continue
		}
		if err := t.set(n, kernel+"."+metric, unit, m[group]); err != nil {
			return true, err
		}
	}
	return true, nil
}

// set takes a value.
func (t *deepEPTuning) set(line int, metric, unit, text string) error {
	v, err := scales[unit].of(text)
	if err != nil {
		return at(line, "%s: %w", metric, err)
	}
	if t.row.Line == 0 {
		t.row.Line = line
	}
	t.row.Values[metric] = v
	return nil
}

// complete says what a search lacks: its last results are of dispatch with BF16 and of combine.
func (t *deepEPTuning) complete() error {
	for _, kernel := range []string{"combine", "dispatch.bf16"} {
		if t.last != 0 && t.line[kernel] == 0 {
			return at(t.last, "no line says the best result of %s: the output was cut short", kernel)
		}
	}
	return nil
}
