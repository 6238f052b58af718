package reporters

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/load"
)

// Tokens that weir could only count by events are told, whether anything is asserted of them or not.
func TestValuesThatDecideNothingAreTold(t *testing.T) {
	for by, want := range map[load.TokenSource]bool{load.ByEvents: true, load.ByUsage: false} {
		c := &results.Case{
			Key: "a", Run: "a", Workload: "serving", Status: results.OK, Options: map[string]any{"stream": true},
		}
		for i := range 3 {
			c.Launches = append(c.Launches, &results.Launch{
				Index: i, Status: results.OK, Verified: true,
				Metrics: results.ValuesOf(map[string]float64{
					"output_throughput": 210, "ttft.p50": 0.01, "requests": 40, "tokens.counted_by": float64(by),
				}),
			})
		}
		doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
		for _, format := range []string{"table", "markdown", "html"} {
			var b bytes.Buffer
			r, _ := Lookup(format)
			if err := r.Write(&b, doc); err != nil {
				t.Fatal(err)
			}
			told := strings.Contains(b.String(), "decide nothing: the server sent no plausible usage")
			if told != want {
				t.Errorf("%s, %v: told: %v", format, by, told)
			}
		}
	}
}
