package serving

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/results"
)

// A reader of aiperf's files gets the same numbers from the report.
func TestAiperfReportIsReadBack(t *testing.T) {
	measured := map[string]float64{
		"ttft.avg": 0.0925, "ttft.p50": 0.09, "ttft.p99": results.Unbounded, "itl.p50": 0.008, "latency.max": 1.5,
		"request_rate": 33, "output_throughput": 1056, "requests": 420, "error_rate": 0.05,
		"concurrency.effective": 15.5,
	}
	lines := aiperf(func(string) string { return "x" }, func(name string) (float64, bool) {
		v, ok := measured[name]
		return v, ok
	})
	f, _ := output.Lookup("aiperf")
	rows, err := f.Read([]byte(strings.Join(lines, "\n")))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
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

// Names and units are those of a file of aiperf.
func TestAiperfHasTheseNames(t *testing.T) {
	text, err := os.ReadFile("../../interop/output/testdata/aiperf/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	var real map[string]struct{ Unit string }
	if err := json.Unmarshal(text, &real); err != nil {
		var loose map[string]json.RawMessage
		if err := json.Unmarshal(text, &loose); err != nil {
			t.Fatal(err)
		}
		real = map[string]struct{ Unit string }{}
		for name, raw := range loose {
			var one struct{ Unit string }
			if json.Unmarshal(raw, &one) == nil {
				real[name] = one
			}
		}
	}
	for name, unit := range map[string]string{
		"request_latency": "ms", "time_to_first_token": "ms", "inter_token_latency": "ms", "inter_chunk_latency": "ms",
		"request_throughput": "requests/sec", "output_token_throughput": "tokens/sec", "request_count": "requests",
		"output_sequence_length": "tokens", "input_sequence_length": "tokens",
	} {
		if real[name].Unit != unit {
			t.Errorf("aiperf has %s in %q", name, real[name].Unit)
		}
	}
}
