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
	for line, wants := range map[string][]string{
		"fio --name=x --numjobs=4 --rw=read":                {"--numjobs=4, --rw=read, --group_reporting, "},
		"fio --name x --numjobs 4 --group_reporting":        {"4, --group_reporting, --output-format"},
		"fio --name=a --rw=read --name=b --rw=write":        {"rows: job", "job: [a, b]"},
		"fio --group_reporting --name=a --rw=read --name=b": {"format: fio\n"},
		"fio two.fio":             {"rows: job", "job: [a, b]"},
		"fio one.fio":             {"format: fio\n", "command: [fio, one.fio, --output-format=json]"},
		"fio --section=b two.fio": {"format: fio\n"},
	} {
		made := scenarioOf(t, line, importer.Options{Read: fioFile}, wants)
		if strings.Contains(string(made.Scenario), "rows") != strings.HasPrefix(wants[0], "rows") {
			t.Errorf("%s:\n%s", line, made.Scenario)
		}
	}
	for _, line := range []string{
		"fio --name=a --name=a --rw=read", "fio --name=a --numjobs=2 --name=b", "fio clones.fio",
		"fio --group_reporting --name=a --name=b --stonewall",
	} {
		_, err := importer.Script("x.sh", line+"\n", importer.Options{Read: fioFile})
		if err == nil || !strings.Contains(err.Error(), "fio has several results, and a case has one") {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, err := importer.Script("x.sh", "fio - <<EOF\n[a]\nEOF\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:1: fio -: jobs of the standard input") {
		t.Error(err)
	}
}

// fioFile is a file of jobs.
func fioFile(path string) ([]byte, error) {
	return []byte(map[string]string{
		"one.fio":    "[global]\nnumjobs=4\ngroup_reporting\n[a]\nrw=read\n",
		"two.fio":    "[global]\nbs=4k\n\n[a]\nrw=read\n[b]\nstonewall\nrw=write\n",
		"clones.fio": "[a]\nnumjobs = 4\nrw=read\n",
	}[path]), nil
}

// The rows of nccl-tests have the sizes that its ranks share evenly, and a size has one row.
func TestSizesOfNcclTests(t *testing.T) {
	for line, want := range map[string]string{
		"all_gather_perf -b 1M -e 4M -f 2 -g 6":                         "block_size: [1048512, 2097120, 4194240]",
		"alltoall_perf -b 8 -e 1K -f 2 -g 8":                            "block_size: [128, 256, 512, 1024]",
		"mpirun -np 3 reduce_scatter_perf -b 1K -e 2K -f 2":             "block_size: [1008, 2016]",
		"srun -N 2 --ntasks-per-node 4 all_gather_perf -b1000 -e2K -f2": "block_size: [896, 1920]",
		"mpirun -np 16 all_reduce_perf -b1K -f2 -g1 -e 4K":              "block_size: [1024, 2048, 4096]",
		"all_reduce_perf -b6 -e24 -f 2 -d double":                       "block_size: [8, 24]",
		"all_reduce_perf --minb=1K --maxbytes 3K --stepb 1K":            "block_size: [1024, 2048, 3072]",
		"all_reduce_perf -b 1M -e 3M":                                   "block_size: [1048576, 2097152, 3145728]",
		"all_gather_perf -b 1M -e 1M -o all":                            "format: nccl-tests\n",
		"mpirun osu_bw -m1024:4096":                                     "block_size: [1KiB, 2KiB, 4KiB]",
		"mpirun osu_bw --message=:16":                                   "block_size: 1B..16B x2",
	} {
		scenarioOf(t, line, importer.Options{}, []string{want})
	}
	for line, want := range map[string]string{
		"srun all_gather_perf -b 8 -e 1M -f 2":                          "the number of ranks is not known",
		"NCCL_TESTS_SPLIT=7 mpirun -np 8 alltoall_perf -b 8 -e 1M -f 2": "the number of ranks is not known",
		"all_reduce_perf -b 8 -e 9K -i 8":                               "or there are more than 1024: give -f 2",
		"all_gather_perf -b 64 -e 256 -i 8 -g 4":                        "two rows have the size 64",
		"all_reduce_perf -d all":                                        "-d all: a size has several rows",
		"reduce_perf -o all":                                            "-o all: a size has several rows",
		"broadcast_perf -r -1":                                          "-r -1: a size has several rows",
		"all_reduce_perf -N 3":                                          "-N 3: a size has several rows",
	} {
		refused(t, line, want)
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
