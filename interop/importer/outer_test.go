package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// A program that weir runs itself keeps what starts it, also if a shell between them reads it from a text.
func TestCommandsThatStartTexts(t *testing.T) {
	const test = "all_reduce_perf -b 8 -e 32 -f 2"
	for script, want := range map[string]string{
		"srun --mpi=pmix bash -c '" + test + "'":                "[srun, --mpi=pmix, bash, -c, " + test + "]",
		"mpirun -np 2 bash -c 'osu_bw -m 4:16'":                 `[mpirun, -np, 2, bash, -c, "osu_bw -m 4:16"]`,
		"mpirun -np 2 env A=1 bash -c 'B=1 osu_bw'":             "2, env, A=1, bash, -c, B=1 osu_bw]",
		"ssh h1 'osu_bw'":                                       "[ssh, h1, osu_bw]",
		"ssh h1 'cd /x && " + test + "'":                        "[ssh, h1, cd /x && " + test + "]",
		"docker run --gpus all img sh -c \"" + test + "\"":      "sh, -c, " + test + "]",
		"bash -c 'mpirun -np 2 " + test + "'":                   "[mpirun, -np, 2, all_reduce_perf, -b",
		"bash -c \"srun -n2 bash -c '" + test + "'\"":           "[srun, -n2, bash, -c, " + test + "]",
		"ssh h1 \"srun -n2 bash -c '" + test + "'\"":            "[ssh, h1, srun -n2 bash -c '" + test + "']",
		"for n in 2 4; do mpirun -np $n bash -c 'osu_bw'; done": `[mpirun, -np, "${axis.np}", bash, -c, osu_bw]`,
		"mpirun -np 2 bash -c '" + test + "; osu_bw'":           "error",
		"srun bash -c '" + test + "' x z":                       "[srun, bash, -c, " + test + ", x, z]",
		"srun bash <<'E'\n" + test + "\nE":                      "error",
		"sbatch <<'E'\nsrun " + test + "\nE":                    "[srun, all_reduce_perf, -b, 8, -e, 32, -f, 2]",
		"sbatch --wrap 'srun " + test + "'":                     "[srun, all_reduce_perf, -b, 8, -e, 32, -f, 2]",

		"su - user -c 'mpirun -np 2 osu_bw'":           "[su, \"-\", user, -c, mpirun -np 2 osu_bw]",
		"flock /tmp/l -c 'mpirun -np 2 osu_bw'":        "[flock, /tmp/l, -c, mpirun -np 2 osu_bw]",
		"sbatch --wrap='srun " + test + "'":            "[srun, all_reduce_perf, -b, 8, -e, 32, -f, 2]",
		"cat > a <<'E'\nosu_bw\nE\nsrun ./a":           "error",
		"cat > a <<'E'\nsrun osu_bw\nE\nsbatch -N 2 a": "[srun, osu_bw]",

		"srun bash -c 'for i in 1 2; do all_reduce_perf -b $i; done'": "error",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		switch {
		case want == "error":
			if err == nil || !strings.Contains(err.Error(), " after it, without a shell between") {
				t.Errorf("%s: %v", script, err)
			}
		case err != nil:
			t.Errorf("%s: %v", script, err)
		case !strings.Contains(string(made.Scenario), want):
			t.Errorf("%s: no %s\n%s", script, want, made.Scenario)
		}
	}
	made := scenarioOf(t, "srun -N2 --ntasks-per-node=1 bash -c 'ucx_perftest -t tag_bw -s 8'", importer.Options{
		Memory: "dram",
	}, []string{"nodes: 2"})
	if len(made.Fates) != 1 {
		t.Errorf("%+v", made.Fates)
	}
}

// Notes say what a run does not have of the words before the tool, and nothing of what it has.
func TestNotesOfWrappers(t *testing.T) {
	const none = ""
	for script, want := range map[string]string{
		"ssh n1 mpirun -np 2 osu_bw":         none,
		"docker run --gpus all img osu_bw":   none,
		"timeout 60 mpirun -np 2 osu_bw":     none,
		"sudo -u u mpirun -np 2 osu_bw":      none,
		"sudo mpirun -np 2 bash -c 'osu_bw'": none,
		"ssh n1 'osu_bw'":                    none,

		"docker run img fio --name=x":           "words before the tool's name are ignored: docker",
		"docker run img sh -c 'fio --name=x'":   "words before the tool's name are ignored: docker",
		"timeout 60 fio --name=x":               "timeout is not taken over",
		"sudo ib_write_bw -s 8 h":               "sudo is not taken over",
		"sudo bash -c 'ib_write_bw -s 8 h'":     "sudo is not taken over",
		"timeout 9 iperf3 -c h":                 "timeout is not taken over",
		"sbatch --wrap 'ib_write_bw -s 8 node'": "words before the tool's name are ignored: sbatch",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{Memory: "dram"})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		found := none
		for _, n := range made.Notes {
			if strings.Contains(n.Text, "are ignored") || strings.Contains(n.Text, "is not taken over") {
				found += n.Text
			}
		}
		if want == none && found != none || !strings.Contains(found, want) {
			t.Errorf("%s: %q, want %q", script, found, want)
		}
	}
}
