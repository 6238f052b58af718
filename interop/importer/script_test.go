package importer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/test/golden"
)

// A script with calls of all tools becomes a scenario with a run for each, which has a plan, and each of its
// commands has a fate.
func TestScript(t *testing.T) {
	src, err := os.ReadFile("testdata/script.sh")
	if err != nil {
		t.Fatal(err)
	}
	made, err := importer.Script("script.sh", string(src), importer.Options{Memory: "dram"})
	if err != nil {
		t.Fatal(err)
	}
	planned(t, made.Scenario)
	golden.Equal(t, "testdata/script.yaml", made.Scenario)
	var b strings.Builder
	for _, f := range made.Fates {
		fmt.Fprintf(&b, "line %d: %s: %s\n", f.Line, strings.Join(strings.Fields(f.Command), " "), f.Became)
	}
	golden.Equal(t, "testdata/script.fates.txt", []byte(b.String()))
}

// Wrong values and flags are errors that say what the tool has.
func TestScriptRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"make bench":                     "no call of a benchmark that weir reads",
		"aiperf profile --model m --foo": "aiperf has no flag --foo",
		"aiperf profile --model m --endpoint-type ranking":    `"ranking" is neither chat nor`,
		"vllm bench serve --num-prompts x":                    `--num-prompts: "x" is not a whole number`,
		"vllm bench serve --num-prompts 3":                    "--model is missing",
		"curl http://h/v1/completions -d '{'":                 "-d is no JSON of a request",
		"python main.py sequential-ct-perftest":               "takes one file, and 0 are given",
		"python main.py sequential-ct-perftest a.yaml --fast": "has no flag --fast",
		"nixlbench --op_type COPY":                            `it supports READ, WRITE`,
		"python3 test_data_plane.py --nvlink-backend=foo":     `"foo" is none of ipc`,
	} {
		if _, err := importer.Script("", line, importer.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}
