package planner

import (
	"strings"
	"testing"
)

// A sequence is one launch even if only some of its patterns have own cells; the others keep their
// ids.
func TestSequencesWithOwnCellsAreOneLaunch(t *testing.T) {
	const text = "scenario: s\nruns: {a: {workload: traffic_sequence, options: {OPTION patterns: [{matrix: [[0, 1], [0, CELL]]}, {matrix: [[0, 1], [1, 0]]}]}}}\n"
	of := func(option, cell string) *Plan {
		return build(t, strings.NewReplacer("OPTION", option, "CELL", cell).Replace(text))
	}
	without, with := of("", "0"), of("", "4K")
	for _, p := range []*Plan{without, with, of("own_cells: copy,", "4K")} {
		if len(p.Groups) != 1 || len(p.Groups[0].Cases) != 2 {
			t.Errorf("%d launch groups", len(p.Groups))
		}
	}
	if got := with.Case("a[pattern=0]").Options["own_cells"]; got != "copy" {
		t.Errorf("own_cells is %v", got)
	}
	for _, c := range []*Case{without.Case("a[pattern=0]"), with.Case("a[pattern=1]")} {
		if _, has := c.Options["own_cells"]; has {
			t.Errorf("%s has own_cells: %v", c.Key, c.Options)
		}
	}
	if of("", "4K").Digest != of("own_cells: copy,", "4K").Digest {
		t.Error("to say what holds anyway makes another plan")
	}
	if without.Digest != of("own_cells: ignore,", "0").Digest {
		t.Error("the option makes another plan of matrices without own cells")
	}
	swept := build(t, "scenario: s\nruns: {a: {workload: traffic_sequence, options: {patterns: [{matrix: [[0, 1], [0, 4K]]}, {matrix: [[0, 1], [1, 0]]}]}, sweep: {own_cells: [copy, ignore]}}}\n")
	if len(swept.Groups) != 2 || len(swept.Cases) != 4 {
		t.Errorf("%d groups of %d cases", len(swept.Groups), len(swept.Cases))
	}
}

// Ignored cells are reported once for a run, with their total.
func TestIgnoredOwnCellsAreWarnedOfOnce(t *testing.T) {
	_, diags := plan(t, "s.yaml", "scenario: s\nruns:\n  a: {workload: traffic, options: {own_cells: ignore, matrix: [[3, 1], [0, 4K]]}, sweep: {shards: [1, 2, 3]}}\n")
	if len(diags) != 1 || diags.HasErrors() ||
		!strings.Contains(diags[0].Detail, `2 cells from a rank to itself, 4099B together, are not sent in run "a"`) {
		t.Errorf("%v", diags)
	}
}
