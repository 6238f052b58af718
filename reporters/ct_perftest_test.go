package reporters

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// published are the rows that the documentation of sequential-ct-perftest shows: GB, ms, ms, senders.
var published = [][4]float64{{4.945, 35.047, 35.421, 4}, {3.230, 21.152, 21.800, 4}, {1.104, 8.222, 8.280, 4}}

// sequenceOf is a session with the published rows as the patterns of a sequence, in two launches.
func sequenceOf() *results.Document {
	doc := &results.Document{Session: results.Session{Status: results.Passed}}
	for i, row := range published {
		values := map[string]float64{
			"bytes": row[0] * 1e9, "latency": row[1] / 1e3, "isolated_latency": row[2] / 1e3, "senders": row[3],
		}
		estimates := map[string]results.MetricEstimate{}
		for name, v := range values {
			estimates[name] = results.MetricEstimate{Median: v}
		}
		c := &results.Case{
			Run: "kv", Key: "kv[pattern=" + string(rune('0'+i)) + "]", Workload: "traffic_sequence", Status: results.OK,
			Metrics: results.NamedOf(estimates),
		}
		for range 2 {
			c.Launches = append(c.Launches, &results.Launch{Status: results.OK, Metrics: results.ValuesOf(values)})
		}
		doc.Cases = append(doc.Cases, c)
	}
	return doc
}

// The table and the JSON have the numbers of the published documentation, in its form.
func TestCTPerftestHasThePublishedForm(t *testing.T) {
	doc := sequenceOf()
	got := written(t, "ct-perftest", doc)
	for _, want := range []string{
		"  Transfer size (GB)    Latency (ms)    Isolated Latency (ms)    Num Senders",
		"--------------------  --------------  -----------------------  -------------",
		"         4.945               35.047                   35.421              4",
		"         3.230               21.152                   21.800              4",
		"         1.104                8.222                    8.280              4",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	path := filepath.Join(t.TempDir(), "results.json")
	r, _ := Lookup("ct-perftest")
	if err := r.WriteFile(path, doc); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Iterations [][]struct {
			Size, Latency, Isolated float64
			Senders                 int `json:"num_senders"`
		} `json:"iterations_results"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Iterations) != 2 || len(report.Iterations[0]) != len(published) {
		t.Fatalf("%d iterations:\n%s", len(report.Iterations), text)
	}
	for i, row := range published {
		if p := report.Iterations[1][i]; p.Size != row[0] || p.Latency != row[1] || p.Senders != int(row[3]) {
			t.Errorf("pattern %d is %+v, and %v is published", i, p, row)
		}
	}
}
