package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// A wrong value of a flag is an error that names the flag as given, and the values of the tool.
func TestWrongValues(t *testing.T) {
	const guidellm = "guidellm benchmark --target http://h --model m --data prompt_tokens=8 --max-requests 9 "
	const evalscope = "evalscope perf --model m --dataset random --max-prompt-length 8 "
	for _, c := range []struct{ line, want string }{
		{
			"ucx_perftest h -t tag_bandwith -s 8",
			`-t: ucx_perftest has no test "tag_bandwith"; it has add_lat, `,
		},
		{"ucx_perftest h -t tag_bw -m gpu -s 8", `-m: ucx_perftest has no memory "gpu"; it has host, cuda, `},
		{"nixlbench --backend UCXX", `--backend: nixlbench has no backend "UCXX"; it has UCX, LIBFABRIC, `},
		{
			guidellm + "--rate-type constnt",
			`--rate-type: guidellm has no profile "constnt"; it has synchronous, `,
		},
		{guidellm + "--profile constant --rate x", `--rate: "x" is not a number above 0`},
		{
			"aiperf profile -m m --request-rate 9 --arrival-pattern bursty",
			`--arrival-pattern: "bursty" is none of constant`,
		},
		{"aiperf profile -m m --benchmark-duration 30s", `--benchmark-duration: "30s" is not a number above 0`},
		{"vllm bench serve --model m --request-rate fast", `--request-rate: "fast" is not a number from 0`},
		{"vllm bench serve --model m --burstiness=nan", `--burstiness: "nan" is not a number from 0`},
		{"vllm bench serve --model m --request-rate -1", `--request-rate: "-1" is not a number from 0`},
		{"genai-perf profile -m m --endpoint-type chats", `"chats" is neither chat nor completions`},
		{evalscope + "--parallel 1 x", `--parallel and --number: "x" is not a whole number`},
		{evalscope + "--rate 0", `--rate: "0" is not a number above 0, or -1`},
		{"ib_write_bw —size 8 h", `"—size" begins with a dash of typeset texts`},
		{"aiperf profile –m m", `"–m" begins with a dash of typeset texts`},
		{"vllm bench serve -–model m", `"-–model" begins with a dash of typeset texts`},
	} {
		_, err := importer.Script("", c.line, importer.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
	scenarioOf(t, "vllm bench serve --model m --request-rate inf --num-prompts 9", importer.Options{}, []string{
		"concurrency: 9",
	})
	for _, seed := range []string{"$(date +%s)", "$RANDOM", "${EPOCHSECONDS}", "`date +%s`"} {
		scenarioOf(t, "vllm bench serve --model m --num-prompts 9 --seed "+seed, importer.Options{}, []string{
			"# --seed " + seed + ": left out, since it is another one each time",
		})
	}
	scenarioOf(t, guidellm+"--profile synchronous --request-type text_completions", importer.Options{}, []string{
		"api: completions",
	})
}
