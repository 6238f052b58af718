package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// What passes of a loop change, and the scenario does not have, is told; passes that become equal are one run.
func TestWhatPassesOfALoopChange(t *testing.T) {
	const bench = "vllm bench serve --model m --result-filename r$i.json; "
	for script, want := range map[string]struct {
		runs   int
		warned string // "": nothing
	}{
		"for i in 1 2; do vllm serve m --tp $i & " + bench + "done": {1, "line 1 (vllm serve m …) is another command"},
		"printf '1\\n2\\n' | while read i; do kubectl apply -f $i.yaml; " + bench + "done": {
			1, "line 1 (kubectl apply -f …) is another command",
		},
		"up() { vllm serve m $1 & }; up 1; i=1; " + bench + "up 2; " + bench: {
			2, "line 1 (vllm serve m …) is another command",
		},
		"for b in 4 8; do sed -i s/4/$b/ j; fio j; done": {
			1, "line 1 (sed -i s/4/$b/ …) is another command",
		},
		"for i in 1 2; do " + bench + "./plot r$i.json; done; " + bench: {2, ""},
		"echo h > hosts; mpirun -np 2 --hostfile hosts all_reduce_perf -b 8 -e 8": {
			1, "the script writes hosts",
		},
		"for i in 1 2; do vllm serve m & " + bench + "done":     {1, ""},
		"for i in 1 2; do mkdir $i; echo $i; " + bench + "done": {1, ""},
		"for i in 1 2; do " + bench + "./plot r$i.json; done":   {1, ""},
		"for h in a b; do ib_write_bw -s 8 $h; done":            {1, "for each of: a; b"},
		"bw=$(fio j | awk '{print $4}'); if (( $(echo \"$bw < 90\" | bc -l) )); then exit 1; fi": {
			1, "line 1 fails the script by the value of bw",
		},
		"bw=$(fio j | awk '{print $4}'); [ \"$bw\" -lt 90 ] && exit 1": {
			1, "line 1 fails the script by the value of bw",
		},
		"bw=$(fio j | awk '{print $4}'); [ \"$bw\" -lt 90 ] && exit 0": {1, ""},
		"fio j || exit 1": {1, ""},
		"for h in a b; do ssh $h iperf3 -c c -t 5; done":        {1, "ssh a; ssh b"},
		"for p in 1 2; do ib_write_bw -p $p -s 8 h; done":       {1, ""},
		"for d in a b; do nixlbench --device_list $d; done":     {1, ""},
		"for p in a b; do oc exec $p -- nixlbench & done; wait": {1, ""},
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if runs := strings.Count(string(made.Scenario), "    workload: "); runs != want.runs {
			t.Errorf("%s: %d runs, want %d: %v\n%s", script, runs, want.runs, err, made.Scenario)
		}
		warned := ""
		for _, n := range made.Notes {
			if n.Warning {
				warned += n.Text
			}
		}
		if !strings.Contains(warned, want.warned) || want.warned == "" && warned != "" {
			t.Errorf("%s: warns %q, want %q", script, warned, want.warned)
		}
	}
}

// Each pass of a loop that runs nixlbench and waits for it is a run of its own, not a further process of one.
func TestPassesThatNixlbenchEnds(t *testing.T) {
	made, err := importer.Script("x.sh", "for d in a b; do nixlbench --device_list $d; done\n", importer.Options{})
	if err != nil || !strings.Contains(string(made.Scenario), "env.UCX_NET_DEVICES: [\"a:1\", \"b:1\"]") {
		t.Errorf("%v\n%s", err, made.Scenario)
	}
}

// What no shell expands in a scenario, and what weir does not read, is refused with its cause.
func TestRefusedCommands(t *testing.T) {
	for script, want := range map[string]string{
		"fio jobs/*.fio": `"jobs/*.fio": no shell puts the names of files there`,
		"mpirun --hostfile <(echo h) alltoall_perf": "<(echo h)\": no shell",
		"fio ~/a.fio":                             `"~/a.fio": no shell`,
		"fio --client=h a.fio":                    "--client: its hosts are those of fio --server",
		"curl 'h/v1/completions?i=[1-9]' -d '{}'": "curl: [1-9]: it sends a request for each",

		"kubectl apply -f - <<E\nargs: [fio, --name=x]\nE": "weir does not read manifests, and this one runs fio",

		"cat > a.yaml <<E\n- fio\n- --name=x\nE\nkubectl apply -f a.yaml": "this one runs fio",
	} {
		_, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
	for _, script := range []string{
		"fio --name=x --filename=/dev/nvme[0-3]n1", "srun -w 'n[1-4]' iperf3 -c h",
		"kubectl apply -f - <<E\nname: fio\ncommand: [sleep, inf]\nE\nfio --name=x",
	} {
		if _, err := importer.Script("x.sh", script+"\n", importer.Options{}); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// An endless loop that timeout ends has that duration; a loop in it that ends by itself has none.
func TestLoopsThatTimeoutEnds(t *testing.T) {
	const curl = `curl h/v1/completions -d "{\"model\":\"m\"}"; `
	for script, want := range map[string]string{
		"timeout 60 bash -c 'while true; do " + curl + "done'":              "duration: 60s",
		"timeout -k 5 -s INT 2m bash -c 'until false; do " + curl + "done'": "duration: 120s",
		"timeout 60 bash -c '" + curl + "'":                                 "requests: 1",
		"timeout 60 bash -c 'for i in 1 2; do " + curl + "done'":            "requests: 2",
		"timeout 60 bash -c 'while true; do " + curl + "break; done'":       "requests: 1",
		"bash -c 'while true; do " + curl + "done'":                         "requests: \"${var.requests}\"",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if err != nil || !strings.Contains(string(made.Scenario), want) {
			t.Errorf("%s: no %s: %v\n%s", script, want, err, made.Scenario)
		}
	}
}

// Axes of command lines have the names of the flags that differ.
func TestNamesOfAxes(t *testing.T) {
	made, err := importer.Script("x.sh", "for p in 1 4; do for l in 8K 1M; do iperf3 -c h -P $p -l $l; done; done\n",
		importer.Options{})
	const want = "      parallel: [1, 4]\n      length: [8K, 1M]"
	if err != nil || !strings.Contains(string(made.Scenario), want) {
		t.Errorf("%v\n%s", err, made.Scenario)
	}
}

// What a script writes and curl or fio reads is known; a server is one also beside a client that is refused.
func TestFilesThatCommandsRead(t *testing.T) {
	const body = `{"model":"m","prompt":"p $i","max_tokens":7}`
	for script, want := range map[string]string{
		"i=3; cat > b.json <<E\n" + body + "\nE\ncurl h/v1/completions -d @b.json":                   "{tokens: 7}",
		"for i in 1 2; do curl h/v1/completions -d @- <<E\n" + body + "\nE\ndone":                    "[p 1, p 2]",
		"printf '[a]\\nrw=read\\n[b]\\nrw=write\\n' > j.fio; fio j.fio":                              "job: [a, b]",
		"ib_write_bw &\nib_write_bw -s 8 h\nssh h ib_write_bw &\nib_write_bw -q 4 h -s 8":            "block_size: 8B",
		"for i in 1 2; do echo '{\"model\":\"m'$i'\"}' > b; curl h/v1/completions -d @b; done; wait": "model: [m1, m2]",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		server := err != nil && strings.Contains(err.Error(), "command line of the server")
		if !strings.Contains(string(made.Scenario), want) || server {
			t.Errorf("%s: no %s: %v\n%s", script, want, err, made.Scenario)
		}
	}
}

// The nodes and processes for which a script asks sbatch are those of Slurm's variables, and of srun without flags.
func TestScriptsOfSbatch(t *testing.T) {
	const (
		head  = "#!/bin/bash\n#SBATCH -N2 # two\n#SBATCH --ntasks-per-node=4\n"
		bench = "alltoall_perf -b 256 -e 1K -f 2"
	)
	for script, want := range map[string]string{
		head + "srun -N $SLURM_NNODES -n $SLURM_NTASKS " + bench: "[srun, -N, 2, -n, 8, alltoall_perf,",
		head + "srun " + bench:                                      "block_size: [256, 512, 1024]",
		"sbatch <<E\n" + head + "srun " + bench + "\nE":             "block_size: [256, 512, 1024]",
		head + "mpirun -np $((SLURM_NTASKS_PER_NODE * 4)) " + bench: "[mpirun, -np, 16, alltoall_perf,",
		"srun " + bench: "",
		"# SBATCH -N2\nsrun -N $SLURM_NNODES --ntasks-per-node=4 " + bench: "",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if (err == nil) != (want != "") || !strings.Contains(string(made.Scenario), want) {
			t.Errorf("%s: no %q: %v\n%s", script, want, err, made.Scenario)
		}
	}
}
