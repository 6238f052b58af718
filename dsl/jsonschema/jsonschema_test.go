package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/dsl/jsonschema"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/workload"
)

func scenarioSchema(t *testing.T) []byte {
	t.Helper()
	b, err := jsonschema.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compiled(t *testing.T) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(scenarioSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(jsonschema.ID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(jsonschema.ID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value converts YAML as an editor does.
func value(n *yamlsyntax.Node) any {
	switch n.Kind {
	case yamlsyntax.Sequence:
		items := []any{}
		for _, i := range n.Items {
			items = append(items, value(i))
		}
		return items
	case yamlsyntax.Mapping:
		m := map[string]any{}
		for _, p := range n.Pairs {
			m[p.Key] = value(p.Value)
		}
		return m
	}
	switch {
	case n.Null:
		return nil
	case !n.Plain:
		return n.Text
	case n.Text == "true" || n.Text == "false":
		return n.Text == "true"
	}
	if _, err := strconv.ParseFloat(n.Text, 64); err == nil && strings.Trim(n.Text, "0123456789.+-eE") == "" {
		return json.Number(strings.TrimLeft(n.Text[:len(n.Text)-1], "+0") + n.Text[len(n.Text)-1:])
	}
	return n.Text
}

func parse(t *testing.T, name string, src []byte) any {
	t.Helper()
	root, diags := yamlsyntax.ParseTree(src, name)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return value(root)
}

func TestGoodScenariosAreValid(t *testing.T) {
	s := compiled(t)
	n := 0
	for _, pattern := range []string{
		"../../examples/*.yaml", "../../scenarios/*.yaml", "../testdata/good/*.yaml", "testdata/*.yaml",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(parse(t, file, src)); err != nil {
				t.Errorf("%s: %#v", file, err)
			}
			n++
		}
	}
	if n < 8 {
		t.Errorf("only %d files", n)
	}
}

func TestBrokenScenariosAreNot(t *testing.T) {
	s := compiled(t)
	const head = "scenario: x\n"
	const run = "runs:\n  a: {workload: transfer, options: {block_size: 4KiB}"
	if err := s.Validate(parse(t, "x", []byte(head+run+"}"))); err != nil {
		t.Fatalf("the base of all is not valid: %v", err)
	}
	for _, src := range []string{
		"scenario: x\n",
		head + "runs: []\nrnus: 1",
		head + "runs: text",
		head + "runs: {a: {}}",
		head + "runs: {a: {workload: transfr}}",
		head + "runs: [{workload: transfer}]",
		head + run + ", opttions: {}}",
		head + "runs: {a: {workload: transfer, options: {blocksize: 4KiB}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4 KiX}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, op: push}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, ranks: 1}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, threads: 1.5}}}",
		head + "runs: {a: {workload: transfer, options: [a]}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, sim_latency: 3}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, sim_latency: 3GB}}}",
		head + "runs: {a: {workload: transfer, options: {block_size: 4KiB, sim_bandwidth: 10 GB}}}",
		head + "runs: {a: {workload: traffic, options: {matrix: 5}}}",
		head + "runs: {a: {workload: traffic, options: {matrix: {a: 1}}}}",
		head + "runs: {a: {workload: traffic, options: {matrix: [[0, [1]], [1, 0]]}}}",
		head + "runs: {a: {workload: traffic, options: {matrix: [0, 1]}}}",
		head + "runs: {a: {workload: traffic, options: {generate: rong 4KiB, ranks: 2}}}",
		head + "runs: {a: {workload: traffic, options: {generate: ring 4KiB, ranks: 1}}}",
		head + "runs: {a: {workload: traffic, options: {matrix_file: [a]}}}",
		head + "runs: {a: {workload: traffic, options: {block_size: 4KiB, matrix_file: a}}}",
		head + "runs: {a: {workload: traffic, options: {generate: [ring 4KiB]}}}",
		head + "runs: {a: {workload: traffic, options: {generate: {model: llama-8b, prefil_nodes: 1}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: ring 4KiB}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: {model: llama-8b, decode_nodes: 1}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: {prefill_nodes: 1, decode_nodes: 1}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: {model: llama-8b, config: f, prefill_nodes: 1, decode_nodes: 1}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: {model: llama-8b, prefill_nodes: some, decode_nodes: 1}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, no_windows: yes}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: {matrix_file: m}}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: []}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [m]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{op: read}]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{matrix_file: m, matrix: [[0, 1], [1, 0]]}]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{matrix_file: m, shard: 1}]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{matrix_file: m, memory: vram}]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{matrix_file: m, sleep_before_launch: 1}]}}}",
		head + "runs: {a: {workload: traffic_sequence, options: {patterns: [{matrix_file: m, metadata: a}]}}}",
		head + run + ", sweep: {batch: 4}}",
		head + run + ", sweep: {batch: []}}",
		head + run + ", sweep: {batch: [null]}}",
		head + run + ", sweep: {my-axis: [1]}}",
		head + run + ", sweep: {host: [1]}}",
		head + run + ", sweep: {order: backwards}}",
		head + run + ", sweep: {exclude: [{reason: because}]}}",
		head + run + ", sweep: {max_cases: many}}",
		head + run + ", env: {a-b: x}}",
		head + run + ", needs: {on: always}}",
		head + run + ", needs: [{run: b, on: never}]}",
		head + run + ", timeout: 5}",
		head + run + ", timeout: {launches: 5m}}",
		head + run + ", launches: some}",
		head + run + ", retry: {on: [crash]}}",
		head + run + ", retry: {times: 1, on: [target]}}",
		head + run + ", assert: bandwidth >= 1 GB/s}",
		head + run + ", assert: [{name: no assertion}]}",
		head + run + ", assert: [{that: bandwidth >= 1, severity: high}]}",
		head + run + ", assert: [{that: bandwidth >= 1, xfail: {reason: known, until: soon}}]}",
		head + run + ", may_fail: {reason: known}}",
		head + run + ", setup: [{name: no command}]}",
		head + "cluster: {nodes: -1}\n" + run + "}",
		head + "cluster: {gpus: 1}\n" + run + "}",
		head + "variables: {a: {type: int}}\n" + run + "}",
		head + "variables: {a: {default: {b: c}}}\n" + run + "}",
		head + "checks: [{command: [a]}]\n" + run + "}",
		head + "checks: {a: {command: fi_info}}\n" + run + "}",
		head + "defaults: {options: {transfr: {}}}\n" + run + "}",
		head + "include: [{as: a}]\n" + run + "}",
	} {
		if s.Validate(parse(t, "x", []byte(src))) == nil {
			t.Errorf("valid:\n%s", src)
		}
	}
}

// Every key of the language, every option of every workload and their documentation are in the
// schema.
func TestEveryKeyOccurs(t *testing.T) {
	text := string(scenarioSchema(t))
	var walk func(keys []grammar.Key)
	var forms func(all []grammar.Form)
	has := func(name, doc string) {
		quoted, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, strconv.Quote(name)+":") ||
			!strings.Contains(text, strings.Trim(string(quoted), `"`)) {
			t.Errorf("%s (%s) is not in the schema", name, doc)
		}
	}
	walk = func(keys []grammar.Key) {
		for _, k := range keys {
			has(k.Name, k.Doc)
			forms(k.Forms)
		}
	}
	forms = func(all []grammar.Form) {
		for _, f := range all {
			if f.Shape != grammar.Sweep {
				walk(f.Keys)
			}
			forms(f.Item)
			forms(f.Value)
		}
	}
	walk(grammar.Scenario)
	walk(grammar.SweepKeys)
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			has(o.Name, o.Doc)
		}
	}
	if first := scenarioSchema(t); !bytes.Equal(first, scenarioSchema(t)) {
		t.Error("two schemas of the same tables differ")
	}
}
