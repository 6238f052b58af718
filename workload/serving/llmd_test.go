package serving

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/results"
)

// A reader of llm-d's reports gets the same numbers from the report.
func TestLLMDReportIsReadBack(t *testing.T) {
	measured := map[string]float64{
		"ttft.avg": 0.0925, "ttft.p50": 0.09, "ttft.p99": results.Unbounded, "itl.avg": 0.008, "itl.p50": 0.007,
		"latency.avg": 1.25, "latency.max": 1.5, "chunk_gap.avg": 0.0075,
		"request_rate": 33, "output_throughput": 1056, "total_throughput": 2000, "requests": 420, "error_rate": 0.05,
	}
	options := map[string]string{"concurrency": "16", "rate": "0/s", "model": "m", "url": "http://h"}
	lines := llmd(func(name string) string { return options[name] }, func(name string) (float64, bool) {
		v, ok := measured[name]
		return v, ok
	})
	f, _ := output.Lookup("llm-d")
	rows, err := f.Read([]byte(strings.Join(lines, "\n")))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	if got := rows[0].At["concurrency"] + rows[0].At["rate"]; got != "16" {
		t.Errorf("the load is %v", rows[0].At)
	}
	delete(measured, "ttft.p99") // which has no end
	for name, want := range measured {
		if got := rows[0].Values[name]; got < want*(1-1e-12) || got > want*(1+1e-12) {
			t.Errorf("%s is read as %v, and is %v", name, got, want)
		}
	}
	if len(rows[0].Values) != len(measured) {
		t.Errorf("%v", rows[0].Values)
	}
}

// A case that measured nothing would make readers refuse the reports of all others.
func TestLLMDReportHasAMeasurement(t *testing.T) {
	for metric, want := range map[string]bool{
		"requests": false, "error_rate": false, "latency.avg": true, "request_rate": true,
	} {
		lines := llmd(func(string) string { return "" }, func(name string) (float64, bool) { return 1, name == metric })
		if got := strings.Join(lines, "") != "null"; got != want {
			t.Errorf("with %s alone a report is written: %v", metric, got)
		}
	}
}
