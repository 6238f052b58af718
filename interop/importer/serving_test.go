package importer_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		"for w in 1 2; do genai-perf profile -m m --endpoint-type chat --warmup-request-count $w --request-count 9; done": {
			"genai-perf[warmup_requests=1]", "genai-perf[warmup_requests=2]",
		},
		"for b in 1 8; do nixlbench --start_batch_size $b --max_batch_size $b --start_block_size 8 --max_block_size 8; done": {
			"nixlbench[batch=1]", "nixlbench[batch=8]",
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

// What a script's shell alone knows becomes a variable, or a secret of a header; what the client does itself is named.
func TestLinesOfLoadGenerators(t *testing.T) {
	const chat = `'{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}'`
	for line, wants := range map[string][]string{
		"aiperf profile -m $MODEL --url $URL --streaming": {
			"model: {type: string}", `url: "${var.url}"`, `model: "${var.model}"`, "# variable url: its value is not",
		},
		"vllm bench serve --host $HOST --port ${PORT} --num_prompts 9 --random-range-ratio 0": {
			`url: "http://${var.host}:${var.port}"`, "requests: 9", `model: "${var.model}"`,
		},
		`aiperf profile -m m -H 'Accept: text/event-stream' -H "Content-Type: a/b" -H 'accept-encoding: gzip' -H X:1`: {
			"# header Accept: the client sets it itself", "# header Content-Type: the", "# header accept-encoding: the",
			`headers: {X: 1}`,
		},
		`genai-perf profile -m m --endpoint-type chat --header "Authorization: Bearer $TOKEN"`: {
			`headers: {Authorization: "Bearer ${client.env.TOKEN}"}`, `TOKEN: '${secret("TOKEN")}'`,
			"an agent needs --allow-env TOKEN",
		},
		"aiperf profile -m m --api-key $KEY": {`{Authorization: "Bearer ${client.env.KEY}"}`},
		"aiperf profile -m m --concurrency 4 --num-prompts 99 --request-count 30": {
			"requests: 30", "# --num-prompts: it is the number of unique prompts",
		},
		"aiperf profile -m m --concurrency 8 --num-dataset-entries 99": {
			"requests: 10", "# --request-count is missing",
		},
		"aiperf profile -m m --concurrency 1,2,16": {
			"concurrency: [1, 2, 16]", "requests: 10",
		},
		"aiperf profile -m m --artifact-dir a --ui simple --profile-export-file f --verbose": {
			"# --artifact-dir, --ui, --profile-export-file: it does not change the load",
		},
		"python -m sglang.bench_serving --dataset-name random --random-input 512 --random-range-ratio 0.5": {
			"url: http://127.0.0.1:30000", `model: "${var.model}"`, "api: completions", "requests: 1000",
			`input: {tokens: "uniform:256,512"}`, `output: {tokens: "uniform:512,1024", exact: true}`,
			"warmup: {requests: 1}", "# --backend sglang: weir sends requests to /v1/completions",
		},
		"python -m sglang.bench_serving --backend vllm-chat --dataset-name random --random-range-ratio 1.0" +
			" --disable-ignore-eos --disable-stream": {
			"input: {tokens: 1024}", "output: {tokens: 1024}", "stream: false",
		},
		"vllm bench serve --model m --random-input-len 1001 --random-output-len 3 --random-range-ratio 0.5": {
			"input: {tokens: \"uniform:500,1502\"}", "output: {tokens: \"uniform:1,5\"}",
		},
		`vllm bench serve --model m --random-range-ratio '{"input": 0.25, "output": 0}'`: {
			"input: {tokens: \"uniform:768,1280\"}", "output: {tokens: 128}",
		},
		"sglang.bench_serving --backend vllm --model m --dataset-name random": {
			"url: http://127.0.0.1:8000",
		},
		"aiperf profile -m m --request-rate 5 --arrival-pattern gamma --vllm-burstiness 0.5": {"arrivals: gamma:0.5"},
		"genai-perf profile -m m --endpoint-type chat --request-rate 5 --request-count 9":    {"arrivals: constant"},
		"aiperf profile -m m --request-count 9 --benchmark-duration 5": {
			"requests: 9", "# --benchmark-duration: the load ends after --request-count alone",
		},
		"guidellm run --target http://h --rate-type synchronous --data prompt_tokens=5 --max-requests 3": {
			"concurrency: 1", `model: "${var.model}"`,
		},
		"for i in $(seq 20); do curl -sk http://h/v1/chat/completions -d " + chat + " & done; wait": {
			"concurrency: 20", "requests: 20", "# -k: not taken over", "# -d: a prompt is one message of the user",
			"input: {text: hi, prefix: none}",
		},
		"for i in $(seq 30); do echo $i; curl -XPOST --max-time 3 --retry 2 -u a:b -o f http://h/v1/chat/completions -d" +
			chat + "; done": {
			"concurrency: 1", "requests: 30", ": --max-time, --retry, -u: not taken over",
		},
		`curl "$URL/v1/completions" -d "{\"model\":\"$MODEL\",\"prompt\":\"for \$5\"}"` +
			` -H "Authorization: Bearer $TOKEN"`: {
			`url: "${var.url}"`, `model: "${var.model}"`, "text: for $5",
			`{Authorization: "Bearer ${client.env.TOKEN}"}`,
		},
		"curl http://h/health; curl -X POST http://h/reset -d 1; curl http://h/v1/chat/completions -d @body.json": {
			"model: filed", "runs:\n  curl:",
		},
		`ssh h "ib_write_bw -s 4096 $SERVER"`:                    {"api: rma", "block_size: 4KiB"},
		"nixlbench --etcd_endpoints $ETCD --max_block_size 4096": {"nixl_backend: UCX"},
	} {
		scenarioOf(t, line, importer.Options{
			Memory: "dram", Read: func(string) ([]byte, error) {
				return []byte(`{"model":"filed","messages":[{"role":"user","content":"x"}]}`), nil
			},
		}, wants)
	}
}

// Each line that cannot be imported is told with its place, whatever its reason; the scenario has the others.
func TestAllLinesThatCannotBeImported(t *testing.T) {
	const text = "python main.py sequential-ct-perftest nofile.yaml\nib_write_bw &\npython main.py ct-perftest none.yaml\n" +
		"python3 elastic/elastic.py --plan noplan.json\naiperf profile -m m --endpoint-type ranking\n" +
		"ucx_perftest -t ucp_put_lat -s 8 10.0.0.1\ncurl http://h/v1/completions -d @nobody.json\n"
	o := importer.Options{Memory: "dram", Read: os.ReadFile}
	made, err := importer.Script("x.sh", text, o)
	for _, want := range []string{
		"x.sh:1: sequential-ct-perftest: open nofile.yaml", "x.sh:2: this is the command line of the server",
		"x.sh:3: ct-perftest none.yaml: ", "x.sh:4: ", "x.sh:5: ", "x.sh:7: curl: -d @nobody.json", "--skip-unmapped",
		"\nlines 1, 2, 3, 4, 5, 7 are not imported: the scenario has only the others",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %q", err, want)
		}
	}
	if p := planned(t, made.Scenario); len(p.Cases) != 1 || p.Cases[0].Run != "ucx_perftest" ||
		!strings.Contains(string(made.Scenario), "# lines 1, 2, 3, 4, 5, 7 are not imported\n") {
		t.Errorf("%s", made.Scenario)
	}
	for _, f := range made.Fates {
		if f.Line != 6 && f.Became != "not imported" {
			t.Errorf("line %d: %s", f.Line, f.Became)
		}
	}
	o.SkipUnmapped = true
	if made, err = importer.Script("x.sh", text, o); err != nil {
		t.Fatal(err)
	}
	if p := planned(t, made.Scenario); len(p.Cases) != 1 || p.Cases[0].Run != "ucx_perftest" {
		t.Errorf("%s", made.Scenario)
	}
	for _, f := range made.Fates {
		if f.Line != 6 && !strings.HasPrefix(f.Became, "not imported: ") {
			t.Errorf("line %d: %s", f.Line, f.Became)
		}
	}
}

// The file of ct-perftest and of a sequence becomes the same run as weir import ct-perftest makes of it.
func TestFilesOfMatrices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.txt": "0 1M\n0 0\n",
		"c.yaml": "iters: 7\nwarmup_iters: 3\n" +
			"traffic_pattern: {matrix_file: m.txt, mem_type: dram, xfer_op: READ, shards: 4}\n",
		"s.yaml": "traffic_patterns:\n- {matrix_file: m.txt, mem_type: dram, sleep_before_launch_sec: 0.5}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, wants := range map[string][]string{
		"python main.py ct-perftest c.yaml": {
			"op: read", "memory: dram", "shards: 4", "iterations: 7", "warmup: 3",
			"# ct-perftest has no shards: ", "# ct-perftest writes here: ",
		},
		"python main.py sequential-ct-perftest s.yaml --verify-buffers": {
			"verify: full", "isolated_warmup: 30", "warmup: 0", "slowdown.p50 <= 50", "sleep_before_launch: 0.5s",
		},
	} {
		t.Chdir(dir)
		made := scenarioOf(t, line, importer.Options{Read: os.ReadFile}, wants)
		if !slices.ContainsFunc(made.Notes, func(n importer.Note) bool { return n.Warning }) &&
			strings.Contains(line, " ct-perftest") {
			t.Errorf("%s: no warning", line)
		}
	}
}

// --as-command runs a load generator itself, and reads the file that it writes; what has no output is told.
func TestLoadGeneratorsAsCommands(t *testing.T) {
	for line, wants := range map[string][]string{
		"timeout 60 aiperf profile -m m --url $URL --artifact-dir d --ui simple": {
			"workload: command", "- timeout", "- simple", `- "${launch.scratch}"`,
			"format: aiperf", `file: "${launch.scratch}/profile_export_aiperf.json"`, "${var.url}",
			"# --artifact-dir: left out",
		},
		"genai-perf profile -m m":                 {`file: "${launch.scratch}/profile_export_genai_perf.json"`},
		"vllm bench serve --save_result --seed 3": {"format: vllm-bench", "- --seed", "- --save-result", "result.json"},
		"python -m sglang.bench_serving":          {"- sglang.bench_serving", `"${launch.scratch}/result.jsonl"`},
		"guidellm run --target http://h --profile concurrent --rate 1,8 --rate 16": {
			"format: guidellm", "- --output-path", "rows: concurrency", "concurrency: [1, 8, 16]",
		},
		"guidellm run --backend kind=openai_http,target=$URL --profile kind=poisson,rate=2 --output kind=csv": {
			`"kind=openai_http,target=${var.url}"`, `"kind=json,path=${launch.scratch}/benchmarks.json"`,
			"# --output: left out",
		},
		"guidellm run --profile kind=poisson --override profile.rate 1,2": {"rows: rate", "rate: [1, 2]"},
		"curl http://h/v1/completions -d '{}'": {
			"workload: serving", "# --as-command: weir does not run curl itself",
		},
	} {
		scenarioOf(t, line, importer.Options{AsCommand: true}, wants)
	}
	for line, want := range map[string]string{
		"guidellm benchmark --target http://h":             "--profile sweep: its results have loads that guidellm chooses",
		"guidellm run --profile kind=knee":                 "--profile knee: its results have loads that",
		"aiperf profile -m m --concurrency 1,2":            "--concurrency 1,2: aiperf writes a file for each",
		"aiperf profile -m m --isl 1,2 --request-count 10": "--isl 1,2: aiperf writes a file for each",
	} {
		_, err := importer.Script("x.sh", line+"\n", importer.Options{AsCommand: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
