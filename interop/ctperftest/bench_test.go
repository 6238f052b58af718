package ctperftest_test

import (
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// A sequence of a thousand requests between 256 ranks, read with all its matrices.
func BenchmarkReadThousandPatterns(b *testing.B) {
	m, err := model.Lookup("llama-405b")
	if err != nil {
		b.Fatal(err)
	}
	lengths, err := model.ParseLengths("normal:16000,10000", 1000, 128000)
	if err != nil {
		b.Fatal(err)
	}
	requests, err := model.Mix(1000, lengths, nil, 1)
	if err != nil {
		b.Fatal(err)
	}
	worker := model.Parallel{TP: 8, PP: 1, CP: 1}
	patterns, err := model.Generate(model.Config{
		Model: m, Prefill: worker, Decode: worker, PrefillRanks: 128, DecodeRanks: 128, BatchSize: 1,
		Compute: model.Compute{Rule: model.None},
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
