package sim

import (
	"fmt"
	"testing"

	"weir/engine"
	"weir/workload"
)

func BenchmarkPlay(b *testing.B) {
	for _, ranks := range []int64{2, 1000} {
		for _, iterations := range []int64{100, 256, 20000} {
			b.Run(fmt.Sprintf("ranks=%d/iterations=%d", ranks, iterations), func(b *testing.B) {
				l := launchOf(0, options(b, workload.Values{"ranks": ranks, "iterations": iterations}))
				s := New()
				for b.Loop() {
					play(b, s, l)
				}
			})
		}
	}
}

func BenchmarkMetrics(b *testing.B) {
	for _, ranks := range []int64{2, 1000} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			l := launchOf(0, options(b, workload.Values{"ranks": ranks}))
			p := play(b, New(), l)
			for b.Loop() {
				if _, err := engine.TransferMetrics(l.Cases[0], p.Cases[0].Ranks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
