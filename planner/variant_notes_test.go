package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// A plan has the notes of the variants that it runs, commas included. They change no digest.
func TestVariantNotes(t *testing.T) {
	const src = "scenario: s\nvariants:\n  a: {batch: 1, note: old, slow driver}\n  b: {batch: 2}\n  c: {batch: 3, note: unused}\n" +
		"runs: {r: {workload: transfer, options: {block_size: 1MiB, batch: '${variant.batch}'}, sweep: {variant: [a, b]}}}\n"
	p, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
	if len(diags) > 0 {
		t.Fatal(render(diags))
	}
	other, _ := Build(read(t, "s.yaml", strings.Replace(src, "old", "new", 1), dsl.Options{}))
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "a: old, slow driver") || strings.Contains(b.String(), "unused") {
		t.Errorf("%s", b.String())
	}
	if p.Digest != other.Digest || p.Runs[0].VariantNotes["a"] == other.Runs[0].VariantNotes["a"] {
		t.Errorf("%s and %s", p.Digest, other.Digest)
	}
}
