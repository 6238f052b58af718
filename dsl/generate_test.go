package dsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/interop/ctperftest"
	played "github.com/weir-bench/weir/workload/sequence"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// published is the example with published numbers for llama-405b.
const published = "model: llama-405b, isl: 16000, prefill_nodes: 1, decode_nodes: 1, prefill_tp: 8, decode_tp: 8"

// rowsOf returns the values that a sweep gives an axis, row by row.
func rowsOf(n *SweepNode, axis int) []int {
	if n.Op == AxisNode && n.Axis == axis {
		return n.Values
	}
	for _, m := range n.Members {
		if rows := rowsOf(m, axis); rows != nil {
			return rows
		}
	}
	return nil
}

// items returns the options of each pattern of a run's first point.
func items(t *testing.T, r *Run) []Resolved {
	t.Helper()
	var all []Resolved
	for i := range r.sequence.items {
		var at []AxisValue
		for k, a := range r.Axes {
			v := a.Values[0]
			if a.Item {
				v = a.Values[rowsOf(r.Sweep.Root, k)[i]]
			}
			at = append(at, v)
		}
		resolved, diags := r.At(at)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		all = append(all, resolved)
	}
	return all
}

func TestTheLanguageMakesThePublishedExample(t *testing.T) {
	src := "scenario: s\nruns:\n  seq: {workload: traffic_sequence, options: {generate: {" + published +
		", requests: 2}}}\n  one: {workload: traffic, options: {generate: {" + published + ", requests: 1}}}\n"
	s := loadText(t, src, nil, nil)
	seq, one := s.Runs[0], s.Runs[1]
	want := "16:"
	for i := range 8 {
		want += fmt.Sprintf(" %d>%d=1032192000", i, i+8)
	}
	if matrix.Rounded(1032192000) != "984.38M" {
		t.Error("the cell is not that which is published")
	}
	all := items(t, seq)
	if len(all) != 2 {
		t.Fatalf("%d patterns", len(all))
	}
	for i, p := range all {
		o := p.Options
		if o["matrix"] != want || o["sleep_before_launch"] != quantity.Time(37404803072) || o["ranks"] != int64(16) ||
			o["metadata"] != "isl=16000 requests=1 prefill_worker=0 decode_worker=0" {
			t.Errorf("pattern %d: %v", i, o)
		}
	}
	if got := settingText(t, one, "matrix", 0); got != want || settingText(t, one, "ranks", 0) != "16" ||
		settingText(t, one, "generate", 0) != "none" {
		t.Errorf("of workload traffic: %s", got)
	}
}

// Results without files equal those with files, to the byte and nanosecond.
func TestAModelGivesWhatItsFilesGive(t *testing.T) {
	const keys = "model: gpt-oss-20b, isl: 'lognormal:3000,2000', osl: 'uniform:1,9', requests: 7, batch_size: 2, prefill_nodes: 1, decode_nodes: 1, prefill_tp: 4, decode_tp: 8, bytes_scale: 0.01"
	spec := model.NewSpec()
	for _, pair := range strings.Split(keys, ", ") {
		name, value, _ := strings.Cut(pair, ": ")
		if err := spec.Set(name, strings.Trim(value, "'")); err != nil {
			t.Fatal(err)
		}
	}
	_, patterns, err := spec.Patterns()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := ctperftest.Write(dir, patterns, matrix.Exact, true); err != nil {
		t.Fatal(err)
	}
	s, _, diags := Load("main.yaml", []byte("scenario: s\nruns:\n  a: {workload: traffic_sequence, options: {generate: {"+
		keys+"}}}\n  b: {workload: traffic_sequence, options: {metadata_file: '"+dir+"'}}\n"), Options{Env: testEnv})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	a, b := items(t, s.Runs[0]), items(t, s.Runs[1])
	equal(t, "the patterns", a, b)
	if len(a) != 4 || !strings.HasPrefix(a[0].Options["patterns"].(string), "4 sha256:") {
		t.Errorf("%d patterns: %v", len(a), a)
	}
}

// The digest of a sequence depends on the values only, not on whether item or run sets them.
func TestEqualSequencesHaveEqualDigests(t *testing.T) {
	digest := func(options string) string {
		s := loadText(t, "scenario: s\nruns: {a: {workload: traffic_sequence, options: {"+options+"}}}\n",
			brokenNeighbours, nil)
		return items(t, s.Runs[0])[0].Options["patterns"].(string)
	}
	base := digest("patterns: [{matrix_file: good.txt, sleep_before_launch_sec: 0.5}]")
	for options, same := range map[string]bool{
		"metadata_file: ct.yaml": true,
		"patterns: [{matrix: [[0, 4096], [1, 0]]}], sleep_before_launch: 500ms": true,
		"patterns: [{matrix_file: good.txt, sleep_before_launch: 0.5s, op: write, shards: 1}], " +
			"op: read, shards: 4": true,
		"patterns: [{matrix_file: good.txt, sleep_before_launch: 0.5s}], op: read":           false,
		"patterns: [{matrix_file: good.txt, sleep_before_launch: 0.4s}]":                     false,
		"patterns: [{matrix_file: good.txt, sleep_before_launch: 0.5s, metadata: {isl: 5}}]": false,
		"patterns: [{matrix: [[0, 4095], [1, 0]]}], sleep_before_launch: 500ms":              false,
		"patterns: [{matrix_file: good.txt}, {matrix_file: good.txt, sleep_before_launch_sec: 1}], " +
			"sleep_before_launch: 0s": false,
	} {
		if got := digest(options); (got == base) != same {
			t.Errorf("%s: %s, and the first is %s", options, got, base)
		}
	}
}

// Files of a model are read through the loader, beside the scenario.
func TestFilesOfAModelAreBesideTheScenario(t *testing.T) {
	files := map[string]string{
		"in/model.json": brokenNeighbours["model.json"], "in/trace.jsonl": brokenNeighbours["trace.jsonl"],
	}
	src := "scenario: s\nruns: {a: {workload: traffic_sequence, options: {generate: {config: model.json, trace: trace.jsonl, gpus_per_node: 1, prefill_nodes: 1, decode_nodes: 1}}}}\n"
	s, _, diags := Load("in/main.yaml", []byte(src), Options{Env: testEnv, Read: memory(files)})
	if s == nil || len(s.Runs[0].sequence.items) != 2 {
		t.Errorf("%v", diags)
	}
}

// The keys of an item are exactly those that items accept.
func TestKeysOfAPattern(t *testing.T) {
	equal(t, "keys", itemKeys(played.Kind), []string{
		"matrix_file", "op", "matrix", "sleep_before_launch", "sleep_before_launch_sec", "sleep_after_launch",
		"sleep_after_launch_sec", "shards", "metadata",
	})
}

func BenchmarkModel1000(b *testing.B) {
	src := []byte("scenario: s\nruns: {a: {workload: traffic_sequence, options: {generate: {model: llama-405b, requests: 1000, prefill_nodes: 16, decode_nodes: 16, prefill_tp: 8, decode_tp: 8}}}}\n")
	for b.Loop() {
		if _, _, diags := Load("main.yaml", src, Options{Env: testEnv}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
