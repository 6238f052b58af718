package importer

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
)

// Files of all tools become complete documents with the numbers of the file.
func TestResult(t *testing.T) {
	for _, tool := range ResultTools() {
		format, _ := formatOf(tool)
		files, err := filepath.Glob("../output/testdata/" + format.Name + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", tool, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := Result(tool, file, content, ResultOptions{Run: "load", Made: time.Unix(1, 0).UTC()})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			path := filepath.Join(t.TempDir(), "results.json")
			if err := doc.Write(path); err != nil {
				t.Fatal(err)
			}
			back, err := results.ReadVerified(path)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			rows, err := format.Read(content)
			var launches []*results.Launch
			for _, c := range back.Cases {
				launches = append(launches, c.Launches...)
			}
			runs := strings.Contains(file, "made_runs")
			if err != nil || len(rows) != len(launches) || runs != (len(back.Cases) < len(rows)) {
				t.Fatalf("%s: %d cases of %d results, %v", file, len(back.Cases), len(rows), err)
			}
			for i, row := range rows {
				for name, want := range row.Values {
					if got, ok := launches[i].Metrics.Get(name); !ok ||
						math.Abs(got-want) > 1e-12*math.Abs(want) {
						t.Errorf("%s, case %d: %s is %v, and the file says %v", file, i, name, got, want)
					}
				}
			}
		}
	}
}

func TestResultRefuses(t *testing.T) {
	appended, err := os.ReadFile("../output/testdata/vllm-bench/made_appended.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tool    string
		content []byte
		o       ResultOptions
		want    string
	}{
		"a tool without results": {"fio", nil, ResultOptions{}, "supported are aiperf, evalscope, genai-perf, "},
		"another file": {
			"aiperf", []byte(`{"a":1}`), ResultOptions{Run: "r"}, "no profile_export_aiperf.json",
		},
		"a key of many": {
			"vllm-bench", appended, ResultOptions{Run: "r", Case: "r[a=1]"}, "--case names one case",
		},
	} {
		if _, err := Result(c.tool, "f.json", c.content, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that weir writes in aiperf's format is read back, with the cases of the session.
func TestLoadsOfASessionAreReadBack(t *testing.T) {
	load := func(key string, rate string) string {
		return `{"schema_version":"1.4","was_cancelled":false,"is_complete":true,"weir_case":"` + key + `"` + rate + `}`
	}
	rate := `,"request_throughput":{"unit":"requests/sec","avg":5},"time_to_first_token":{"unit":"ms","p50":20}`
	content := `{"weir_loads":[` + load("a[concurrency=1]", rate) + "," + load("a[concurrency=2]", rate) + "," +
		load("b", rate) + "," + load("c", "") + `]}`
	doc, err := Result("aiperf", "aiperf.json", []byte(content), ResultOptions{Run: "load", Made: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range doc.Cases {
		keys = append(keys, c.Run+" "+c.Key)
		if v, ok := c.Launches[0].Metrics.Get("ttft.p50"); !ok || v != 0.02 {
			t.Errorf("%s: ttft.p50 is %v", c.Key, v)
		}
	}
	if want := []string{"a a[concurrency=1]", "a a[concurrency=2]", "b b"}; !slices.Equal(keys, want) {
		t.Errorf("%q, want %q", keys, want)
	}
	if len(doc.Metrics) != 2 || doc.Metrics[0].Run != "a" || doc.Metrics[1].Run != "b" {
		t.Errorf("tables of %v", doc.Metrics)
	}
	if _, err := Result("aiperf", "f", []byte(`{"weir_loads":[]}`), ResultOptions{Run: "load"}); err == nil ||
		!strings.Contains(err.Error(), "no load of weir_loads has a result") {
		t.Error(err)
	}
}

// FuzzResult searches for result files on which the import panics, or of which it makes a document that cannot be
// written and read.
func FuzzResult(f *testing.F) {
	for i, tool := range ResultTools() {
		format, _ := formatOf(tool)
		files, _ := filepath.Glob("../output/testdata/" + format.Name + "/*.json")
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(i, content)
		}
	}
	f.Fuzz(func(t *testing.T, i int, content []byte) {
		tool := ResultTools()[uint(i)%uint(len(ResultTools()))]
		doc, err := Result(tool, "x.json", content, ResultOptions{Run: "load", Made: time.Unix(1, 0).UTC()})
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "results.json")
		if err := doc.Write(path); err != nil {
			t.Fatal(err)
		}
		if _, err := results.ReadVerified(path); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	})
}

// Percentiles that are no metrics are named in the options of a case.
func TestPercentilesThatAreNoMetrics(t *testing.T) {
	content, err := os.ReadFile("../output/testdata/vllm-bench/made_percentiles.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Result("vllm-bench", "r.json", content, ResultOptions{Run: "load"})
	if err != nil || doc.Cases[0].Options["unread"] != "p80_ttft_ms" {
		t.Errorf("%v, %v", err, doc)
	}
	if v, ok := doc.Cases[0].Launches[0].Metrics.Get("ttft.p9999"); !ok || v != 0.13 {
		t.Errorf("ttft.p9999 is %v, %v", v, ok)
	}
}
