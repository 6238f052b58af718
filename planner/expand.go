package planner

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// maxCases is how many cases one sweep may give. A product of a few harmless
// lists grows past what anyone meant to wait for.
const maxCases = 10_000

// expand makes the cases of every run: the product of its axes, the first
// outermost.
func expand(d *draft) {
	for _, r := range d.scenario.Runs {
		dr := &draftRun{run: r}
		d.runs = append(d.runs, dr)
		if n := points(r.Axes); n > maxCases {
			d.fail(r.Range, "Too many cases", fmt.Sprintf("The sweep of run %q gives %.6g cases; at most %d are allowed. Shorten an axis, or split the run.", r.Name, n, maxCases))
			continue
		}
		seen := map[string]bool{}
		for _, point := range product(r.Axes) {
			c := newCase(r, point)
			if seen[c.Key] {
				d.fail(repeated(r.Axes), "Value repeated in an axis", fmt.Sprintf("The sweep gives the case %s more than once. List every value of an axis once.", c.Key))
				continue
			}
			seen[c.Key] = true
			dr.cases = append(dr.cases, &draftCase{Case: c, point: point})
		}
	}
}

// repeated is the place of the first value that an axis has twice.
func repeated(axes []*dsl.Axis) hcl.Range {
	for _, a := range axes {
		seen := map[string]bool{}
		for _, v := range a.Values {
			if seen[v.Text] {
				return v.Range
			}
			seen[v.Text] = true
		}
	}
	return axes[0].Range
}

// points is the size of the product, as a float64 because it may be of any size.
func points(axes []*dsl.Axis) float64 {
	n := 1.
	for _, a := range axes {
		n *= float64(len(a.Values))
	}
	return n
}

// product lists all points, the last axis changing fastest.
func product(axes []*dsl.Axis) [][]dsl.AxisValue {
	out := [][]dsl.AxisValue{{}}
	for _, a := range axes {
		next := make([][]dsl.AxisValue, 0, len(out)*len(a.Values))
		for _, p := range out {
			for _, v := range a.Values {
				next = append(next, append(p[:len(p):len(p)], v))
			}
		}
		out = next
	}
	return out
}

func newCase(r *dsl.Run, point []dsl.AxisValue) *Case {
	c := &Case{
		Run: r.Name, Workload: r.Workload.Name, Axes: map[string]any{}, AxisOrder: []string{},
		Timeout: r.Timeout.Seconds(), Status: Planned,
	}
	texts := map[string]string{}
	for i, a := range r.Axes {
		c.Axes[a.Name] = point[i].Value
		c.AxisOrder = append(c.AxisOrder, a.Name)
		texts[a.Name] = point[i].Text
	}
	c.Key = Key(r.Name, texts)
	return c
}

// Key is the readable name of a case: run[axis=value,…], axes by name, so that
// it does not depend on the order in which they are written.
func Key(run string, axes map[string]string) string {
	if len(axes) == 0 {
		return run
	}
	parts := make([]string, 0, len(axes))
	for name, text := range axes {
		parts = append(parts, name+"="+keyText(text))
	}
	sort.Strings(parts)
	return run + "[" + strings.Join(parts, ",") + "]"
}

// keyText quotes values that would make a key ambiguous.
func keyText(text string) string {
	if text == "" || strings.ContainsAny(text, "[],=\"* \t\n") {
		return strconv.Quote(text)
	}
	return text
}
