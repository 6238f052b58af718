package slurm

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// TestSlurm has one cluster for all its parts, each of which leaves it empty.
func TestSlurm(t *testing.T) {
	phase.Long(t)
	l := lab.New(t, "ctl", "n1", "n2", "n3")
	t.Setenv("SLURM_CONF", l.Slurm())
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "SLURM_") && name != "SLURM_CONF" {
			t.Setenv(name, "")
		}
	}
	c := newCoordinator(t, l.Address)
	for name, part := range map[string]func(*testing.T, *lab.Lab, *coordinator){
		"a job": aJob, "ends": agentsThatEnd, "queue": theQueue, "hopeless": hopeless, "not shared": notShared,
		"allocation": withinAnAllocation, "reap": reaped, "deaf": deaf, "hosts": hostLists,
	} {
		t.Run(name, func(t *testing.T) {
			c.dir = filepath.Join(l.Dir, "home of", strings.ReplaceAll(name, " ", "%")) // names that must be quoted
			if err := os.MkdirAll(c.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			part(t, l, c)
			if !eventually(func() bool { return slurmSays(t, "squeue", "-h") == "" }) {
				t.Errorf("left in the queue: %s", slurmSays(t, "squeue", "-h"))
			}
			if _, err := os.Stat(filepath.Join(c.dir, bootstrapFile)); err == nil {
				t.Error("the bootstrap is left")
			}
		})
	}
}

func slurmSays(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func start(t *testing.T, l *Launcher, r launcher.Request) launcher.Handle {
	t.Helper()
	h, err := l.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(context.Background(), 10*time.Second) }) // stopped already: so be it
	return h
}

func stop(t *testing.T, h launcher.Handle) {
	t.Helper()
	if err := h.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
}

func workers(t *testing.T, h launcher.Handle) map[string]launcher.Worker {
	t.Helper()
	all, err := h.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]launcher.Worker{}
	for _, w := range all {
		by[w.Node] = w
	}
	return by
}

func aJob(t *testing.T, _ *lab.Lab, c *coordinator) {
	h := start(t, &Launcher{Flags: []string{"--comment=two words # no comment", "-p debug"}}, c.request(t, "s1", 3))
	for rank, node := range []string{"n1", "n2", "n3"} {
		a := c.agent(t, node)
		if a.Identity.Rule != "slurm" || a.Identity.Node != node || a.Identity.Rank != rank || a.Identity.Size != 3 ||
			a.Identity.Coordinator != "n1" ||
			a.Secret != "it's $HOME; a b" || a.Node != "*" || a.Arguments[2] != "--allow-commands" {
			t.Errorf("the agent of %s says %+v", node, a.greeting)
		}
	}
	if !eventually(func() bool { return slices.Contains(workers(t, h)["n2"].Log, "agent of n2 is up") }) {
		t.Errorf("the log of n2 is %q", workers(t, h)["n2"].Log)
	}
	for node, w := range workers(t, h) {
		if w.State != launcher.Running || w.Reason != "" {
			t.Errorf("%s: %+v", node, w)
		}
	}
	if st, err := os.Stat(filepath.Join(c.dir, bootstrapFile)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the bootstrap: %v, %v", st, err)
	}
	script, err := os.ReadFile(filepath.Join(c.dir, scriptFile))
	if err != nil || strings.Contains(string(script), "a b") || strings.Contains(string(script), "PRIVATE") {
		t.Errorf("the script has a secret: %v\n%s", err, script)
	}
	if shown := slurmSays(t, "scontrol", "show", "job", strings.Fields(c.said[0])[2]); !strings.Contains(shown,
		"Comment=two words # no comment") {
		t.Errorf("the comment has not arrived:\n%s", shown)
	}
	stop(t, h)
	stop(t, h) // once more is nothing
	for node, w := range workers(t, h) {
		if w.State != launcher.Exited || w.Code != 0 || w.Reason != "" || !slices.Contains(w.Log, "told to end") {
			t.Errorf("%s: %+v", node, w)
		}
	}
}

func agentsThatEnd(t *testing.T, _ *lab.Lab, c *coordinator) {
	h := start(t, &Launcher{}, c.request(t, "s1", 3))
	last := c.agent(t, "n3") // an agent that is not up yet gets no signal
	c.agent(t, "n1").order(t, "exit 3")
	c.agent(t, "n2").order(t, "die")
	if !eventually(func() bool {
		w := workers(t, h)
		// srun passes on the last lines of a task after it has noted its end
		return w["n1"].State == launcher.Exited && w["n2"].State == launcher.Exited &&
			strings.Contains(w["n1"].Reason, "cannot go on")
	}) {
		t.Errorf("%+v", workers(t, h))
	}
	w := workers(t, h)
	if w["n1"].Code != 3 || !strings.Contains(w["n1"].Reason, "n1: the agent ended with 3: cannot go on") {
		t.Errorf("%+v", w["n1"])
	}
	if w["n2"].Code != -1 || !strings.Contains(w["n2"].Reason, `n2: srun says "Killed"`) {
		t.Errorf("%+v", w["n2"])
	}
	if w["n3"].State != launcher.Running {
		t.Errorf("%+v", w["n3"])
	}
	stop(t, h)
	// although the others had ended before; srun may then lose what a task says last
	if err := last.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	told, err := last.in.ReadString('\n')
	if w := workers(t, h)["n3"]; told != "told to end\n" || w.State != launcher.Exited || w.Code != 0 {
		text, _ := os.ReadFile(h.(*agents).log)
		t.Errorf("it printed %q, %v: %+v of\n%s", told, err, w, text)
	}
}

func theQueue(t *testing.T, _ *lab.Lab, c *coordinator) {
	other := slurmSays(t, "sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 100")
	defer exec.Command("scancel", other).Run() // gone already: so be it
	if !eventually(func() bool { return slurmSays(t, "squeue", "-h", "-j", other, "-o", "%T") == "RUNNING" }) {
		t.Fatal("the other job does not run")
	}
	_, err := (&Launcher{Wait: time.Second}).Start(t.Context(), c.request(t, "s1", 3))
	if err == nil || !strings.Contains(err.Error(), "has waited for 1s: Resources: it is next") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(c.printed(), "waits: Resources: it is next, when enough nodes are free") {
		t.Errorf("the user read %s", c.printed())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := (&Launcher{}).Start(ctx, c.request(t, "s1", 3)); err == nil ||
		!strings.Contains(err.Error(), "deadline") {
		t.Errorf("the error is %v", err)
	}
	if left := slurmSays(t, "squeue", "-h", "-o", "%i"); left != other {
		t.Errorf("in the queue are %q, want %s", left, other)
	}
	time.AfterFunc(time.Second, func() { exec.Command("scancel", other).Run() })
	h := start(t, &Launcher{Wait: time.Minute}, c.request(t, "s1", 3))
	if !strings.Contains(c.printed(), "runs on n1 n2 n3") {
		t.Errorf("the user read %s", c.printed())
	}
	c.agent(t, "n3")
	stop(t, h)
}

func hopeless(t *testing.T, _ *lab.Lab, c *coordinator) {
	for _, k := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--time=10", "-p short"}, "cannot start: Partition"},
		{[]string{"--partition=nope"}, "sbatch says"},
	} {
		_, err := (&Launcher{Flags: k.flags}).Start(t.Context(), c.request(t, "s1", 1))
		if err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%q: %v", k.flags, err)
		}
	}
}

// A node that does not have the files says so; so does Slurm, of the first node.
func notShared(t *testing.T, l *lab.Lab, c *coordinator) {
	hide := func(node, dir string) (show func()) {
		l.Host(node).Run("mount", "-t", "tmpfs", "tmpfs", dir)
		return func() { l.Host(node).Run("umount", dir) }
	}
	umount := hide("n2", c.dir)
	r := c.request(t, "s1", 2)
	h := start(t, &Launcher{Flags: []string{"--nodelist=n1,n2"}}, r)
	c.agent(t, "n1")
	if !eventually(func() bool { return workers(t, h)["n2"].Code == 66 }) {
		t.Fatalf("%+v", workers(t, h))
	}
	if w := workers(t, h)["n2"]; !strings.Contains(w.Reason, "n2 cannot read "+c.dir) ||
		!strings.Contains(w.Reason, "a file system that all nodes share") {
		t.Errorf("%+v", w)
	}
	stop(t, h)
	umount()
	// On the first node it is Slurm that cannot open the output, or opens one elsewhere.
	const want = "its output file does not exist here: the session's directory (--out), "
	for _, dir := range []string{c.dir, filepath.Dir(c.dir)} {
		umount := hide("n2", dir)
		h, err := (&Launcher{Flags: []string{"--nodelist=n2"}}).Start(t.Context(), c.request(t, "s2", 1))
		if err == nil {
			// a job that is over may be COMPLETING for a while, again and again, which is a reason too
			eventually(func() bool {
				err = errors.New(workers(t, h)["n2"].Reason)
				return strings.Contains(err.Error(), want)
			})
			stop(t, h)
		}
		if !strings.Contains(err.Error(), want+c.dir) {
			t.Error(err)
		}
		umount()
	}
}

func withinAnAllocation(t *testing.T, _ *lab.Lab, c *coordinator) {
	out := slurmSays(t, "salloc", "--no-shell", "-N2", "--exclusive")
	_, after, _ := strings.Cut(out, "job allocation ")
	job := strings.Trim(strings.Fields(after + " none")[0], ".")
	defer exec.Command("scancel", job).Run() // gone already: so be it
	t.Setenv("SLURM_JOB_ID", job)
	t.Setenv("SLURM_JOB_NUM_NODES", "2")
	if _, err := (&Launcher{}).Start(t.Context(), c.request(t, "s1", 3)); err == nil ||
		!strings.Contains(err.Error(), "has 2") {
		t.Errorf("three nodes of two: %v", err)
	}
	for _, nodes := range []int{0, 1} {
		h := start(t, &Launcher{Flags: []string{"-p debug"}}, c.request(t, "s1", nodes))
		first := c.agent(t, "n1")
		if first.Identity.Rule != "slurm" || first.Secret != "it's $HOME; a b" {
			t.Errorf("%+v", first.greeting)
		}
		if nodes == 0 {
			c.agent(t, "n2")
			first.order(t, "exit 3")
			if !eventually(func() bool { return workers(t, h)["n1"].Code == 3 }) {
				t.Errorf("%+v", workers(t, h))
			}
			if w := workers(t, h)["n2"]; w.State != launcher.Running || !slices.Contains(w.Log, "agent of n2 is up") {
				t.Errorf("%+v", w)
			}
		}
		stop(t, h)
		for node, w := range workers(t, h) {
			if w.State != launcher.Exited {
				t.Errorf("%s: %+v", node, w)
			}
		}
	}
	if state := slurmSays(t, "squeue", "-h", "-j", job, "-o", "%T"); state != "RUNNING" {
		t.Errorf("the allocation is %s", state)
	}
}

func reaped(t *testing.T, _ *lab.Lab, c *coordinator) {
	start(t, &Launcher{Flags: []string{"-w n1"}}, c.request(t, "s1", 1))
	r := c.request(t, "s10", 1)
	h := start(t, &Launcher{Flags: []string{"-w n2"}}, r)
	c.agent(t, "n2")
	if err := (&Launcher{}).Reap(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return slurmSays(t, "squeue", "-h", "-o", "%j") == "weir-s10" }) {
		t.Errorf("in the queue are %s", slurmSays(t, "squeue", "-h"))
	}
	stop(t, h)
}

func deaf(t *testing.T, _ *lab.Lab, c *coordinator) {
	h := start(t, &Launcher{}, c.request(t, "s1", 1))
	a := c.agent(t, "n1")
	a.order(t, "be deaf")
	if line, err := a.in.ReadString('\n'); err != nil || line != "yes\n" {
		t.Fatal(line, err)
	}
	if err := h.Stop(t.Context(), 500*time.Millisecond); err == nil ||
		!strings.Contains(err.Error(), "did not end within 500ms") {
		t.Errorf("stopping says %v", err)
	}
}

// Lists of hosts mean the same to us as to Slurm.
func hostLists(t *testing.T, _ *lab.Lab, _ *coordinator) {
	for _, list := range []string{
		"n1", "n[1-3,7]", "n[08-11]", "a1,n[1-2],b[3,5-6]", "r[1-2]n[01-03]", "x[1-2]-ib[3-4]",
	} {
		ours, err := launcher.Hosts(list)
		if theirs := strings.Fields(slurmSays(t, "scontrol", "show", "hostnames", list)); err != nil ||
			!slices.Equal(ours, theirs) {
			t.Errorf("%s is %q (%v), Slurm says %q", list, ours, err, theirs)
		}
	}
}
