package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// A flag without an equivalent stops the import of its line alone. Of a script with no other line nothing is left.
func TestUnmappedFlagOfALine(t *testing.T) {
	const bad = "ib_write_bw -s 8 --rate_limit 5 h\n"
	made, err := importer.Script("x.sh", bad+"ib_write_bw -s 16 h\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:1: --rate_limit: ") ||
		!strings.Contains(err.Error(), "\nline 1 is not imported: the scenario has only the others") {
		t.Errorf("%v", err)
	}
	p := planned(t, made.Scenario)
	if len(p.Cases) != 1 || !strings.Contains(string(made.Scenario), "block_size: 16B") {
		t.Errorf("%s", made.Scenario)
	}
	for _, file := range []string{"x.sh", ""} {
		if made, err := importer.Script(file, bad, importer.Options{}); err == nil || made.Scenario != nil {
			t.Errorf("%q: %v, %s", file, err, made.Scenario)
		}
	}
}

// The key of an endpoint is in the environment of some load generators, and so is the address of llmperf's.
func TestKeysOfTheEnvironment(t *testing.T) {
	const vllm = "vllm bench serve --model m --num-prompts 9"
	const llmperf = "python token_benchmark_ray.py --model m --stddev-input-tokens 0 --stddev-output-tokens 0" +
		" --additional-sampling-params '{\"ignore_eos\": true, \"top_p\": 0.5}'"
	for script, wants := range map[string][]string{
		"export OPENAI_API_KEY=abc\n" + vllm: {"headers: {Authorization: Bearer abc}", "in clear text"},
		"export OPENAI_API_KEY=$K\n" + vllm: {
			`{Authorization: "Bearer ${client.env.OPENAI_API_KEY}"}`, "run vllm-bench",
		},
		"export OPENAI_API_KEY=$K OPENAI_API_BASE=http://h:1/v1\n" + llmperf: {
			"url: http://h:1\n", `{Authorization: "Bearer ${client.env.OPENAI_API_KEY}"}`, "concurrency: 10",
			"requests: 10",
			"input: {tokens: 550}", "output: {tokens: 150, exact: true}", "body: {top_p: 0.5}",
			"# --timeout 90: the load ends after --max-num-completed-requests alone",
		},
		"OPENAI_API_BASE=$URL/v1 " + llmperf: {`url: "${var.url}"`},
		llmperf:                              {`url: "${var.url}"`},
		"OPENAI_API_KEY=$K CUDA_VISIBLE_DEVICES=$G " + vllm: {
			`{Authorization: "Bearer ${client.env.K}"}`, "# variable CUDA_VISIBLE_DEVICES: the load has no use for it",
		},
	} {
		for i, want := range wants {
			wants[i] = strings.ReplaceAll(want, "run vllm-bench", "scenario: x")
		}
		scenarioOf(t, script, importer.Options{}, wants)
	}
}

// Several values of --parallel or --rate of evalscope perf are a sweep.
func TestEvalscope(t *testing.T) {
	const line = "evalscope perf --model m --url http://h:1/v1/completions --dataset random --max-prompt-length 100 "
	for args, wants := range map[string][]string{
		"--parallel 1 8 --number 10 80 --max-tokens 64 --min-tokens 64": {
			"url: http://h:1\n", "api: completions", "concurrency: [1, 8]", "requests: [10, 80]",
			"output: {tokens: 64, exact: true}", `input: {tokens: "uniform:1,100"}`, "stream: true", "waves: 0",
		},
		"--rate 5 -n 20 --parallel 64 --no-stream --min-prompt-length 100 --warmup-num 4 --headers a=b c=d": {
			"rate: 5/s", "arrivals: poisson", "max_in_flight: 64", "requests: 20", "input: {tokens: 100}",
			"stream: false",
			"output: {tokens: 2048}\n", "warmup: {requests: 4}", "headers: {a: b, c: d}",
		},
		"--rate 5 10 --open-loop --number 20": {"rate: [5/s, 10/s]", "requests: 20"},
	} {
		scenarioOf(t, line+args, importer.Options{}, wants)
	}
	for args, want := range map[string]string{
		line + "--parallel 1 2 3 --number 1 2":         "--number has 2 values and --parallel 3",
		line + "--parallel 1 2 --rate 5":               "--parallel: evalscope takes one value with --rate",
		line + "--api dashscope":                       "--api dashscope: workload serving loads the interface of OpenAI",
		line + "--warmup-num 0.1":                      "--warmup-num 0.1: weir has `warmup: {requests: N}`",
		"evalscope perf --model m":                     "--dataset openqa: prompts of other data sets are a file",
		"evalscope perf --model m --dataset random":    "--max-prompt-length is missing",
		"token_benchmark_ray.py --model m --llm-api x": "--llm-api x: workload serving loads the interface of OpenAI",
		"token_benchmark_ray.py":                       "--model is missing",
	} {
		if _, err := importer.Script("", args, importer.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
