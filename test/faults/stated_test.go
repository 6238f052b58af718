package faults

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
)

// small is a cluster of two nodes, both of which a session needs.
func small(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv(lab.Required) != "required" {
		t.Skip("a part of make test-cluster, for its time")
	}
	t.Parallel()
	w := newCluster(t, weir(t), "a", "b")
	w.calm()
	return w
}

// launching waits until a session's ranks run.
func (s *session) launching() {
	s.w.t.Helper()
	if !eventually(bound, func() bool { return len(s.w.ranks()) > 0 || s.over() }) || s.over() {
		s.w.t.Fatalf("the session runs no rank\n%s", s.w.tail(s.log))
	}
}

// ends waits for a session, which must end so, and gives its document.
func (s *session) ends(code int) *results.Document {
	s.w.t.Helper()
	if !s.wait(bound) {
		s.w.t.Fatalf("the session does not end\n%s", s.w.tail(s.log))
	}
	if s.code() != code {
		s.w.t.Errorf("the session ends with %v, want %d\n%s\n%s", s.cmd.ProcessState, code, s.w.tail(s.log),
			s.w.tail("a.log"))
	}
	doc, err := s.document()
	if err != nil {
		s.w.t.Error(err)
	}
	if what, ok := s.w.settled(); !ok {
		s.w.t.Errorf("left behind: %s", what)
	}
	return doc
}

// TestEtcdAwayForTenSeconds: it is waited for, and no launch pays for it.
func TestEtcdAwayForTenSeconds(t *testing.T) {
	w := small(t)
	w.outlives(10 * time.Second)
}

// outlives holds a session to going on while etcd is away in the middle of it.
func (w *cluster) outlives(outage time.Duration) {
	w.t.Helper()
	s := w.run("")
	s.launching()
	undo, _ := w.inject(nil, injection{how: killed, target: "etcd"}, s.cmd)
	time.Sleep(outage)
	undo()
	for _, f := range failures(s.ends(0)) {
		w.t.Errorf("a launch failed of it: %v", f)
	}
}

// TestEveryEtcd: of each version of etcd that is promised, a session is served, and an
// outage in the middle of one waited for. The distribution has one of them; `make
// test-cluster` builds the others.
func TestEveryEtcd(t *testing.T) {
	if os.Getenv(lab.Required) != "required" {
		t.Skip("a part of make test-cluster, for its time")
	}
	others, err := filepath.Glob("../../.build/etcd/v*/etcd")
	if err != nil || len(others) < 2 {
		t.Fatalf("test/etcd/build has made %q, %v", others, err)
	}
	lab.Need(t, "etcd-server", "etcd")
	for _, program := range append(others, "etcd") {
		out, err := exec.Command(program, "--version").Output()
		if err != nil {
			t.Fatal(err)
		}
		version, _, _ := strings.Cut(string(out), "\n")
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := bringUp(&cluster{t: t, weir: weir(t), etcdProgram: program}, "a", "b")
			w.calm()
			w.outlives(3 * time.Second)
		})
	}
}

// TestStoppedRank: a rank that stands still fails its launch by name, and the launch is
// made again.
func TestStoppedRank(t *testing.T) {
	w := small(t)
	s := w.run("")
	undo, done := w.inject(rand.New(rand.NewPCG(1, 1)), injection{how: stopped, target: "rank"}, s.cmd)
	if !done {
		t.Fatal("there is no rank")
	}
	defer undo()
	named := false
	for _, f := range failures(s.ends(0)) {
		named = named || f.Rank >= 0 && f.Node != "" && f.Cause != ""
		t.Log(f)
	}
	if !named {
		t.Error("no failure names the rank")
	}
}

// TestAgentThatIsKilledAndStartedAgain: it has its place again at once, registered and in
// the session, which needs it and is shorter of time than its lease.
func TestAgentThatIsKilledAndStartedAgain(t *testing.T) {
	w := small(t)
	s := w.run("")
	s.launching()
	n := w.nodes[1]
	n.stop()
	n.start()
	named := false
	for _, f := range failures(s.ends(0)) {
		named = named || f.Node == n.name && f.Kind == results.NodeLost
		t.Log(f)
	}
	if !named {
		t.Error("no failure names the node")
	}
}

// TestSlowNode: a node that runs half of the time, a tenth of a second long, is slow and
// not lost.
func TestSlowNode(t *testing.T) {
	w := small(t)
	s := w.run("")
	agent := w.nodes[1].pid()
	for !s.over() {
		pids := []int{agent}
		for _, p := range processesOf(w.weir) {
			if p.parent == agent {
				pids = append(pids, p.pid)
			}
		}
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			for _, pid := range pids {
				syscall.Kill(pid, signal) // a rank may have ended
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	for _, f := range failures(s.ends(0)) {
		t.Errorf("a launch failed of it: %v", f)
	}
}

// tiny mounts a small file system where a directory is.
func (w *cluster) tiny(n *node, dir, size string) {
	w.t.Helper()
	if w.lab == nil {
		w.t.Skip("a file system that fills up needs root")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	argv := []string{"mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", dir}
	if n != nil {
		n.host.Run(argv...) // it goes with the host
		return
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		w.t.Skipf("mounting a small file system: %v\n%s", err, out)
	}
	w.t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// TestFullDiskOfTheCoordinator: a session that cannot keep its results ends and says so.
func TestFullDiskOfTheCoordinator(t *testing.T) {
	w := small(t)
	// room for next to nothing, for a part of the launches, for all but the report
	for _, size := range []string{"8k", "64k", "128k"} {
		s := w.run("", "--out", w.fullDisk(size))
		s.ends(6)
		if said := w.tail(s.log); !strings.Contains(said, "no space left on device") {
			t.Errorf("%s: it does not say what it lacks\n%s", size, said)
		}
	}
}

func (w *cluster) fullDisk(size string) string {
	dir := w.path("small-" + size)
	w.tiny(nil, dir, size)
	return filepath.Join(dir, "out")
}

// TestFullDiskOfAnAgent: an agent has nothing in its temporary directory that a launch
// depends on, so its session goes on without.
func TestFullDiskOfAnAgent(t *testing.T) {
	w := small(t)
	n := w.nodes[1]
	w.tiny(n, n.tmp, "16k")
	fill := n.host.Command("dd", "if=/dev/zero", "of="+n.tmp+"/full", "bs=1k", "count=64")
	if out, _ := fill.CombinedOutput(); !strings.Contains(string(out), "No space left") {
		t.Fatalf("the file system is not full: %s", out)
	}
	for _, f := range failures(w.run("").ends(0)) {
		t.Errorf("a launch failed of it: %v", f)
	}
}

// TestClocksOfHostsDiffer: hosts with monotonic clocks that are far apart, as after a
// jump of a virtual machine, measure as usual. The kernel has no namespace for the time of
// day, CLOCK_REALTIME, which can jump on all of a machine only: scripts/clock-jumps has a machine for that.
func TestClocksOfHostsDiffer(t *testing.T) {
	w := small(t)
	n := w.nodes[1]
	n.stop()
	n.under = []string{
		"unshare", "--time", "--monotonic", "86400", "--boottime", "86400", "--fork", "--kill-child", "--",
	}
	if w.lab == nil || n.host.Command(append(n.under, "true")...).Run() != nil {
		t.Skip("time namespaces are not permitted here")
	}
	if !eventually(settle, func() bool { _, idle := w.idle(); return !idle }) {
		t.Fatal("the registration of an agent that is gone stays")
	}
	n.start()
	w.calm()
}
