package planner

import "testing"

func TestWhereRestrictsCases(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    sweep: {block_size: [4KiB, 1MiB]}
    assert:
      - bandwidth within 10% of 46.48 GB/s where block_size == 1MiB
      - latency.p99 <= 60us
`)
	small, large := p.Cases[0], p.Cases[1]
	if len(small.Assertions) != 1 || len(large.Assertions) != 2 {
		t.Fatalf("assertions: %d and %d, want 1 and 2", len(small.Assertions), len(large.Assertions))
	}
	b := large.Assertions[0].Bounds
	equal(t, "bounds", []float64{*b.Lower, *b.Upper}, []float64{41.832, 51.128})
}

func TestTrendIsOneAssertionForEachCombinationOfTheOtherAxes(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    sweep:
      block_size: [16KiB, 4KiB, 8KiB]
      in_flight: [1, 2]
    assert:
      - latency.p50 increases with block_size where block_size != 4KiB
`)
	if len(p.Assertions) != 2 {
		t.Fatalf("%d assertions, want 2", len(p.Assertions))
	}
	equal(t, "cases", p.Assertions[1].Cases, []string{
		"a[block_size=8KiB,in_flight=2]", "a[block_size=16KiB,in_flight=2]",
	})
	if p.Assertions[0].Name == p.Assertions[1].Name {
		t.Errorf("both assertions are called %q", p.Assertions[0].Name)
	}
}

func TestTrendOverOneCase(t *testing.T) {
	d := refuse(t, `
scenario: s
runs:
  a:
    workload: transfer
    sweep: {block_size: [4KiB, 1MiB]}
    assert:
      - bandwidth increases with block_size where block_size == 1MiB
`)
	mentions(t, d, 8, "at least two cases")
}
