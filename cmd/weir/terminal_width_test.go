package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/terminal"
)

// longScenario has a line that is longer than a terminal is wide, and long keys.
const longScenario = `scenario: a-scenario-of-a-long-name-as-teams-write-them
runs:
  kv-cache-transfer-from-prefill-to-decode:
    workload: transfer
    launches: 2
    options: {fabric: sim, sim_bandwidth: 25 GB/s, iterations: 100}
    sweep: {block_size: [64KiB, 1MiB], in_flight: [1, 8], op: [write, read], sim_latency: [1us, 25us]}
    assert:
      - {that: bandwidth >= 40 GB/s, xfail: {reason: "a long reason of a failure", until: "2020-01-31"}}
      - latency.p50 <= 3ms
      - message_rate >= 100
`

// No line of a command is wider than a terminal of 80 columns.
func TestCommandsFitTheTerminal(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "long.yaml"), []byte(longScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"run --help", "compare --help", "--help", "validate long.yaml", "plan long.yaml", "run long.yaml --out first",
		"run long.yaml --out second", "report first", "gate first", "compare first second",
		"compare first second first", "report first --columns nope", "run nowhere.yaml",
	} {
		on := terminal.New(t, 80, 100)
		cmd := asWeir(t, dir, strings.Fields(words)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=1")
		cmd.Stdout, cmd.Stderr = on.Out, on.Out
		_ = cmd.Run() // some end with an error
		on.Close()
		if len(on.All()) == 0 {
			t.Errorf("weir %s says nothing", words)
		}
		if long := on.Wrapped(); len(long) > 0 {
			t.Errorf("weir %s: %d lines wrap, as %q", words, len(long), long[0])
		}
	}
}
