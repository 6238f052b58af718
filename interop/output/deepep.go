package output

import (
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// deepEPForms are the forms of the lines of test_low_latency.py, and the metrics that their groups after the rank are.
var (
	deepEPRank  = lazyregexp.New(`^\[rank (\d+)\] (Dispatch|Combine)\b`)
	deepEPForms = []struct {
		kind    string
		matches func(line string) []string
		metrics []string
	}{
		{
			"Dispatch + combine bandwidth",
			submatches(`Dispatch \+ combine bandwidth: N GB/s, avg_t=N us, min_t=N us, max_t=N us`),
			[]string{
				"dispatch_combine.bandwidth", "dispatch_combine.time.avg", "dispatch_combine.time.min",
				"dispatch_combine.time.max",
			},
		},
		{
			"Dispatch bandwidth",
			submatches(`Dispatch bandwidth: N GB/s, avg_t=N us \| Combine bandwidth: N GB/s, avg_t=N us`),
			[]string{
				"dispatch.kernel.bandwidth", "dispatch.kernel.time", "combine.kernel.bandwidth", "combine.kernel.time",
			},
		},
		{
			"Dispatch send/recv time",
			submatches(`Dispatch send/recv time: N \+ N us \| Combine send/recv time: N \+ N us`),
			[]string{"dispatch.send", "dispatch.recv", "combine.send", "combine.recv"},
		},
	}
)

// submatches returns what matches a line of a rank; N is a number.
func submatches(form string) func(line string) []string {
	of := lazyregexp.New(`^\[rank (\d+)\] ` + strings.ReplaceAll(form, "N ", `(\S+) `) + `$`)
	return func(line string) []string { return of().FindStringSubmatch(line) }
}

// readDeepEP reads the lines of all ranks: a row of their means, and of the least and the greatest time.
func readDeepEP(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	lines = untagged(lines)
	row := newRow(0)
	line := map[string]int{} // of each kind and rank
	count := map[string]int{}
	tuning := deepEPTuning{row: &row, line: map[string]int{}}
	for i, l := range lines {
		if is, err := tuning.take(i+1, l); err != nil {
			return nil, err
		} else if is {
			continue
		}
		rank := deepEPRank().FindStringSubmatch(l)
		if rank == nil {
			if strings.Contains(l, "[rank ") && strings.Contains(l, "bandwidth: ") {
				return nil, at(i+1, "other output interrupts a line: %s", quote(l))
			}
			continue
		}
		known := false
		for _, f := range deepEPForms {
			m := f.matches(l)
			if m == nil {
				continue
			}
			known = true
			key := f.kind + " of rank " + m[1]
			if before := line[key]; before != 0 {
				return nil, at(i+1, "a second %s, after that of line %d", key, before)
			}
			line[key] = i + 1
			count[f.kind]++
			if row.Line == 0 {
				row.Line = i + 1
			}
			for k, metric := range f.metrics {
				if err := row.take(metric, m[k+2], count[f.kind]); err != nil {
					return nil, at(i+1, "%s: %w", metric, err)
				}
			}
		}
		if !known {
			return nil, at(i+1, "no whole line of a rank: %s", quote(l))
		}
	}
	first := deepEPForms[0].kind
	if err := tuning.complete(); err != nil {
		return nil, err
	}
	if len(line) == 0 && tuning.last == 0 {
		return nil, nothing("no line begins with [rank N] %s or [tuning]", first)
	}
	for _, f := range deepEPForms {
		if n := count[f.kind]; n != count[first] {
			const short = "%d ranks have %s, and %d have %s: the output was cut short"
			return nil, at(len(lines), short, count[first], first, n, f.kind)
		}
	}
	return []Row{row}, nil
}

// take adds the value of the n-th rank.
func (r *Row) take(metric, text string, n int) error {
	unit := "us"
	if strings.HasSuffix(metric, ".bandwidth") {
		unit = "GB/s"
	}
	v, err := scales[unit].of(text)
	if err != nil {
		return err
	}
	switch before := r.Values[metric]; {
	case n == 1:
		r.Values[metric] = v
	case strings.HasSuffix(metric, ".min"):
		r.Values[metric] = min(before, v)
	case strings.HasSuffix(metric, ".max"):
		r.Values[metric] = max(before, v)
	default:
		r.Values[metric] = before + (v-before)/float64(n)
	}
	return nil
}
