package planner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sweepTree is a random sweep: its text, and its points by a naive evaluation.
type sweepTree struct {
	yaml   string // a flow mapping
	points []map[string]string
}

var treeAxes = []string{"block_size", "batch", "in_flight", "env.A", "n"}

var treeValues = map[string][]string{
	"block_size": {"4KiB", "64KiB", "1MiB"}, "batch": {"1", "2", "4"}, "in_flight": {"8", "16"},
	"env.A": {"x", "y", `""`}, "n": {"1", "2", "3", "4"},
}

// drawMember draws an axis, or a combination of axes; each axis is used once.
func drawMember(t *rapid.T, axes []string, depth int) sweepTree {
	if len(axes) == 1 && (depth == 0 || rapid.Bool().Draw(t, "leaf")) {
		return drawAxis(t, axes[0])
	}
	switch kind := rapid.SampledFrom([]string{"product", "concat", "zip"}).Draw(t, "kind"); {
	case kind == "concat" && depth > 0:
		var texts []string
		out := sweepTree{}
		seen := map[string]bool{}
		for range rapid.IntRange(1, 3).Draw(t, "branches") {
			m := drawProduct(t, axes, depth-1)
			if slices.ContainsFunc(m.points, func(p map[string]string) bool { return seen[fmt.Sprint(p)] }) {
				continue // a point may occur once only
			}
			for _, p := range m.points {
				seen[fmt.Sprint(p)] = true
			}
			texts = append(texts, m.yaml)
			out.points = append(out.points, m.points...)
		}
		out.yaml = "concat: [" + strings.Join(texts, ", ") + "]"
		return out
	case kind == "zip" && len(axes) > 1:
		return drawZip(t, axes)
	}
	m := drawProduct(t, axes, depth-1)
	return sweepTree{"product: " + m.yaml, m.points}
}

func drawAxis(t *rapid.T, axis string) sweepTree {
	values := rapid.Permutation(treeValues[axis]).Draw(t, "values")[:rapid.IntRange(1, 2).Draw(t, "length")]
	out := sweepTree{yaml: fmt.Sprintf("%q: [%s]", axis, strings.Join(values, ", "))}
	for _, v := range values {
		out.points = append(out.points, map[string]string{axis: v})
	}
	return out
}

func drawZip(t *rapid.T, axes []string) sweepTree {
	row := rapid.Custom(func(t *rapid.T) map[string]string {
		point := map[string]string{}
		for _, a := range axes {
			point[a] = rapid.SampledFrom(treeValues[a]).Draw(t, a)
		}
		return point
	})
	out := sweepTree{
		points: rapid.SliceOfNDistinct(row, 1, 4, func(p map[string]string) string { return fmt.Sprint(p) }).Draw(t,
			"rows"),
	}
	var texts []string
	for _, a := range axes {
		var values []string
		for _, p := range out.points {
			values = append(values, p[a])
		}
		texts = append(texts, fmt.Sprintf("%q: [%s]", a, strings.Join(values, ", ")))
	}
	out.yaml = "zip: {" + strings.Join(texts, ", ") + "}"
	return out
}

// drawProduct draws a mapping of members that multiply.
func drawProduct(t *rapid.T, axes []string, depth int) sweepTree {
	out := sweepTree{points: []map[string]string{{}}}
	var texts []string
	used := map[string]bool{}
	for len(axes) > 0 {
		n := rapid.IntRange(1, len(axes)).Draw(t, "taken")
		m := drawMember(t, axes[:n], max(depth, 0))
		if key, _, _ := strings.Cut(m.yaml, ":"); used[key] {
			m = drawAxis(t, axes[0]) // a mapping has each key once
			n = 1
		} else {
			used[key] = true
		}
		axes = axes[n:]
		texts = append(texts, m.yaml)
		var points []map[string]string
		for _, p := range out.points {
			for _, q := range m.points {
				joined := map[string]string{}
				for k, v := range p {
					joined[k] = v
				}
				for k, v := range q {
					joined[k] = v
				}
				points = append(points, joined)
			}
		}
		out.points = points
	}
	out.yaml = "{" + strings.Join(texts, ", ") + "}"
	return out
}

// keysOf returns the expected keys of the points, without those of one batch size.
func keysOf(points []map[string]string, excludedBatch string) (kept, excluded []string) {
	for _, p := range points {
		texts := map[string]string{}
		for k, v := range p {
			texts[k] = strings.Trim(v, `"`)
		}
		if excludedBatch != "" && p["batch"] == excludedBatch {
			excluded = append(excluded, Key("a", texts))
		} else {
			kept = append(kept, Key("a", texts))
		}
	}
	return kept, excluded
}

func TestExpansionEqualsTheNaiveReading(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		axes := rapid.Permutation(treeAxes).Draw(rt, "axes")[:rapid.IntRange(1, len(treeAxes)).Draw(rt, "count")]
		tree := drawProduct(rt, axes, 2)
		batch := ""
		sweep := strings.TrimSuffix(tree.yaml, "}")
		if slices.ContainsFunc(tree.points, func(p map[string]string) bool { return p["batch"] == "2" }) &&
			rapid.Bool().Draw(rt, "excludes") {
			batch = "2"
			sweep += `, exclude: [{when: batch == 2, reason: odd}]`
		}
		size := "block_size: 1MiB"
		if slices.Contains(axes, "block_size") {
			size = "iterations: 7"
		}
		text := "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {" + size +
			"}\n    env: {N: \"${axis.n}\"}\n    sweep: " + sweep + "}\n"
		if !slices.Contains(axes, "n") {
			text = strings.Replace(text, `    env: {N: "${axis.n}"}`+"\n", "", 1)
		}
		p := build(t, text)
		want, wantExcluded := keysOf(tree.points, batch)
		var got, gotExcluded []string
		for _, c := range p.Cases {
			switch c.Status {
			case Excluded:
				gotExcluded = append(gotExcluded, c.Key)
				if c.Reason != "odd" {
					rt.Fatalf("%s is excluded because of %q", c.Key, c.Reason)
				}
			default:
				got = append(got, c.Key)
			}
		}
		// Groups collect cases with equal environments; only the set counts.
		for _, pair := range [][2][]string{{want, got}, {wantExcluded, gotExcluded}} {
			slices.Sort(pair[0])
			slices.Sort(pair[1])
			if !slices.Equal(pair[0], pair[1]) {
				rt.Fatalf("%s\nwant %v\ngot  %v", text, pair[0], pair[1])
			}
		}
	})
}

func TestOrderOfPointsIsThatOfTheFile(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    sweep:
      batch: [1, 2]
      zip: {block_size: [4KiB, 8KiB], in_flight: [2, 4]}
      include: [{batch: 9, block_size: 1KiB, in_flight: 1}]
`)
	equal(t, "keys", keys(p), []string{
		"a[batch=1,block_size=4KiB,in_flight=2]", "a[batch=1,block_size=8KiB,in_flight=4]",
		"a[batch=2,block_size=4KiB,in_flight=2]", "a[batch=2,block_size=8KiB,in_flight=4]",
		"a[batch=9,block_size=1KiB,in_flight=1]",
	})
}

func TestSweepsThatCannotBePlanned(t *testing.T) {
	const head = "scenario: s\nruns:\n  a:\n    workload: transfer\n    sweep:\n"
	for _, c := range []struct {
		name, sweep string
		line        int
		words       []string
	}{
		{"too many", "      {block_size: 1..200 +1, batch: 1..200 +1}\n", 3, []string{"40000 cases", "max_cases"}},
		{"own bound", "      {block_size: [1, 2, 3], max_cases: 2}\n", 3, []string{"3 cases", "at most 2"}},
		{"bound with include", "      {block_size: [1, 2], max_cases: 2, include: [{block_size: 9}]}\n", 3,
			[]string{"3 cases", "at most 2"}},
		{"included twice", "      block_size: [1, 2]\n      include:\n        - {block_size: 3}\n        - {block_size: 2}\n",
			9, []string{"a[block_size=2B]", "more than once"}},
		{"included though excluded", "      block_size: [1, 2]\n      exclude: [{when: block_size == 2}]\n      include: [{block_size: 2}]\n",
			8, []string{"a[block_size=2B]"}},
		{"concat repeats", "      concat: [{block_size: [1, 2]}, {block_size: [2, 3]}]\n", 5,
			[]string{"a[block_size=2B]", "more than once"}},
		{"exclusion without effect", "      block_size: [1, 2]\n      exclude: [{when: block_size == 3}]\n", 7,
			[]string{"None of the 2 points"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mentions(t, refuse(t, head+c.sweep), c.line, c.words...)
		})
	}
}

func TestEverythingExcluded(t *testing.T) {
	p := build(t, "scenario: s\nruns:\n  a:\n    workload: transfer\n    sweep: {block_size: [1, 2], exclude: [{when: block_size < 3}]}\n  b: {workload: transfer, options: {block_size: 1}, needs: [a]}\n")
	equal(t, "statuses", []string{p.Cases[0].Status, p.Cases[1].Status, p.Cases[2].Status},
		[]string{Excluded, Excluded, Planned})
	equal(t, "groups", len(p.Groups), 1)
	equal(t, "reason", p.Cases[0].Reason, "excluded: block_size < 3")
}
