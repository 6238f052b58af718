package planner

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"weir/dsl"
	"weir/workload"
)

// exclude takes the points out that the sweeps exclude, and adds those that they include.
func exclude(t *Table) {
	for _, s := range t.sheets {
		reasons := t.exclusions(s)
		if t.diags.HasErrors() {
			continue
		}
		s.split(reasons)
		t.include(s)
		s.cache = nil
		t.distinct(s)
	}
}

// exclusions are the reasons by case, "" for those that stay; nil if all do.
func (t *Table) exclusions(s *sheet) []string {
	if len(s.run.Sweep.Exclude) == 0 || s.live == 0 {
		return nil
	}
	reasons := make([]string, s.live)
	for _, x := range s.run.Sweep.Exclude {
		reason := "excluded: " + x.When.Text()
		if x.Reason != "" {
			reason = x.Reason
		}
		names, failed, hits := x.When.Names(), false, 0
		classes := s.by(s.axesOf(names))
		matches := work(classes, func(i int) bool {
			if t.late(x.Range) {
				return false
			}
			ok, err := x.When.Eval(t.partialScope(s, i, names))
			if err != nil && !failed {
				failed = true
				t.fail(x.Range, "Condition cannot be evaluated", fmt.Sprintf("%s: %s.", s.key(s.columns, i), err),
					"Correct the condition.")
			}
			return ok
		})
		for i := range reasons {
			if matches.at(i) {
				hits++
				if reasons[i] == "" {
					reasons[i] = reason
				}
			}
		}
		if hits == 0 && !failed && !t.diags.HasErrors() {
			t.fail(x.Range, "Exclusion without effect", fmt.Sprintf("None of the %d points of run %q satisfies %s.",
				s.live, s.run.Name, x.When.Text()), "Correct the condition, or remove it.")
		}
	}
	return reasons
}

// partialScope has the named options and axes of a case, before it is resolved.
func (t *Table) partialScope(s *sheet, i int, names []string) dsl.Scope {
	out := dsl.Scope{Options: workload.Values{}, Axes: map[string]any{}}
	for axis, a := range s.run.Axes {
		if slices.Contains(names, a.Name) {
			out.Axes[a.Name] = s.value(s.columns, axis, i).Value
		}
	}
	for _, c := range s.run.Settings() {
		if c.Env || !slices.Contains(names, c.Name) {
			continue
		}
		v, diags := c.Value(s.at(s.columns, c.Axes, i))
		t.report(diags...)
		if v != nil {
			out.Options[c.Name] = v
		}
	}
	return out
}

// split moves excluded points out of the live ones.
func (s *sheet) split(reasons []string) {
	x := &excluded{columns: make([][]int32, len(s.columns))}
	for i, r := range reasons {
		if r == "" {
			continue
		}
		x.reasons = append(x.reasons, r)
		for a := range s.columns {
			x.columns[a] = append(x.columns[a], s.columns[a][i])
		}
	}
	s.excluded = x
	if len(x.reasons) == 0 {
		return
	}
	for a, column := range s.columns {
		kept := make([]int32, 0, s.live-len(x.reasons))
		for i, v := range column {
			if reasons[i] == "" {
				kept = append(kept, v)
			}
		}
		s.columns[a] = kept
	}
	s.live -= len(x.reasons)
}

// include adds the points that are listed one by one. They are never excluded.
func (t *Table) include(s *sheet) {
	for _, p := range s.run.Sweep.Include {
		for a, v := range p.Values {
			s.columns[a] = append(s.columns[a], int32(v))
		}
		s.live++
	}
	if total := s.live + len(s.excluded.reasons); total > s.run.Sweep.MaxCases {
		t.fail(s.run.Range, "Too many cases",
			fmt.Sprintf("The sweep of run %q gives %d cases; at most %d are allowed.", s.run.Name, total,
				s.run.Sweep.MaxCases), "Shorten an axis, split the run, or raise max_cases in the sweep.")
	}
}

// distinct refuses points that occur twice, which a product of axes never has.
func (t *Table) distinct(s *sheet) {
	included := s.live - len(s.run.Sweep.Include)
	if len(s.run.Sweep.Include) == 0 && !s.run.Sweep.Root.Repeats() {
		return
	}
	seen := make(map[[2]uint64]bool, s.live)
	for i := range len(s.excluded.reasons) {
		seen[s.point(s.excluded.columns, i)] = true
	}
	for i := range s.live {
		point := s.point(s.columns, i)
		if seen[point] {
			at := s.run.Sweep.Range
			if i >= included {
				at = s.run.Sweep.Include[i-included].Range
			}
			t.fail(at, "Point given twice", fmt.Sprintf("The sweep gives the case %s more than once.",
				s.key(s.columns, i)), "Remove one of the two.")
			return
		}
		seen[point] = true
	}
}

// point identifies the values of a case: by their number among all combinations,
// or where those are too many by a hash of them.
func (s *sheet) point(columns [][]int32, i int) [2]uint64 {
	number, room := uint64(0), uint64(math.MaxUint64)
	for a, column := range columns {
		n := uint64(len(s.run.Axes[a].Values))
		if room /= n; room == 0 {
			sum := sha256.Sum256(s.appendKey(nil, columns, i))
			return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
		}
		number = number*n + uint64(column[i])
	}
	return [2]uint64{number, 0}
}
