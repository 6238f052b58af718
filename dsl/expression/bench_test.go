package expression

import (
	"fmt"
	"github.com/weir-bench/weir/workload/transfer"
	"testing"
	"time"
)

func BenchmarkCompile(b *testing.B) {
	n, _ := rich()
	for _, text := range []string{
		"bandwidth >= 40",
		"bandwidth within 10% of 0.5 * ceiling.bandwidth where block_size == 64MiB",
		`bandwidth >= 0.9 * max(run("wide", op == "read").bandwidth over threads)`,
	} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := n.Assertion(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// hundredRuns compiles the assertions of a scenario of a hundred runs.
func hundredRuns() error {
	runs := map[string]*Names{}
	for i := range 100 {
		name := fmt.Sprintf("run%d", i)
		runs[name] = &Names{
			Kind: transfer.Kind, Run: name, Runs: runs, Axes: []Axis{{Name: "block_size"}, {Name: "fabric"}},
		}
	}
	for i := range 100 {
		other := fmt.Sprintf("run%d", (i+1)%100)
		for _, text := range []string{
			"bandwidth within 10% of 46.48 GB/s where block_size == 64MiB",
			"latency.avg <= 60us where block_size == 4KiB and fabric == 'shm'",
			"bandwidth >= 0.5 * max(bandwidth over fabric)",
			`bandwidth >= 0.9 * run("` + other + `", batch >= 1).bandwidth`,
		} {
			if _, err := runs[fmt.Sprintf("run%d", i)].Assertion(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func BenchmarkHundredRuns(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := hundredRuns(); err != nil {
			b.Fatal(err)
		}
	}
}

// Validation must be fast. The limit is far above the usual 8 ms, for busy machines.
func TestHundredRunsCompileSoon(t *testing.T) {
	best := time.Hour
	for range 5 {
		start := time.Now()
		if err := hundredRuns(); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if best > 100*time.Millisecond*raceFactor {
		t.Errorf("400 assertions of 100 runs compile in %v", best)
	}
}

func BenchmarkConditionEval(b *testing.B) {
	c, err := names.When(`block_size > 1MiB && fabric == "ucx"`)
	if err != nil {
		b.Fatal(err)
	}
	s := scope()
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := c.Eval(s); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// Planning a million points evaluates a million conditions.
func TestConditionsAllocateLittle(t *testing.T) {
	c, err := names.When(`block_size > 1MiB && fabric == "ucx"`)
	if err != nil {
		t.Fatal(err)
	}
	s := scope()
	if n := testing.AllocsPerRun(1000, func() { _, _ = c.Eval(s) }); n > 3*raceFactor {
		t.Errorf("an evaluation makes %v allocations", n)
	}
}
