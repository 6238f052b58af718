package importer_test

import (
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// The fields of requests that a flag has in JSON are in their bodies; what asks for the length of answers is output.
func TestFieldsOfRequests(t *testing.T) {
	const sglang = "sglang.bench_serving --backend sglang-oai-chat --model m --dataset-name random --random-range-ratio 1 "
	const evalscope = "evalscope perf --model m --dataset random --max-prompt-length 9 --max-tokens 1024 "
	for line, wants := range map[string][]string{
		sglang + `--extra-request-body '{"temperature":0.3,"chat_template_kwargs":{"thinking":true}}'`: {
			"body: {chat_template_kwargs: {thinking: true}, temperature: 0.3}",
		},
		sglang + `--disable-ignore-eos --extra-request-body '{"ignore_eos":true}'`: {
			"output: {tokens: 1024, exact: true}",
		},
		evalscope + "--min-tokens 128": {
			"output: {tokens: 1024}\n", "body: {min_tokens: 128}",
		},
		evalscope + `--extra-args '{"ignore_eos":false}'`: {"body: {ignore_eos: false}"},
		`vllm bench serve --model m --extra-body '{"max_tokens":50,"min_tokens":9}'`: {
			"output: {tokens: 50}\n", "body: {min_tokens: 9}",
		},
		"vllm bench serve --model m --min-p 0.1 --presence-penalty -0.5 --frequency-penalty 1 --top-k -1": {
			"body: {frequency_penalty: 1, min_p: 0.1, presence_penalty: -0.5, top_k: -1}",
		},
		"aiperf profile -m m --extra-inputs temperature:0.5,user:me --extra-inputs '{\"seed\":3}'": {
			"body: {seed: 3, temperature: 0.5, user: me}",
		},
	} {
		scenarioOf(t, line, importer.Options{}, wants)
	}
	for line, want := range map[string]string{
		sglang + "--extra-request-body x:3":                `--extra-request-body: "x:3" is no JSON object`,
		"vllm bench serve --model m --extra-body x:3":      `--extra-body: "x:3" is no JSON object`,
		evalscope + "--extra-args [1]":                     `--extra-args: "[1]" is no JSON object`,
		evalscope + "--open-loop":                          "--open-loop needs --rate",
		"vllm bench serve --model m --temperature hot":     `--temperature: "hot" is no number`,
		"aiperf profile -m m --extra-inputs '{\"seed\":3'": "is neither NAME:VALUE nor a JSON object",
	} {
		refused(t, line, want)
	}
}

// refused checks that a line is refused, and why.
func refused(t *testing.T, line, want string) {
	t.Helper()
	if made, err := importer.Script("x.sh", line+"\n", importer.Options{}); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %s\n%s", line, err, want, made.Scenario)
	}
}

// The path before /v1 is a part of the address, wherever it is written; one without /v1 cannot be loaded.
func TestPathsOfEndpoints(t *testing.T) {
	const vllm, aiperf = "vllm bench serve --model m --base-url ", "aiperf profile -m m --url "
	const genai = "genai-perf profile --endpoint-type chat -m m "
	const curl = " -d '{\"model\":\"m\"}'"
	for line, want := range map[string]string{
		vllm + "https://h --endpoint /api/v1/chat/completions":     "url: https://h/api\n",
		vllm + "https://h/api/ --endpoint v1/chat/completions":     "url: https://h/api\n",
		vllm + "https://h/api/v1 --endpoint /chat/completions":     "url: https://h/api\n",
		vllm + "http://h/v1 --endpoint /v1/completions":            "url: http://h\n",
		vllm + "$URL --endpoint /api/v1/completions":               `url: "${var.url}/api"`,
		aiperf + "http://h --endpoint /tenant/v1/chat/completions": "url: http://h/tenant\n",
		aiperf + "http://h/a/v1 --custom-endpoint v1/completions":  "url: http://h/a\n",
		genai + "-u http://h --endpoint x/v1/chat/completions":     "url: http://h/x\n",
		aiperf + "https://h/openai/v1":                             "url: https://h/openai\n",
		"curl $URL/chat/completions" + curl:                        `url: "${var.url}"`,
		"curl http://h/v1/x/v1/completions/" + curl:                "url: http://h/v1/x\n",
	} {
		scenarioOf(t, line, importer.Options{}, []string{want})
	}
	for line, want := range map[string]string{
		aiperf + "http://h --endpoint /my/chat":                         `"/my/chat" is neither chat nor completions`,
		aiperf + "h --endpoint /v1/completions --endpoint-type ranking": `"ranking" is neither chat nor`,
		"curl https://h/v1beta/openai/chat/completions" + curl:          "requests go to /v1beta/openai/chat/compl",
		vllm + "https://h --endpoint /chat/completions":                 "requests go to /chat/completions, and",
		"aiperf profile --model m --url http://a --url http://b":        "--url http://a http://b: a run loads one",
		"aiperf profile --model m1,m2":                                  "--model m1 m2: a run loads one",
		genai + "-m m2":                                                 "-m m m2: a run loads one",
	} {
		refused(t, line, want)
	}
}

// A load sends what the tool does: without a flag for it no warm-up.
func TestWarmupOfTools(t *testing.T) {
	const guidellm = "guidellm run --target http://h --model m --profile constant --rate 1 --max-requests 9" +
		" --data prompt_tokens=8"
	for line, want := range map[string]string{
		"vllm bench serve --model m":                                               "warmup: {waves: 0}",
		"vllm bench serve --model m --num-warmups 0":                               "warmup: {waves: 0}",
		"vllm bench serve --model m --num-warmups 3":                               "warmup: {requests: 3}",
		"sglang.bench_serving --model m --dataset-name random":                     "warmup: {requests: 1}",
		"sglang.bench_serving --model m --dataset-name random --warmup-requests 0": "warmup: {waves: 0}",
		"aiperf profile -m m":                                                      "warmup: {waves: 0}",
		"genai-perf profile -m m --endpoint-type chat":                             "warmup: {waves: 0}",
		guidellm: "warmup: {waves: 0}",
	} {
		scenarioOf(t, line, importer.Options{}, []string{want})
	}
}

// Lists of aiperf are sweeps, a session of one turn is a request, and perf_analyzer's number of requests counts.
func TestAmountsOfAiperf(t *testing.T) {
	for line, want := range map[string][]string{
		"aiperf profile -m m --request-rate 2,4 --request-count 10": {"aiperf[rate=2/s]", "aiperf[rate=4/s]"},
		"aiperf profile -m m --isl 128,256 --osl 5,6": {
			"aiperf[input_tokens=128,output_tokens=5]", "aiperf[input_tokens=128,output_tokens=6]",
			"aiperf[input_tokens=256,output_tokens=5]", "aiperf[input_tokens=256,output_tokens=6]",
		},
		"aiperf profile -m m --isl 128 --isl-stddev 0,5": {
			`aiperf[input_tokens="normal:128,5"]`, "aiperf[input_tokens=128]",
		},
		"aiperf profile -m m --request-count 10,20": {"aiperf[requests=10]", "aiperf[requests=20]"},
	} {
		made, err := importer.Script("x.sh", line+"\n", importer.Options{})
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		wantCases(t, line, made, want)
	}
	for line, wants := range map[string][]string{
		"aiperf profile -m m --num-sessions 100 --concurrency 4": {
			"requests: 100", "concurrency: 4", "# answers: the command line sets no length",
		},
		"aiperf profile -m m --use-server-token-count --export-level raw --gpu-telemetry http://a http://b" +
			" --prompt-output-tokens-mean 20 --request-count 9": {"output: {tokens: 20}"},
		"genai-perf profile -m m --endpoint-type chat -- --request-count=500": {"requests: 500"},
		"genai-perf profile -m m --endpoint-type chat -- -v --request-count 500 --warmup-request-count 2": {
			"requests: 500", "warmup: {requests: 2}", "# arguments of perf_analyzer are not taken over: -v\n",
		},
	} {
		made := scenarioOf(t, line, importer.Options{}, wants)
		if strings.Contains(string(made.Scenario), "--request-count is missing") {
			t.Errorf("%s", made.Scenario)
		}
	}
	refused(t, "aiperf profile -m m --num-sessions 9 --session-turns-mean 3", "conversations of several turns")
	refused(t, "aiperf profile -m m --shared-system-prompt-length 9", "a prefix is `input: {prefix: …}`")
	refused(t, "aiperf profile -m m --isl 1,x", `"x" is not a whole number`)
	refused(t, "aiperf profile -m m --request-rate 1,0", `--request-rate: "0" is not a number above 0`)
}

// Data sets of vllm bench serve that are a file of prompts are option prompts.
func TestPromptsOfVLLM(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("p.json", []byte(`[{"prompt":"a"},{"prompt":"b"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	const line = "vllm bench serve --model m --num-prompts 9 --dataset-path p.json --dataset-name "
	for args, wants := range map[string][]string{
		"sharegpt --sharegpt-output-len 64":        {"prompts: p.json", "output: {tokens: 64}\n"},
		"custom --ignore-eos --input-len 5":        {"prompts: p.json", "output: {tokens: 256, exact: true}"},
		"custom --custom-output-len 7 --min-p 0.1": {"output: {tokens: 7}\n", "body: {min_p: 0.1}"},
	} {
		made := scenarioOf(t, line+args, importer.Options{}, wants)
		if strings.Contains(string(made.Scenario), "input:") {
			t.Errorf("%s", made.Scenario)
		}
	}
	refused(t, line+"sharegpt", "--dataset-name sharegpt: answers have the lengths of the file; --sharegpt-output-len")
	refused(t, line+"sonnet", "--dataset-name sonnet: prompts of other data sets are a file")
	refused(t, "vllm bench serve --model m --dataset-name sharegpt", "--dataset-name sharegpt: prompts of other")
}
