package ctperftest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// played returns option patterns of the only run of a scenario.
func played(t *testing.T, path string, src []byte) any {
	t.Helper()
	s, _, diags := dsl.Load(path, src, dsl.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	for _, option := range s.Runs[0].Settings() {
		if option.Name == "patterns" {
			v, diags := option.Value(nil)
			if diags.HasErrors() || v == nil {
				t.Fatalf("%v, %v", v, diags)
			}
			return v
		}
	}
	t.Fatal("the run plays no patterns")
	return nil
}

// An imported sequence equals that of metadata_file, to the nanosecond and byte.
func TestAnImportedSequenceIsThatOfItsFile(t *testing.T) {
	dir := t.TempDir()
	spec := model.NewSpec()
	for name, text := range map[string]string{
		"model": "gpt-oss-20b", "requests": "5", "osl": "uniform:1,9", "prefill_nodes": "1", "decode_nodes": "1",
		"decode_tp": "8",
	} {
		if err := spec.Set(name, text); err != nil {
			t.Fatal(err)
		}
	}
	_, patterns, err := spec.Patterns()
	if err != nil {
		t.Fatal(err)
	}
	if err := ctperftest.Write(filepath.Join(dir, "made"), patterns, matrix.Rounded, false); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "m.txt"), "0 1.5K\n3 0\n")
	for name, text := range map[string]string{
		"read":     "- {matrix_file: m.txt, xfer_op: READ, shards: 3, sleep_before_launch_sec: 0.1}\n- {matrix_file: m.txt, xfer_op: read}\n",
		"ops":      "- {matrix_file: m.txt, xfer_op: READ}\n- {matrix_file: m.txt, sleep_after_launch_sec: 37.404803072}\n",
		"metadata": "- {matrix: [[0, 4K], [1G, 0]], metadata: {isl: 1.50, long: 'a, b: ${c}', '${k}': 1, 0x10: 007, empty: ''}}\n",
		"memory":   "- {matrix_file: m.txt, mem_type: cpu}\n- {matrix_file: m.txt, mem_type: DRAM}\n",
	} {
		write(t, filepath.Join(dir, name+".yaml"), "traffic_patterns:\n"+text)
	}
	for _, file := range []string{"made", "read.yaml", "ops.yaml", "metadata.yaml", "memory.yaml"} {
		c, _, diags := ctperftest.Read(filepath.Join(dir, file))
		if c == nil {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		c.Move("dram")
		scenario := c.Scenario(dir)
		imported := played(t, filepath.Join(dir, "s.yaml"), scenario)
		named := played(t, filepath.Join(dir, "n.yaml"), fmt.Appendf(nil,
			"scenario: n\nruns: {a: {workload: traffic_sequence, options: {metadata_file: %s}}}\n", file))
		if imported != named {
			t.Errorf("%s: imported %v, and metadata_file is %v\n%s", file, imported, named, scenario)
		}
		memory := "dram  # the file has vram"
		if file == "memory.yaml" {
			memory = "dram"
		}
		for _, line := range []string{
			"memory: " + memory, "iterations: 3", "warmup: 0", "isolated_iterations: 30", "isolated_warmup: 30",
			"overlap: true",
		} {
			if !strings.Contains(string(scenario), "\n      "+line+"\n") {
				t.Errorf("%s: it does not say %q:\n%s", file, line, scenario)
			}
		}
	}
}

func TestPatternsInDifferentMemoryAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	write(t, path, "traffic_patterns:\n- {matrix: [[0, 1], [0, 0]], mem_type: cpu}\n- {matrix: [[0, 1], [0, 0]], mem_type: dram}\n- {matrix: [[0, 1], [0, 0]]}\n")
	c, _, diags := ctperftest.Read(path)
	if c == nil {
		t.Fatal(diags)
	}
	if err := c.OneMemory(); err == nil ||
		!strings.Contains(err.Error(), "pattern 2 of "+path+" has its buffers in vram, but the first has them in dram") {
		t.Error(err)
	}
	c.Move("dram")
	if err := c.OneMemory(); err != nil {
		t.Error(err)
	}
	if scenario := string(c.Scenario(".")); !strings.Contains(scenario, "      memory: dram  # the file has vram\n") {
		t.Errorf("it does not say where the buffers were:\n%s", scenario)
	}
}
