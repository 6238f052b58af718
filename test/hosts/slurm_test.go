package hosts

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// jobs are those that Slurm still has.
func jobs() string {
	out, _ := exec.Command("squeue", "-h").Output() // a busy controller is asked again
	return strings.TrimSpace(string(out))
}

func TestSlurm(t *testing.T) {
	phase.Rest(t)
	l := lab.New(t, "ctl", "n1", "n2")
	t.Setenv("SLURM_CONF", l.Slurm())
	run := func(t *testing.T, scenario string, wrapped ...string) (*process, string) {
		t.Helper()
		out := t.TempDir() + "/out"
		args := append(wrapped, weir(t), "run", write(t, "scenario.yaml", scenario), "--launcher", "slurm", "--out",
			out)
		return start(t, exec.Command(args[0], args[1:]...)), out
	}
	for name, allocate := range map[string][]string{
		"sbatch": nil, "allocation": {"salloc", "-N2", "--ntasks-per-node=1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, out := run(t, short("cluster: {nodes: 2, distinct_hosts: true}"), allocate...)
			p.ends(0)
			if got := strings.Join(nodesOf(document(t, out)), " "); got != "n1 n2" {
				t.Errorf("it ran on %q", got)
			}
			await(t, "no job is left", 20*time.Second, func() bool { return jobs() == "" }, jobs)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		p, out := run(t, long)
		events(t, p, out, `"case_progress"`, 30*time.Second)
		if text, err := exec.Command("scancel", strings.Fields(jobs())[0]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		t.Logf("known after %v", events(t, p, out, `"node_lost"`, 20*time.Second))
		p.ends(6)
		if _, err := os.Stat(out + "/results.json"); err != nil {
			t.Error(err)
		}
		// Slurm tells agents and ranks at a time: either may be the first to end
		either := regexp.MustCompile(`agent is gone|agent on this node ended|\(SIGTERM\)`)
		if said := p.said(); !either.MatchString(said) || !strings.Contains(said, "CANCELLED") {
			t.Errorf("it says\n%s", said)
		}
		await(t, "no job is left", 20*time.Second, func() bool { return jobs() == "" }, jobs)
	})
}
