package ctperftest_test

import (
	"testing"

	"weir/ctperftest"
	"weir/matgen"
	"weir/matrix"
)

// A sequence of a thousand requests between 256 ranks, read with all its matrices.
func BenchmarkReadThousandPatterns(b *testing.B) {
	m, err := matgen.Lookup("llama-405b")
	if err != nil {
		b.Fatal(err)
	}
	lengths, err := matgen.ParseLengths("normal:16000,10000", 1000, 128000)
	if err != nil {
		b.Fatal(err)
	}
	requests, err := matgen.Mix(1000, lengths, nil, 1)
	if err != nil {
		b.Fatal(err)
	}
	worker := matgen.Parallel{TP: 8, PP: 1, CP: 1}
	patterns, err := matgen.Generate(matgen.Config{
		Model: m, Prefill: worker, Decode: worker, PrefillRanks: 128, DecodeRanks: 128, BatchSize: 1,
		Compute: matgen.Compute{Rule: matgen.None},
	}, requests)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := ctperftest.Write(dir, patterns, matrix.Rounded, false); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if c, _, diags := ctperftest.Read(dir); diags.HasErrors() || len(c.Patterns) != 1000 {
			b.Fatal(diags)
		}
	}
}
