package expression

import "testing"

func TestUsualMetric(t *testing.T) {
	serving := []string{
		"ttft.avg", "ttft.p50", "ttft.p99",
		"itl.avg", "itl.p50", "itl.p99", "latency.p50", "latency.p99", "latency.p999", "request_rate",
		"output_throughput", "total_throughput", "error_rate", "slo.ttft", "errors.status", "stall.max",
	}
	for name, want := range map[string]string{
		"p99_ttft_ms": "ttft.p99", "mean_ttft": "ttft.avg", "ttft": "ttft.p50", "TTFT.p99": "ttft.p99",
		"tpot.p99": "itl.p99", "median_tpot_ms": "itl.p50", "e2e.p50": "latency.p50", "p99_e2el_ms": "latency.p99",
		"request_latency_p99": "latency.p99", "time_to_first_token": "ttft.p50", "throughput": "output_throughput",
		"requests_per_second": "request_rate", "request_throughput": "request_rate", "success_rate": "error_rate",
		"total_token_throughput": "total_throughput", "status": "errors.status", "p99": "latency.p99",
		"latency.99": "latency.p99", "ttft.99th": "ttft.p99", "latency.p99.9": "latency.p999",
		"latency.99.9": "latency.p999",
	} {
		if got := usualMetric(name, serving); got != "did you mean "+want+"?" {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
	}
	for _, name := range []string{"bandwidht", "x", "p", "_"} {
		if got := usualMetric(name, serving); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := usualMetric("bw", []string{"bandwidth"}); got != "did you mean bandwidth?" {
		t.Error(got)
	}
}
