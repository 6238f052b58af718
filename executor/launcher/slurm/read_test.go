package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/golden"
)

func TestScripts(t *testing.T) {
	r := launcher.Request{
		Session: "s1", Nodes: 2, Binary: "/home/u u/weir", Dir: "/shared/50% off/out",
		Env: map[string]string{"UCX_TLS": "secret", "A": "b"},
	}
	l := Launcher{Flags: []string{"--partition=gpu", "-A project", `--comment=a "b" \ # c`, "--exclusive"}}
	for name, text := range map[string]string{
		"job": l.script(r), "step": launcher.ShellCommand(stepCommand(r, "17")...) + "\n",
	} {
		path := filepath.Join("testdata", name+".golden")
		golden.Equal(t, path, []byte(text))
		if out, err := exec.Command("sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	}
}

func TestCheckFlag(t *testing.T) {
	for flag, want := range map[string]string{
		"--partition=gpu": "", "-p gpu": "", "-pgpu": "", "--exclusive": "", "--nodelist=n[1-2]": "", "-x n3": "",
		"--gres=gpu:8": "",

		"gpu": "must be an option", "-": "must be an option", "--": "must be an option", "--x=\nrm": "must be one line",
		"--nodes=3": "sets --nodes itself", "-N3": "sets -N3 itself", "-N 3": "sets -N itself",
		"--job-name=x": "sets --job-name itself", "--wrap=x": "itself",
	} {
		if err := checkFlag(flag); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", flag, err, want)
		}
	}
}

// What Slurm 22.05 writes, as seen.
func TestStatus(t *testing.T) {
	const scontrol = "JobId=4 JobName=wrap UserId=root(0) JobState=FAILED Reason=NonZeroExitCode Dependency=(null) ExitCode=5:0 NodeList=n1 BatchHost=n1 Command=(null)"
	queue := "4|FAILED|n1|NonZeroExitCode\n2|PENDING||Resources\n1|RUNNING|n[1-2]|None\n3|PENDING||ReqNodeNotAvail, UnavailableNodes:n3\n"
	for _, c := range []struct {
		job  string
		want status
	}{
		{"1", status{state: "RUNNING", nodes: []string{"n1", "n2"}, reason: "None"}},
		{"2", status{state: "PENDING", reason: "Resources"}},
		{"3", status{state: "PENDING", reason: "ReqNodeNotAvail, UnavailableNodes:n3"}},
	} {
		got, ok := fromSqueue(queue, c.job)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(status{})); !ok || diff != "" {
			t.Error(diff)
		}
	}
	if _, ok := fromSqueue(queue, "5"); ok {
		t.Error("a job that is not in the queue is known")
	}
	got, known := fromScontrol(scontrol)
	want := status{state: "FAILED", reason: "NonZeroExitCode", nodes: []string{"n1"}, code: 5}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(status{})); !known || diff != "" {
		t.Error(diff)
	}
	if text, hopeless := explain("ReqNodeNotAvail, UnavailableNodes:n3"); hopeless ||
		!strings.Contains(text, "n3: a required node is down") {
		t.Error(text)
	}
	if text, _ := explain("QOSMaxJobsPerUserLimit"); !strings.Contains(text, "a limit of your account") {
		t.Error(text)
	}
}

func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := "00: agent of n1 is up\n01: up: and more\n01:\x1b[2J\nsrun: error: n[1,3]: tasks 0,2: Exited with exit code 3\n" +
		"srun: error: n2: task 1: Killed\nslurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED ***\n 2: part"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := readOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{o.of(0), o.of(1), o.of(2), o.of(3), o.own.Last(), o.ended["n1"], o.ended["n2"], o.ended["n3"]}
	want := []any{[]string{"agent of n1 is up"}, []string{"up: and more", "\uFFFD[2J"}, []string{"part"}, []string(nil),
		"slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED ***",
		ending{3, "Exited with exit code 3"}, ending{-1, "Killed"}, ending{3, "Exited with exit code 3"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(ending{})); diff != "" {
		t.Error(diff)
	}
	if o, err := readOutput(path + "-none"); err != nil || len(o.nodes) != 0 {
		t.Error(o, err)
	}
}

// A job's end is told in words that say what to do.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, []byte("0: weir: n1 cannot read it\nsrun: error: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &agents{what: "Slurm job 4", log: log, r: launcher.Request{Dir: dir}}
	for want, s := range map[string]status{
		"Slurm job 4: its time limit was reached: set a longer one with --time=MINUTES in the setting slurm.flag": {
			state: "TIMEOUT"},
		"Slurm job 4: a node failed":                       {state: "NODE_FAIL", signal: 1},
		"Slurm job 4: it ended with 66: n1 cannot read it": {state: "FAILED", code: 66},
		"Slurm job 4: its output file does not exist here": {state: "FAILED", signal: cannotWrite},
		"Slurm job 4: Slurm does not know it any more":     {state: gone},
		"Slurm job 4: a job with a higher priority":        {state: "PREEMPTED"},
	} {
		if err := a.failure(s); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	node := func(s status) launcher.Worker { return a.worker(s, &output{}, 0, "n1") }
	for want, s := range map[string]status{
		launcher.Lost: {state: "NODE_FAIL"}, launcher.Exited: {state: "TIMEOUT", code: 1},
		launcher.Pending: {state: "PENDING"}, launcher.Running: {state: "RUNNING"},
	} {
		if w := node(s); w.State != want || (w.Reason == "") != (want == launcher.Running || want == launcher.Pending) {
			t.Errorf("%s: %+v", s.state, w)
		}
	}
}

// Whatever stands in the output, reading it is bounded and prints nothing odd.
func FuzzOutput(f *testing.F) {
	f.Add("0: a\n1: b\nsrun: error: n[1-2]: tasks 0-1: Exited with exit code 3\n")
	f.Add("99999999999999999999: x\nsrun: error: @x: task 1: y\n\x1b[2J")
	f.Fuzz(func(t *testing.T, text string) {
		o := &output{nodes: map[int]*launcher.Lines{}, ended: map[string]ending{}}
		for line := range strings.Lines(text) {
			o.take(strings.TrimSuffix(line, "\n"))
		}
		for task := range o.nodes {
			for _, line := range o.of(task) {
				if line != launcher.Printable(line) {
					t.Errorf("%q is kept", line)
				}
			}
		}
		fromSqueue(text, "1")
		fromScontrol(text)
	})
}
