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
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(want, "sweep") && strings.Contains(err.Error(), "--as-command") {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}

// Text completions are what guidellm sends before 0.4, unless a variable says otherwise; flags tell newer versions.
func TestInterfaceOfGuidellm(t *testing.T) {
	const load = " --target http://h --model m --rate 4 --max-seconds 9 --data prompt_tokens=2"
	const older = "# requests go to /v1/completions, as of guidellm up to 0.3"
	for line, wants := range map[string][]string{
		"GUIDELLM__PREFERRED_ROUTE=text_completions guidellm benchmark --rate-type concurrent": {
			"api: completions", "",
		},
		"GUIDELLM__PREFERRED_ROUTE=chat_completions guidellm benchmark --rate-type concurrent": {"", ""},
		"guidellm benchmark --rate-type concurrent": {
			"api: completions", older,
		},
		"guidellm benchmark --rate-type concurrent --output-extras {}": {
			"api: completions", "",
		},
		"guidellm benchmark --profile concurrent": {"", ""},
		"guidellm run --rate-type concurrent":     {"", ""},
		"guidellm benchmark --rate-type concurrent --request-format /v1/completions": {
			"api: completions", "",
		},
	} {
		made := string(scenarioOf(t, line+load, importer.Options{}, wants).Scenario)
		for i, text := range []string{"api:", older} {
			if has := strings.Contains(made, text); has != (wants[i] != "") || strings.Contains(made, "PREFERRED") {
				t.Errorf("%s: %q in\n%s", line, text, made)
			}
		}
	}
	refused(t, "GUIDELLM__REQUEST_TIMEOUT=3 guidellm run --profile concurrent"+load,
		"variable GUIDELLM__REQUEST_TIMEOUT: write what it sets as a flag")
}

// Specifications of guidellm from 0.7 on say what flags of earlier versions do.
func TestSpecificationsOfGuidellm(t *testing.T) {
	const line = "guidellm run --backend kind=openai_http,target=http://h:8000,model=m --data " +
		"kind=synthetic_text,prompt_tokens=128,output_tokens=256 "
	for args, wants := range map[string][]string{
		"--profile kind=constant,rate=10 --constraint kind=max_duration,seconds=20 --seed kind=static,value=5": {
			"url: http://h:8000\n", "model: m", "rate: 10/s", "duration: 20s", "input: {tokens: 128}",
			"output: {tokens: 256, exact: true}", "seed: 5",
		},
		`--profile '{"kind": "concurrent", "streams": [1, 8]}' --constraint kind=max_requests,count=9`: {
			"concurrency: [1, 8]", "requests: 9",
		},
		"--profile kind=poisson,max_concurrency=7 --override profile.rate 1,2 --constraint kind=max_requests,count=9": {
			"rate: [1/s, 2/s]", "max_in_flight: 7", "arrivals: poisson",
		},
		"--backend kind=openai_http,target=$URL,request_format=/v1/completions,stream=false --profile kind=synchronous" +
			" --constraint kind=max_requests,count=9": {`url: "${var.url}"`, "api: completions", "stream: false"},
	} {
		made := string(scenarioOf(t, line+args, importer.Options{}, wants).Scenario)
		if !strings.Contains(args, "completions") && strings.Contains(made, "api:") || strings.Contains(made, "# --") {
			t.Errorf("%s:\n%s", args, made)
		}
	}
	const constraint = "--constraint kind="
	const full = line + "--profile kind=synchronous " + constraint + "max_requests,count=9 "
	for args, want := range map[string]string{
		full + constraint + "max_errors,count=3":                   "--max-errors: assert `error_rate`",
		full + constraint + "min_requests,count=3":                 "--constraint kind=min_requests has no equivalent",
		full + "--backend kind=openai_http,target=h,max_tokens=3":  "--backend max_tokens=3 has no equivalent",
		full + "--backend kind=vllm_python,model=m":                "--backend kind=vllm_python has no equivalent",
		full + "--profile kind=sweep,sweep_size=3":                 "--profile sweep: the highest load",
		full + "--profile kind=synchronous,warmup=3":               "--profile warmup=3 has no equivalent",
		full + constraint + "max_requests,count=x":                 `--constraint count: "x" is not a whole number`,
		full + "--data kind=huggingface,source=a/b":                "--data: 2 data sets are not mixed",
		full + "--override profile.warmup 1":                       "--override profile.warmup: weir knows",
		"guidellm run --target h --data kind=huggingface,source=a": "--data huggingface: prompts of other",
	} {
		refused(t, args, want)
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
