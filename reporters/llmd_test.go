package reporters

import (
	"encoding/json"
	"testing"
)

// A case that measured nothing would make readers refuse the reports of all others.
func TestLLMDReportHasAMeasurement(t *testing.T) {
	for aggregate, want := range map[string]bool{
		`{"latency":{},"throughput":{}}`: false,
		`{}`:                             false,
		`{"latency":{"request_latency":{"mean":1}}}`:           true,
		`{"latency":{},"throughput":{"request_rate":{"a":1}}}`: true,
	} {
		var report map[string]any
		text := `{"results":{"request_performance":{"aggregate":` + aggregate + `}}}`
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Fatal(err)
		}
		if measured(report) != want {
			t.Errorf("%s: %v", aggregate, !want)
		}
	}
}
