package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each tool of the distribution runs by weir, and its real output is read.
func TestTools(t *testing.T) {
	for _, name := range []string{"iperf3", "fio", "ucx_perftest", "fi_pingpong"} {
		tool(t, name)
	}
	doc, _ := run(t, `scenario: tools
defaults: {launches: 1}
runs:
  iperf3:
    workload: command
    options:
      roles:
        server: {command: [iperf3, -s, -p, "${port.a}"], ready: {listens: "${port.a}"}, ends: with client}
        client: {after: [server], command: [iperf3, -J, -c, "${role.server.address}", -p, "${port.a}", -t, 1]}
      parse: {of: client, format: iperf3}
  fio:
    workload: command
    options:
      roles:
        it:
          command: [fio, --name=read, --filename=${launch.scratch}/data, --size=8M, --rw=read, --bs=64k,
                    --output-format=json]
      parse: {of: it, format: fio}
  ucx_perftest:
    workload: command
    options:
      roles:
        server: {command: [ucx_perftest, -p, "${port.a}"], ready: {listens: "${port.a}"}, ends: with client}
        client:
          after: [server]
          command: [ucx_perftest, "${role.server.address}", -p, "${port.a}", -t, tag_lat, -s, 8, -n, 20000, -f]
      parse: {of: client, format: ucx_perftest}
  fi_pingpong:
    workload: command
    options:
      roles:
        server: {command: [fi_pingpong, -p, tcp, -e, msg, -B, "${port.a}", -I, 20, -S, 1048576], ready: {listens: "${port.a}"}, ends: with client}
        client:
          after: [server]
          command: [fi_pingpong, -p, tcp, -e, msg, -P, "${port.a}", -I, 20, -S, 1048576, "${role.server.address}"]
      parse: {of: client, format: fabtests}
`, 0)
	measured(t, doc, "iperf3", "bandwidth", 1)
	measured(t, doc, "fio", "read.bandwidth", 1)
	measured(t, doc, "ucx_perftest", "latency.avg", 1)
	measured(t, doc, "fi_pingpong", "latency.avg", 1)
}

// A program of one's own has its numbers by a regular expression, a row for each case; a tool
// that may fail does so without failing the session; and an output that is cut or empty, or lacks
// a metric, is an error that shows its last lines.
func TestOutputsOfTools(t *testing.T) {
	tool(t, "sh")
	dir := t.TempDir()
	table, err := os.ReadFile("../../interop/output/testdata/nixlbench/etcd_ucx_write_15_sizes.txt")
	if err != nil {
		t.Fatal(err)
	}
	upTo, _, has := strings.Cut(string(table), "\n16777216 ") // a row of the last sizes
	if !has {
		t.Fatal("the recorded table has no row of 16 MiB")
	}
	for name, text := range map[string]string{
		"whole.txt": string(table), "cut.txt": upTo + "\n", "empty.txt": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	doc, _ := run(t, replaced(`scenario: outputs
defaults: {launches: 1}
runs:
  own:
    workload: command
    options:
      roles: {it: {command: [sh, -c, "for s in 4096 8192; do echo size=$s bw=$s.5 GB/s; done"]}}
      parse:
        of: it
        lines: '^size=(?<size>\d+) bw=(?<bw>[\d.]+) GB/s$'
        rows: size
    sweep: {size: [4096, 8192]}
    metrics: {bw: {unit: GB/s, better: higher, doc: what the script calls bw}}
    assert: [bw > 4 GB/s]
  nixlbench:
    workload: command
    may_fail: {reason: nixl issue 1044, until: 2099-06-30, match: no-nixlbench}
    options:
      etcd: true
      roles:
        target:
          command: &bench [no-nixlbench, --etcd_endpoints, "${etcd.url}", --benchmark_group, "${launch.id}", --backend, UCX]
          ready: {etcd: "xferbench/${launch.id}//rank/0"}
        initiator: {after: [target], command: *bench}
      parse: {of: any, format: nixlbench, rows: block_size}
    sweep: {block_size: [64MiB]}
    assert: [bandwidth within 10% of 0.85]
  whole:
    workload: command
    options: {roles: {it: {command: [cat, DIR/whole.txt]}}, parse: {of: it, format: nixlbench, rows: block_size}}
    sweep: {block_size: [4KiB, 64MiB]}
  cut:
    workload: command
    options: {roles: {it: {command: [cat, DIR/cut.txt]}}, parse: {of: it, format: nixlbench, rows: block_size}}
    sweep: {block_size: [4KiB]}
  empty:
    workload: command
    options: {roles: {it: {command: [cat, DIR/empty.txt]}}, parse: {of: it, format: nixlbench, rows: block_size}}
    sweep: {block_size: [4KiB]}
`, "DIR", dir), 6)
	measured(t, doc, "own", "bw", 2)
	measured(t, doc, "whole", "bandwidth", 2)
	for _, c := range doc.Cases {
		why := c.Reason
		for _, l := range c.Launches {
			if l.Failure != nil {
				why = l.Failure.Cause
			}
		}
		switch c.Run {
		case "nixlbench":
			if !c.Excused() {
				t.Errorf("nixlbench, which may fail, is %s: %s", c.Status, c.Reason)
			}
		case "cut":
			if !strings.Contains(why, "stdout ends with:") || !strings.Contains(why, "8388608 ") {
				t.Errorf("a table that is cut: %s", why)
			}
		case "empty":
			if !strings.Contains(why, "no result found") {
				t.Errorf("an empty output: %s", why)
			}
		}
	}
}

// NIXL's own example runs with the libraries of its wheel, in which it crashes when it has ended:
// what it says counts.
func TestNIXLExample(t *testing.T) {
	packages := filepath.Dir(newest(t, "nixl/lib/python3*/site-packages/nixl_cu12"))
	doc, _ := run(t, replaced(`scenario: nixl
runs:
  example:
    workload: command
    launches: 1
    env: {LD_LIBRARY_PATH: "PACKAGES/nixl_cu12.libs:PACKAGES/.nixl_cu12.mesonpy.libs", NIXL_PLUGIN_DIR: "PLUGINS"}
    options:
      roles:
        it:
          command: [sh, -c, 'said=$(LOADER PACKAGES/nixl_cu12.scripts/nixl_example); echo "$said";
            echo "verified=$(echo "$said" | grep -c "Transfer verified")"']
      parse: {of: it, lines: '^verified=(?<verified>\d+)$'}
    metrics: {verified: {better: higher, doc: transfers that the example found right}}
    assert: [verified >= 1]
`, "LOADER", loader(t), "PACKAGES", packages, "PLUGINS", plugins(t, packages)), 0)
	measured(t, doc, "example", "verified", 1)
}

// Ranks die and fall silent over NIXL's backend UCX at every moment of a step: the others go on, each masks those, and
// new ranks come. NIXL EP itself notices a death by a timeout of seconds.
func TestRanksDieOverNIXL(t *testing.T) {
	packages := filepath.Dir(newest(t, "nixl/lib/python3*/site-packages/nixl_cu12"))
	t.Setenv("WEIR_NIXL_LIBRARY", filepath.Join(packages, ".nixl_cu12.mesonpy.libs/libnixl_capi.so"))
	doc, _ := run(t, `scenario: elastic
defaults:
  launches: 3
  timeout: 2m
  options:
    ep_elastic: {fabric: nixl, tokens: 32, hidden: 512, top_k: 4, iterations: 8, silence: 2s}
runs:
  killed:
    workload: ep_elastic
    options:
      phases:
        - {ranks: 0..3}
        - {ranks: [0, 1, 3], kill: [2], at: dispatch}
        - {ranks: 0..4}
        - {ranks: [0, 2, 3], kill: [1, 4], at: combine}
        - {ranks: 0..3}
        - {ranks: [0, 1, 2], kill: [3], at: idle}
    assert: [wrong_tokens <= 0, mask.wrong <= 0, detect.time <= 1s where killed > 0]
  muted:
    workload: ep_elastic
    options:
      phases:
        - {ranks: 0..3}
        - {ranks: [0, 2, 3], mute: [1], at: dispatch}
        - {ranks: 0..3}
    assert: [wrong_tokens <= 0, mask.wrong <= 0]
`, 0)
	measured(t, doc, "killed", "stall.max", 6)
	measured(t, doc, "muted", "stall.max", 3)
}

// loader runs a program that the wheel does not mark as one.
func loader(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/lib*/ld-linux-*.so.*")
	if err != nil || len(found) == 0 {
		t.Fatalf("this host has no loader of programs in /lib*")
	}
	return found[0]
}

// newest is the last file that a pattern below .build/peers finds.
func newest(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("../../.build/peers", pattern))
	if err != nil || len(found) == 0 {
		return peer(t, pattern) // which says that it is missing
	}
	return peer(t, strings.TrimPrefix(found[len(found)-1], "../../.build/peers/"))
}

// plugins is the folder of NIXL's plugins in its wheel.
func plugins(t *testing.T, packages string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(packages, "*nixl_cu12*libs", "*plugins*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("the wheel has no folder of plugins below %s", packages)
	}
	return found[0]
}
