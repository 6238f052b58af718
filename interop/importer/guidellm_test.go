package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// What guidellm leaves to the server or to itself has to be written.
func TestGuidellmRefuses(t *testing.T) {
	const full = "--target http://h --model m "
	for args, want := range map[string]string{
		"--model m":                                 "--target is missing",
		full:                                        "--profile sweep: the highest load that keeps a promise is `search`",
		full + "--profile poisson":                  "--rate is missing",
		full + "--rate-type constant":               "--rate is missing",
		full + "--profile synchronous":              "--data is missing",
		full + "--profile concurrent":               "--profile concurrent: without --rate the load has no limit",
		full + "--max-errors 3":                     "--max-errors: assert `error_rate`",
		full + "--request-type audio":               `"audio" is neither chat nor completions`,
		full + "--max-requests many":                `--max-requests: "many" is not a whole number`,
		full + "--scenario chat":                    "--scenario: write what the file of the scenario has",
		full + "--data a/b --rate-type synchronous": "--data a/b: prompts of other data sets are a file",
		full + "--profile synchronous --data prompt_tokens=8,turns=2":   "--data turns: weir has lengths",
		full + "--profile synchronous --data prompt_tokens=8":           "--max-seconds or --max-requests is missing",
		full + "--profile synchronous --data {\"prompt_tokens\":\"x\"}": "prompts of other data sets are a file",
	} {
		_, err := importer.Script("x.sh", "guidellm benchmark "+args+"\n", importer.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}

// The configuration of inference-perf becomes a load; its stages are a sweep.
func TestConfigurationOfInferencePerf(t *testing.T) {
	config := `api: {type: completion, streaming: true}
server: {type: vllm, model_name: m, base_url: http://h:8000, ignore_eos: true}
load:
  type: poisson
  num_workers: 4
  stages: [{rate: 1, duration: 30}, {rate: 2.5, duration: 60}]
data:
  type: random
  input_distribution: {min: 10, max: 100, mean: 50, std: 10, total_count: 100}
  output_distribution: {min: 20, max: 20, mean: 20, std_dev: 3}
report: {request_lifecycle: {summary: true}}
`
	read := func(change ...string) importer.Options {
		text := strings.NewReplacer(change...).Replace(config)
		return importer.Options{Read: func(string) ([]byte, error) { return []byte(text), nil }}
	}
	const line = "inference-perf --config_file config.yml"
	scenarioOf(t, line, read(), []string{
		"url: http://h:8000", "model: m", "api: completions", "arrivals: poisson", "rate: [1/s, 2.5/s]",
		"duration: [30s, 60s]", `input: {tokens: "normal:50,10"}`, "output: {tokens: 20, exact: true}",
		"# data.input_distribution: lengths are not limited to its min and max", "warmup: {waves: 0}",
		"# load.num_workers 4 is not taken over: clients of weir have no workers",
	})
	scenarioOf(t, line, read("poisson", "concurrent", "rate: 1, duration: 30", "num_requests: 9, concurrency_level: 3",
		"rate: 2.5, duration: 60", "num_requests: 20, concurrency_level: 4"), []string{
		"concurrency: [3, 4]", "requests: [9, 20]", "stream: true",
	})
	for change, want := range map[string]string{
		"random":                  "data.type shareGPT of --config_file",
		"num_workers: 4":          "load.sweep of --config_file",
		"type: poisson":           "load.type trace_replay of --config_file",
		"api: {type: completion,": "is neither chat nor completions",
	} {
		to := map[string]string{
			"random": "shareGPT", "num_workers: 4": "sweep: {type: linear}", "type: poisson": "type: trace_replay",
			"api: {type: completion,": "api: {type: embeddings,",
		}[change]
		if _, err := importer.Script("x.sh", line, read(change, to)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
}
