package planner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// axisValues are the values in the sweeps of random scenarios, the same set for all runs, so that
// axes of the same name have counterparts.
var axisValues = map[string][]string{
	"block_size": {"4KiB", "64KiB", "1MiB"},
	"in_flight":  {"1", "4"},
	"fabric":     {"shm", "tcp"},
	"env.A":      {"x", "y"},
}

// aRun is a run of a random scenario.
type aRun struct {
	name  string
	axes  []string
	needs []string
}

func (r aRun) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:\n    workload: transfer\n    needs: [%s]\n    options: {iterations: 7", r.name,
		strings.Join(r.needs, ", "))
	if !slices.Contains(r.axes, "block_size") {
		b.WriteString(", block_size: 2MiB")
	}
	b.WriteString("}\n")
	if len(r.axes) > 0 {
		b.WriteString("    sweep:\n")
	}
	for _, a := range r.axes {
		fmt.Fprintf(&b, "      %s: [%s]\n", a, strings.Join(axisValues[a], ", "))
	}
	return b.String()
}

func scenarioOf(runs []aRun) string {
	var b strings.Builder
	b.WriteString("scenario: random\nruns:\n")
	for _, r := range runs {
		b.WriteString(r.yaml())
	}
	return b.String()
}

func drawRuns(t *rapid.T) []aRun {
	var runs []aRun
	names := []string{"block_size", "in_flight", "fabric", "env.A"}
	for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
		r := aRun{name: fmt.Sprintf("r%d", i)}
		for _, a := range rapid.Permutation(names).Draw(t, "axes") {
			if rapid.Bool().Draw(t, "swept") {
				r.axes = append(r.axes, a)
			}
		}
		for _, up := range runs {
			if rapid.Bool().Draw(t, "needed") {
				r.needs = append(r.needs, up.name)
			}
		}
		runs = append(runs, r)
	}
	return runs
}

func TestPlansOfRandomScenarios(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		runs := drawRuns(rt)
		p := build(t, scenarioOf(runs))

		want := 0
		for _, r := range runs {
			n := 1
			for _, a := range r.axes {
				n *= len(axisValues[a])
			}
			want += n
		}
		if len(p.Cases) != want {
			rt.Fatalf("%d cases, the products give %d", len(p.Cases), want)
		}
		position := map[string]int{}
		for i, c := range p.Cases {
			if _, twice := position[c.Key]; twice {
				rt.Fatalf("key %s twice", c.Key)
			}
			position[c.Key] = i
			for _, n := range c.Needs {
				if at, before := position[n]; !before {
					rt.Fatalf("%s comes before %s, which it needs (%d)", c.Key, n, at)
				}
			}
		}
		checkPartition(rt, p)

		shuffled := slices.Clone(runs)
		for i := range shuffled {
			shuffled[i].axes = rapid.Permutation(runs[i].axes).Draw(rt, "axis order")
		}
		shuffled = rapid.Permutation(shuffled).Draw(rt, "run order")
		q := build(t, scenarioOf(shuffled))
		for _, c := range p.Cases {
			if o := q.Case(c.Key); o == nil || o.ID != c.ID {
				rt.Fatalf("%s changes with the order in the file", c.Key)
			}
		}
		if p.Digest != q.Digest {
			rt.Fatalf("the digest changes with the order in the file")
		}
		if err := q.Verify(); err != nil {
			rt.Fatal(err)
		}
	})
}

// checkPartition checks the groups: every case is in exactly one group, with cases that start the
// same processes, after its needs.
func checkPartition(t *rapid.T, p *Plan) {
	groupOf := map[string]string{}
	done := map[string]bool{}
	for _, g := range p.Groups {
		first := p.Case(g.Cases[0])
		for _, key := range g.Cases {
			if groupOf[key] != "" {
				t.Fatalf("%s is in groups %s and %s", key, groupOf[key], g.ID)
			}
			groupOf[key] = g.ID
			c := p.Case(key)
			if c.Run != g.Run || c.Options["fabric"] != first.Options["fabric"] || c.Env["A"] != first.Env["A"] {
				t.Fatalf("%s cannot share processes with %s", key, first.Key)
			}
		}
		for _, n := range g.Needs {
			if !done[n] {
				t.Fatalf("group %s comes before %s, which it needs", g.ID, n)
			}
		}
		done[g.ID] = true
	}
	if len(groupOf) != len(p.Cases) {
		t.Fatalf("groups hold %d of %d cases", len(groupOf), len(p.Cases))
	}
}
