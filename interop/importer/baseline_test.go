package importer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// A result becomes a scenario with the load of its file. Its cases have the keys of the document.
func TestGate(t *testing.T) {
	for name, file := range map[string]string{
		"aiperf": "aiperf/profile_export_aiperf.json", "guidellm-sweep": "guidellm/made_0_3_sweep.json",
		"vllm-appended": "vllm-bench/made_appended.json", "genai-perf": "aiperf/made_genai_perf.json",
		"llmperf": "llmperf/made_summary.json", "evalscope": "evalscope/made_summary.json", "mixed": "",
		"inference-perf": "inference-perf/made_concurrent.json", "llm-d": "llm-d/made_0_2.json",
	} {
		tool, _, _ := strings.Cut(file, "/")
		content := []byte(mixedLoads)
		if file != "" {
			var err error
			if content, err = os.ReadFile("../output/testdata/" + file); err != nil {
				t.Fatal(err)
			}
		} else {
			tool = "vllm-bench"
		}
		doc, err := Result(tool, filepath.Base(file), content, ResultOptions{Run: "load", Made: time.Unix(1, 0).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		src, err := Gate(doc, "base.json")
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/baseline-"+name+".yaml", src)
		s, _, diags := dsl.Load("gate.yaml", src, dsl.Options{Vars: map[string]string{
			"url": "http://h", "model": "m",
		}})
		if diags.HasErrors() {
			t.Fatalf("%s: %s", name, diags.Error())
		}
		p, diags := planner.Build(s)
		if diags.HasErrors() {
			t.Fatalf("%s: %s", name, diags.Error())
		}
		for _, c := range doc.Cases {
			if !slices.ContainsFunc(p.Cases, func(planned *planner.Case) bool { return planned.Key == c.Key }) {
				t.Errorf("%s: the scenario lacks %s", name, c.Key)
			}
		}
	}
}

// A gate of a file that does not say how many requests it has asks for them.
func TestGateWithoutRequests(t *testing.T) {
	const content = `{"request_rate":"inf","max_concurrency":16,"num_prompts":9,"completed":9,"request_throughput":5,"median_ttft_ms":20}`
	doc, err := Result("vllm-bench", "r.json", []byte(content), ResultOptions{Run: "load", Made: time.Unix(1, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	c := doc.Cases[0]
	delete(c.Options, ofLoad+"requests")
	ttft, _ := c.Launches[0].Metrics.Get("ttft.p50")
	c.Launches[0].Metrics = results.ValuesOf(map[string]float64{"ttft.p50": ttft})
	src, err := Gate(doc, "base.json")
	if err != nil {
		t.Fatal(err)
	}
	s, _, diags := dsl.Load("gate.yaml", src, dsl.Options{Vars: map[string]string{
		"url": "http://h", "model": "m", "requests": "40",
	}})
	if diags.HasErrors() {
		t.Fatalf("%s\n%s", src, diags.Error())
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() || p.Cases[0].Options["requests"] != int64(40) {
		t.Fatalf("%s\n%s\n%v", src, diags.Error(), p)
	}
}

// mixedLoads are results of loads of several kinds, one with arrivals that are not Poisson.
const mixedLoads = `{"request_rate":"inf","max_concurrency":16,"num_prompts":200,"completed":190,"failed":10,` +
	`"total_input_tokens":19000,"total_output_tokens":3800,"request_throughput":5,"median_ttft_ms":20}
{"request_rate":4,"burstiness":0.5,"num_prompts":100,"completed":100,"total_input_tokens":10000,` +
	`"total_output_tokens":2000,"request_throughput":4,"median_ttft_ms":20}
{"request_rate":"inf","num_prompts":64,"completed":64,"random_input_len":1024,"random_range_ratio":0.5,` +
	`"random_output_len":128,"request_throughput":9,"median_ttft_ms":90}
`
