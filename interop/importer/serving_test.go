package importer_test

import (
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// Loops over lengths, warm-up, objectives and fields of requests are axes, or runs where they have other fields.
func TestLoopsOverParts(t *testing.T) {
	for script, want := range map[string][]string{
		"for i in 100 200; do for o in 10 20; do aiperf profile --model m --isl $i --osl $o; done; done": {
			"aiperf[input_tokens=100,output_tokens=10]", "aiperf[input_tokens=100,output_tokens=20]",
			"aiperf[input_tokens=200,output_tokens=10]", "aiperf[input_tokens=200,output_tokens=20]",
		},
		"for w in 1 2; do genai-perf profile -m m --warmup-request-count $w --request-count 9; done": {
			"genai-perf[warmup_requests=1]", "genai-perf[warmup_requests=2]",
		},
		"for g in 10 20; do aiperf profile -m m --streaming --goodput time_to_first_token:$g; done": {
			"aiperf[slo_ttft=10ms]", "aiperf[slo_ttft=20ms]",
		},
		"for t in 0 0.9; do vllm bench serve --model m --temperature $t; done": {
			"vllm-bench[body_temperature=0.9]", "vllm-bench[body_temperature=0]",
		},
		"for d in 0 5; do aiperf profile -m m --isl 9 --isl-stddev $d; done": {
			`aiperf[input_tokens="normal:9,5"]`, "aiperf[input_tokens=9]",
		},
		"for p in 8 9; do guidellm benchmark --target http://h --model m --profile constant --rate 1 --max-requests 9" +
			" --data prompt_tokens=$p; done": {"guidellm[input_tokens=8]", "guidellm[input_tokens=9]"},
		"for c in 1 2; do for i in 1 2; do aiperf profile -m m --concurrency $c --isl $i$c; done; done": {
			"aiperf[concurrency=1,input_tokens=11]", "aiperf[concurrency=1,input_tokens=21]",
			"aiperf[concurrency=2,input_tokens=12]", "aiperf[concurrency=2,input_tokens=22]",
		},
		"for h in '' '-H X:y'; do aiperf profile -m m --isl 9 $h; done": {"aiperf", "aiperf_2"},
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		wantCases(t, script, made, want)
	}
}
