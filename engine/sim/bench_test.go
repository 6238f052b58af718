package sim

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/transfer"
)

// shapes are launches from the smallest to those of a thousand ranks, each with one target or all others.
var shapes = []struct {
	pattern           string
	ranks, iterations int64
}{
	{"pairwise", 2, 100}, {"pairwise", 2, 256}, {"pairwise", 2, 20000},
	{"pairwise", 1000, 100}, {"pairwise", 1000, 256}, {"pairwise", 1000, 20000},
	{"all_to_all", 1000, 1000},
}

func bench(b *testing.B, run func(b *testing.B, l engine.Launch)) {
	for _, s := range shapes {
		b.Run(fmt.Sprintf("pattern=%s/ranks=%d/iterations=%d", s.pattern, s.ranks, s.iterations), func(b *testing.B) {
			run(b, launchOf(0, options(b, option.Values{
				"pattern": s.pattern, "ranks": s.ranks, "iterations": s.iterations,
			})))
		})
	}
}

func BenchmarkPlay(b *testing.B) {
	bench(b, func(b *testing.B, l engine.Launch) {
		s := New()
		for b.Loop() {
			if _, err := s.Play(l); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMetrics(b *testing.B) {
	bench(b, func(b *testing.B, l engine.Launch) {
		p, o := play(b, New(), l), specOf(b, l.Cases[0])
		for b.Loop() {
			if _, err := transfer.Metrics(o, p.Cases[0].Ranks); err != nil {
				b.Fatal(err)
			}
		}
	})
}
