package transfer

import "testing"

// Advice for more values of a quantile suffices also if the fabric flushes writes, which then have fewer stamps.
func TestAdviceForQuantilesOfFlushedWrites(t *testing.T) {
	options := map[string]any{"block_size": int64(4096), "op": "write", "iterations": int64(30000)}
	if least, most := (behaviour{}).Expected(options, stamped); least != 256 || most <= least {
		t.Errorf("%d to %d requests have stamps", least, most)
	}
	p99, ok := Kind.Metric("latency.p99")
	if !ok {
		t.Fatal("no p99")
	}
	for op, want := range map[string]string{"read": "iterations: 40000", "write": "iterations: 200000"} {
		options["op"] = op
		if got := Kind.MoreSamples(p99, options, 100, 1, 1); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
}
