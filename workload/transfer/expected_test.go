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

// Advice of more iterations never lowers them, and suffices for a session that ended with as few launches.
func TestAdviceForQuantilesOfFewLaunches(t *testing.T) {
	p99, ok := Kind.Metric("latency.p99")
	if !ok {
		t.Fatal("no p99")
	}
	for now, want := range map[any]string{
		int64(1000): "iterations: 5000", float64(1000): "iterations: 5000", int64(7000): "iterations: 8000",
	} {
		options := map[string]any{"block_size": int64(64 << 10), "op": "write", "iterations": now}
		if got := Kind.MoreSamples(p99, options, 256, 2, 12); got != want {
			t.Errorf("with %v: %q, want %q", now, got, want)
		}
	}
}
