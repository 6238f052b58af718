package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign are texts of Go, cobra, gRPC and encoding/json that mean nothing to a user.
var foreign = regexp.MustCompile(`strconv\.|arg\(s\)|unknown shorthand|Go value of type|Go struct field|jsontext:|json: (?:cannot|unknown|invalid)|` +
	`invalid character|looking for beginning|executable file not found|rpc error|\bEOF\b|Unexpected token|` +
	`goroutine |panic:|interface conversion|%!|document; this weir|open \S+: no such|connection error|transport: |dial tcp|parsing time|unmarshal|\.tmp\b|stat \S+: no such|no such file or directory`)

// inPlace is what is said in place of the words of a library.
var inPlace = map[string]string{
	"gate kind.json": "/cases is a text, not a list", "gate of-case.json": "/cases/0/launches is a number, not a list",
	"gate time.json": `/session/started is "yesterday", not a time like 2026-01-31T12:00:00Z`,
	"run plan.json":  "runs is a number, not a list", "run --resume damaged": "line 1 is cut short or damaged",
	"validate nofile.yaml":  "There is no file nope.txt.",
	"validate include.yaml": "There is no file nope.yaml.", "validate refs.yaml": "There is no file nope.yaml.",
	"validate trace.yaml":                      "There is no file nope.jsonl.",
	"cluster status --etcd http://127.0.0.1:1": "no answer within 5s: nothing listens at 127.0.0.1:1",
	"cluster status --etcd foo":                "it names no port",
}

// No command line and no file that a person may get wrong is answered in the words of a library.
func TestNoWordsOfLibraries(t *testing.T) {
	bad, err := filepath.Abs("../../dsl/testdata/bad")
	if err != nil {
		t.Fatal(err)
	}
	good, err := filepath.Abs("../../examples/simulated.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"empty.json": "{}", "list.json": "[]", "nothing.json": "", "text.json": "scenario: x",
		"broken.json": `{"schema": `,
		"kind.json":   `{"schema": "weir.results/v1", "cases": "x"}`, "of-case.json": `{"cases": [{"launches": 7}]}`,
		"time.json": `{"session": {"started": "yesterday"}}`, "plan.json": `{"schema": "weir.plan/v1", "runs": 3}`,
		"nofile.yaml":  "scenario: x\nruns:\n  a: {workload: traffic, options: {fabric: sim, matrix_file: nope.txt}}\n",
		"include.yaml": "scenario: x\ninclude: nope.yaml\nruns:\n  a: {workload: transfer}\n",
		"refs.yaml":    "scenario: x\nreferences: nope.yaml\nruns:\n  a: {workload: transfer}\n",
		"trace.yaml":   "scenario: x\nruns:\n  a: {workload: serving, options: {url: 'http://h:1', model: m, trace: nope.jsonl}}\n",
		"yaml.hcl":     "scenario: x\nruns:\n  a: {workload: transfer}\n", "utf16.yaml": "\xff\xfes\x00c\x00",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("damaged", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("damaged/journal.ndjson", []byte("{\"a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if code := execute([]string{"plan", good, "--save", "damaged/plan.json"}, &saved, &saved); code != 0 {
		t.Fatal(saved.String())
	}
	lines := []string{
		"gate kind.json", "gate of-case.json", "gate time.json", "run plan.json", "run --resume damaged",
		"validate nofile.yaml", "validate include.yaml", "validate refs.yaml", "validate trace.yaml",
		"run GOOD --report html=/proc/x", "cluster status --etcd http://127.0.0.1:1", "cluster status --etcd foo",
		"cluster status --etcd http://foo", "cluster status --etcd foo:bar",
		"run", "run GOOD --launches x", "run GOOD --launches 99999999999999999999", "run GOOD -o x",
		"run GOOD --var", "run GOOD --var x", "run GOOD --report pdf", "run GOOD --out /proc/x",
		"run GOOD --timeout 3", "run list.json", "run empty.json", "run nothing.json", "run text.json",
		"run broken.json", "run nope.yaml", "run --resume nope", "run GOOD --baseline nope.json",
		"run GOOD --previous nope.json", "run yaml.hcl", "run utf16.yaml", "plan", "plan -o", "plan list.json",
		"plan broken.json", "plan GOOD --diff nope.json", "validate nope.yaml", "validate", "validate yaml.hcl",
		"gate", "gate GOOD", "gate empty.json", "gate nothing.json", "gate list.json", "gate nope", "compare",
		"compare a b c", "compare GOOD GOOD", "compare nope nope2", "report", "report empty.json --report html",
		"report nope --report html", "calibrate", "calibrate nope.json", "history add", "history add nope.json",
		"ci github", "ci gitlab nope.yaml", "convert", "convert GOOD --to toml", "convert nope.yaml --to hcl",
		"fmt nope.yaml", "import ct-perftest nope.yaml", "matgen --model nope", "schema nope", "docs nope",
		"docs metrics nope", "catalog show nope", "probe x", "frobnicate", "init nope",
	}
	for _, line := range lines {
		args := strings.Fields(strings.ReplaceAll(line, "GOOD", good))
		var out, stderr bytes.Buffer
		code := execute(args, &out, &stderr)
		if code == 0 && line != "validate" {
			t.Errorf("weir %s exits with 0", line)
		}
		if m := foreign.FindString(stderr.String()); m != "" {
			t.Errorf("weir %s says %q:\n%s", line, m, stderr.String())
		}
		if says := inPlace[line]; !strings.Contains(stderr.String(), says) {
			t.Errorf("weir %s does not say %q:\n%s", line, says, stderr.String())
		}
		if strings.HasPrefix(line, "cluster status --etcd ") && !strings.HasSuffix(line, ":1") && code != 4 {
			t.Errorf("weir %s ends with %d: the form of an endpoint is wrong usage", line, code)
		}
		if line == "run" && !strings.Contains(stderr.String(), "weir run takes FILE") {
			t.Errorf("weir run does not say what it takes: %s", stderr.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(bad, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no bad scenarios", err)
	}
	more, _ := filepath.Glob(filepath.Join(bad, "*.hcl"))
	for _, file := range append(files, more...) {
		var out, stderr bytes.Buffer
		execute([]string{"validate", file}, &out, &stderr)
		text := strings.ReplaceAll(out.String()+stderr.String(), bad, "")
		if m := foreign.FindString(text); m != "" {
			t.Errorf("%s: %q in\n%s", filepath.Base(file), m, text)
		}
	}
}
