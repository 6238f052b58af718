package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// fio prints its document where weir reads it, and a file of jobs that the script writes is a loss that is told.
func TestFio(t *testing.T) {
	for script, wants := range map[string][]string{
		"fio --output=o.json --output-format json --minimal j.fio": {
			"command: [fio, j.fio, --output-format=json]", "# --output o.json: left out", "# --minimal: left out",
		},
		"mkdir d\ncat > d/j.fio <<EOF\n[a]\nrw=read\nEOF\nfio d/j.fio --output o": {
			"command: [fio, d/j.fio, --output-format=json]", "# line 2 writes d/j.fio, and the scenario does not",
		},
		"tee j.fio <<EOF\n[a]\nEOF\nfio j.fio": {"# line 1 writes j.fio"},
	} {
		scenarioOf(t, script, importer.Options{}, wants)
	}
	_, err := importer.Script("x.sh", "fio - <<EOF\n[a]\nEOF\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:1: fio -: jobs of the standard input") {
		t.Error(err)
	}
}

// Tests of networks run as they are, with both sides of those that have two.
func TestTestsOfNetworks(t *testing.T) {
	for script, wants := range map[string][]string{
		"mpirun -np 2 -H a,b ./osu_bw -m 1:1024": {
			`command: [mpirun, -np, 2, -H, "a,b", ./osu_bw, -m, "1:1024"]`, "format: osu", "rows: block_size",
			"block_size: 1B..1KiB x2",
		},
		"srun -n 8 osu_iallreduce": {"block_size: 4B..1MiB x2"},
		"srun -n 8 osu_latency":    {"block_size: 1B..4MiB x2"},
		"srun -n 8 osu_barrier":    {"format: osu\n"},
		"ssh a iperf3 -s -D\niperf3 -c $SERVER -P 4 --json --logfile x": {
			`command: [iperf3, -s, -1, -p, "${port.a}"]`, "nodes: 2",
			`command: [iperf3, -P, 4, -c, "${role.server.address}", -p, "${port.a}", -J]`, "format: iperf3",
		},
		"fi_pingpong -p tcp &\nfi_pingpong -p tcp 127.0.0.1": {
			`command: [fi_pingpong, -p, tcp, -B, "${port.a}"]`, "both sides meet at 127.0.0.1", "format: fabtests",
			"block_size: [64B, 256B, 1KiB, 4KiB, 64KiB, 1MiB]",
			`command: [fi_pingpong, -p, tcp, -P, "${port.a}", "${role.server.address}"]`,
		},
		"fi_rdm_tagged_bw -p efa -S 65536 10.0.0.1": {"fi_rdm_tagged_bw, -p, efa, -S, 65536, -B", "nodes: 2"},
	} {
		scenarioOf(t, script, importer.Options{}, wants)
	}
	for line, want := range map[string]string{
		"fi_pingpong -S all h": "x.sh:1: -S all: a case has one size",
		"iperf3 -s":            "x.sh:1: this is the command line of the server",
	} {
		if _, err := importer.Script("x.sh", line+"\n", importer.Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
