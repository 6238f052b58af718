package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

func TestPlanAfterEachStep(t *testing.T) {
	text := strings.Replace(twoRuns, "8KiB]\n      fabric: [shm, tcp]\n",
		"8KiB, 16KiB]\n      fabric: [shm, tcp]\n      exclude: [{when: fabric == \"tcp\" && block_size == 16KiB, reason: slow}]\n",
		1)
	s := read(t, "test.yaml", text, dsl.Options{})
	has := map[string]func(*Plan) bool{ // what exists after the step, and not before
		"exclude": func(p *Plan) bool { return p.Case("a[block_size=16KiB,fabric=tcp]").Status == Excluded },
		"resolve": func(p *Plan) bool { return p.Cases[0].Options["verify"] == "full" },
		"need":    func(p *Plan) bool { return len(p.Cases[len(p.Cases)-1].Needs) == 2 },
		"assert":  func(p *Plan) bool { return len(p.Cases[0].Assertions) == 1 && len(p.Assertions) == 2 },
		"group":   func(p *Plan) bool { return len(p.Groups) == 3 },
		"seal":    func(p *Plan) bool { return p.Digest != "" && p.Cost.Launches.Max > 0 },
	}
	done := map[string]bool{}
	for _, step := range Steps() {
		p, diags, err := After(s, step)
		if err != nil || diags.HasErrors() {
			t.Fatal(step, err, diags)
		}
		done[step] = true
		for name, there := range has {
			if there(p) != done[name] {
				t.Errorf("after %s: what %s does is there: %v", step, name, there(p))
			}
		}
		textOf(t, p)
	}
	if _, _, err := After(s, "explode"); err == nil || !strings.Contains(err.Error(), "expand") {
		t.Errorf("got %v, want the steps", err)
	}
}

func TestExcerptSaysWhatItLeavesOut(t *testing.T) {
	table, _ := Tabulate(read(t, "large.yaml", sweepOf(4), dsl.Options{}))
	p := table.Excerpt(5, 10)
	for _, want := range []string{"10000 cases", "… and 9995 cases more", table.Digest(), "about 8 expected"} {
		shows(t, p, want)
	}
	if n := strings.Count(textOf(t, p), "gate bandwidth >= 1 GB/s"); n > 5 {
		t.Errorf("%d cases are shown", n)
	}
}

// An excerpt may show groups without showing their cases.
func TestAnExcerptIsNotEstimated(t *testing.T) {
	table, _ := Tabulate(read(t, "two.yaml", twoRuns, dsl.Options{}))
	p := table.Excerpt(1, 10)
	if p.Estimate(nil); p.Cost.Seconds != nil || len(p.Groups) != 3 {
		t.Errorf("%d groups take %v", len(p.Groups), p.Cost.Seconds)
	}
}

func TestEstimate(t *testing.T) {
	p := build(t, twoRuns)
	seconds := map[string]float64{}
	for _, c := range p.Cases[1:] {
		seconds[c.ID] = 2
	}
	if p.Estimate(seconds); p.Cost.Seconds != nil {
		t.Errorf("an estimate without a time for %s", p.Cases[0].Key)
	}
	seconds[p.Cases[0].ID] = 1
	p.Estimate(seconds)
	// Two groups of two cases with assertions (3, 8, 12 launches), one without (3):
	// (1+2 + 2+2)·n, and the two cases of b share one launch of 4 s.
	equal(t, "seconds", *p.Cost.Seconds, Range{Min: 3*7 + 3*4, Expected: 8*7 + 3*4, Max: 12*7 + 3*4})
}
