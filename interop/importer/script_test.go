package importer_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/test/golden"
)

// A script with calls of all tools becomes a scenario with a run for each, which has a plan, and each of its
// commands has a fate. Loops become sweeps.
func TestScript(t *testing.T) {
	for _, name := range []string{"script", "loops"} {
		src, err := os.ReadFile("testdata/" + name + ".sh")
		if err != nil {
			t.Fatal(err)
		}
		made, err := importer.Script(name+".sh", string(src), importer.Options{Memory: "dram"})
		if err != nil {
			t.Fatal(err)
		}
		planned(t, made.Scenario)
		golden.Equal(t, "testdata/"+name+".yaml", made.Scenario)
		var b strings.Builder
		for _, f := range made.Fates {
			fmt.Fprintf(&b, "line %d: %s: %s\n", f.Line, strings.Join(strings.Fields(f.Command), " "), f.Became)
		}
		golden.Equal(t, "testdata/"+name+".fates.txt", []byte(b.String()))
	}
}

// A variable is expanded only where its value is certain.
func TestVariablesOfScripts(t *testing.T) {
	for script, size := range map[string]string{ // "": not known
		"S=4096": "4KiB", "S=4; S=8": "8B", "S=4; S=$S$S": "44B", "A=16; S=${A}384": "16KiB", "S=`cat f`": "",
		"S=4; if x; then S=8; fi": "", "if x; then S=8; fi": "", "S=4; x && S=8": "", "S=4; (S=8)": "4B",
		"f() { S=8; }": "", "S=4; while x; do S=8; done": "", "S=4; ((S*=2))": "8B", "S=4; read S": "",
		"S=${1:-64}": "64B", "S=$1": "", "export S=32": "32B", "S=4; S=$((S * 8 + 1))": "33B", "S=$((X * 8))": "",
		"A=(4 8); for i in ${A[@]}; do S=$i; done": "8B",
		"S=`cat f`; S=${S:-8}":                     "", "if x; then S=4; fi; S=${S:-8}": "", "S=4; . ./env": "", "shift; S=${1:-8}": "",
		"f() { S=8; }; S=4; f": "8B", "f() { S=8; }; S=4; g": "4B", "S=${X:-8}": "8B", "set -e; S=${1:-8}": "8B",
		"S=4; echo $((S++))": "5B", "S=$((1 / 0))": "", "S=4; unset S": "", "S=(4 8)": "4B",
		"for i in 1 2; do S=$i$i; done": "22B", "for i in $(ls); do S=4; done": "", "S=4; S+=8": "48B",
		"for i in {1..100000}; do S=$i; done": "", "S=$(seq 8 8)": "8B",
	} {
		text := script + "\nucx_perftest -t ucp_put_lat -s $S 10.0.0.1\n"
		made, err := importer.Script("x.sh", text, importer.Options{})
		switch {
		case size == "" && (err == nil || !strings.Contains(err.Error(), `"$S"`)):
			t.Errorf("%s: %v", script, err)
		case size != "" && (err != nil || !strings.Contains(string(made.Scenario), "block_size: "+size+"\n")):
			t.Errorf("%s: no %s: %v\n%s", script, size, err, made.Scenario)
		}
	}
}

// All lines that cannot be read are told; --skip-unmapped leaves them out, and imports the others.
func TestLinesOfAScriptThatCannotBeRead(t *testing.T) {
	const text = "f() {\n  UCX_TLS=$1 ucx_perftest -t ucp_put_lat -s $2 10.0.0.1\n}\n" +
		"ucx_perftest -t ucp_put_lat -s $3 10.0.0.1\nucx_perftest -t ucp_put_bw -s 4096 10.0.0.1\n"
	_, err := importer.Script("x.sh", text, importer.Options{})
	for _, want := range []string{`x.sh:2: variable UCX_TLS: "$1"`, `x.sh:4: -s: "$3"`, "--skip-unmapped"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %q", err, want)
		}
	}
	made, err := importer.Script("x.sh", text, importer.Options{SkipUnmapped: true})
	if err != nil {
		t.Fatal(err)
	}
	planned(t, made.Scenario)
	var became []string
	for _, f := range made.Fates {
		before, _, _ := strings.Cut(f.Became, ":")
		became = append(became, fmt.Sprint(f.Line, " ", before))
	}
	if want := "2 not imported, 4 not imported, 5 run ucx_perftest"; strings.Join(became, ", ") != want {
		t.Errorf("%q, want %q", became, want)
	}
}

// Wrong values and flags are errors that say what the tool has.
func TestScriptRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"make bench":                     "no call of a benchmark that weir reads",
		"aiperf profile --model m --foo": "aiperf has no flag --foo that weir knows",

		"python benchmark_serving.py --model m --random-range-ratio 0.8": "versions of benchmark_serving.py differ",
		"aiperf profile -m m --request-rate 5 --request-rate-mode burst": `"burst" is none of constant, poisson, gamma`,

		"genai-perf profile -m m":                               "--endpoint-type is missing",
		"genai-perf profile -m m --service-kind triton":         "--service-kind triton",
		"vllm bench serve --model m --random-range-ratio 1":     `"1" is not from 0 to below 1`,
		"guidellm benchmark --target http://h --profile replay": "requests with their times are `trace`",
		"aiperf profile --model m --endpoint-type ranking":      `"ranking" is neither chat nor`,
		"vllm bench serve --num-prompts x":                      `--num-prompts: "x" is not a whole number`,
		"aiperf profile --model m --goodput token_rate:600":     "--goodput token_rate:600: slo has",
		"aiperf profile --model m --goodput ttft":               "--goodput ttft: slo has e2el, inter_token_latency",
		"aiperf profile --model m -H X":                         `--header: "X" is no NAME:VALUE`,
		"aiperf profile --model m --extra-inputs x":             `"x" is neither NAME:VALUE nor a JSON object`,
		"vllm bench serve --model m --header a:b":               `--header: "a:b" is no NAME=VALUE`,
		"aiperf profile --request-count 3":                      "--model is missing",
		"curl http://h/v1/completions -d '{'":                   "-d is no JSON of a request",
		"python main.py sequential-ct-perftest":                 "takes one file, and 0 are given",
		"python main.py sequential-ct-perftest a.yaml --fast":   "has no flag --fast",
		"nixlbench --op_type COPY":                              `it supports READ, WRITE`,
		"python3 test_data_plane.py --nvlink-backend=foo":       `"foo" is none of ipc`,

		"aiperf profile --model m --fixed-schedule": "--fixed-schedule replays a file, and --input-file is missing",

		"aiperf profile --model m --input-file prompts.jsonl": "--input-file: a file with a prompt",
	} {
		if _, err := importer.Script("", line, importer.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

// A loop over calls of a tool that weir runs as it is becomes a sweep of their arguments, one axis for those that go
// together; calls of other flags, or with other values for some combinations, stay runs of their own.
func TestLoopsOfToolsThatRunThemselves(t *testing.T) {
	for script, want := range map[string][]string{
		"for s in 64 4096; do ucx_perftest -t tag_lat -s $s h; done": {"ucx_perftest[s=64]", "ucx_perftest[s=4096]"},
		"for s in 64 4096; do for q in 1 2; do ib_write_bw -s $s -q $q h; done; done": {
			"ib_write_bw[qp=1,size=64]", "ib_write_bw[qp=2,size=64]",
			"ib_write_bw[qp=1,size=4096]", "ib_write_bw[qp=2,size=4096]",
		},
		"for b in 8 16; do nixlbench --start_block_size=$b --max_block_size $b; done": {
			"nixlbench[start_block_size=8]", "nixlbench[start_block_size=16]",
		},
		"ucx_perftest -t tag_lat -s 64 h\nucx_perftest -t tag_bw -s 64 h": {"ucx_perftest", "ucx_perftest_2"},
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{AsCommand: true})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		for _, c := range planned(t, made.Scenario).Cases {
			words := fmt.Sprint(c.Options["roles"])
			for axis, v := range c.Axes {
				if !strings.Contains(words, fmt.Sprint(v)) {
					t.Errorf("%s: %s=%v is not in %s", c.Key, axis, v, words)
				}
			}
		}
		wantCases(t, script, made, want)
	}
}

// wantCases checks the keys of the cases of a scenario.
func wantCases(t *testing.T, script string, made *importer.Imported, want []string) {
	t.Helper()
	var keys []string
	for _, c := range planned(t, made.Scenario).Cases {
		keys = append(keys, c.Key)
	}
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		t.Errorf("%s becomes %q, want %q\n%s", script, keys, want, made.Scenario)
	}
}

// FuzzScript searches for scripts on which the import panics, or of which it makes no scenario that can be read.
func FuzzScript(f *testing.F) {
	src, err := os.ReadFile("testdata/script.sh")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	for _, line := range strings.Split(string(src), "\n") {
		f.Add(line)
	}
	for _, lines := range importer.CommandLines() {
		for _, line := range lines {
			f.Add(line)
		}
	}
	f.Add("for c in 1 2; do for i in $(seq 1 $c); do curl http://h/v1/completions -d '{\"model\":\"m\"}' & done; done")
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []importer.Options{{Memory: "dram"}, {AsCommand: true}} {
			made, err := importer.Script("", text, o)
			if err != nil {
				continue
			}
			if _, _, diags := dsl.Load("scenario.yaml", made.Scenario, dsl.Options{}); diags.HasErrors() &&
				strings.Contains(diags.Error(), "Invalid YAML") {
				t.Errorf("%q becomes\n%s\n%v", text, made.Scenario, diags)
			}
		}
	})
}

// A replayed trace of aiperf is a trace of weir: its file has the times, the lengths and the shared blocks.
func TestReplayedTraceOfAiperf(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := `{"timestamp": 500, "input_length": 100, "output_length": 20, "hash_ids": [1]}
{"timestamp": 900, "input_length": 600, "output_length": 40, "hash_ids": [1, 2]}
`
	if err := os.WriteFile("trace.jsonl", []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--input-file trace.jsonl --fixed-schedule":                                                "",
		"--input-file trace.jsonl --custom-dataset-type mooncake_trace --concurrency 8":            "",
		"--input-file trace.jsonl --fixed-schedule --fixed-schedule-auto-offset --request-count 1": "1",
	} {
		made, err := importer.Script("x.sh", "aiperf profile --model m --streaming "+line+"\n", importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		options := planned(t, made.Scenario).Cases[0].Options
		if read, err := base64.StdEncoding.DecodeString(fmt.Sprint(options["trace_rows"])); err != nil ||
			string(read) != rows || fmt.Sprint(options["input"]) != `{"prefix":"as traced"}` ||
			fmt.Sprint(options["concurrency"]) != "0" {
			t.Errorf("%s: %v", line, options)
		}
		if got := fmt.Sprint(options["requests"]); want != "" && got != want {
			t.Errorf("%s: requests %s", line, got)
		}
	}
}
