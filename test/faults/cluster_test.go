// Package faults breaks what sessions on registered agents depend on, at random
// moments, and holds them to what they promise then: they end in time, they say what
// it was, nothing that was finished is lost, and nothing is left behind.
package faults

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/port"
)

// cluster is an etcd, some agents each on its host, and a place where
// coordinators run. Its hosts are the lab's where there can be one. Elsewhere they are
// processes of this machine, and there are no links to cut.
type cluster struct {
	t     *testing.T
	dir   string
	weir  string // the program
	nodes []*node
	lab   *lab.Lab // nil: processes of this machine
	at    string   // where etcd and coordinators are

	scenario   string
	launches   int // that the scenario comes to
	agentFlags []string
	bystanders []string // processes of its hosts when there was no session

	etcdProgram string
	etcd        *exec.Cmd
	etcdURL     string
	secure      *secure       // what etcd wants of its clients, nil: nothing
	runs        int           // so far: they name directories
	keep        bool          // what is to be looked at
	killed      bool          // the last session was, so that the next one has to tidy up after it
	usual       int           // how many events a session has when nothing befalls it
	opening     time.Duration // that it took to open
}

// node is an agent and the host that it is on.
type node struct {
	w     *cluster
	name  string
	host  *lab.Host // nil: this machine
	cmd   *exec.Cmd // that brought the agent up, nil if it is down
	tmp   string    // its temporary directory
	cpus  string    // of this machine that are its host's
	under []string  // command that its agent is to run under
}

// newCluster starts a cluster of agents with these names, which ends with the test.
func newCluster(t *testing.T, weir string, names ...string) *cluster {
	t.Helper()
	return bringUp(&cluster{t: t, weir: weir}, names...)
}

// bringUp is newCluster of a cluster of which something is given.
func bringUp(w *cluster, names ...string) *cluster {
	t := w.t
	t.Helper()
	lab.Need(t, "etcd-server", "etcd")
	w.etcdProgram, w.at, w.scenario = cmp.Or(w.etcdProgram, "etcd"), "127.0.0.1", cmp.Or(w.scenario, scenario)
	w.launches = cmp.Or(w.launches, allLaunches)
	if os.Getuid() == 0 {
		w.lab = lab.New(t, names...) // skips where namespaces are not permitted
		w.at = w.lab.Address
	}
	var err error
	if w.dir, err = os.MkdirTemp("", "fw"); err != nil { // short, for a socket's path must fit
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !w.keep {
			os.RemoveAll(w.dir)
		}
	})
	nodes := append([]string{"c", "stray"}, names...)
	w.weirMust("cluster", "init", w.path("cluster"), "--node", strings.Join(nodes, ","))
	w.etcdURL = w.secure.scheme() + net.JoinHostPort(w.at, port.Free(t, w.at, 1)[0])
	w.startEtcd()
	t.Cleanup(func() { end(w.etcd) })
	for i, name := range names {
		n := &node{w: w, name: name, tmp: w.path("tmp-" + name), cpus: strconv.Itoa(i % runtime.NumCPU())}
		if w.lab != nil {
			n.host = w.lab.Host(name)
		}
		if err := os.MkdirAll(n.tmp, 0o755); err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, n)
		n.start()
		t.Cleanup(n.stop)
	}
	if err := os.MkdirAll(w.path("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *cluster) path(name string) string { return filepath.Join(w.dir, name) }

func (w *cluster) weirMust(args ...string) {
	w.t.Helper()
	if out, err := exec.Command(w.weir, args...).CombinedOutput(); err != nil {
		w.t.Fatalf("weir %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// logged appends the output of a command to a file.
func (w *cluster) logged(cmd *exec.Cmd, name string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = f, f
	err = cmd.Start()
	f.Close()
	if err != nil {
		w.t.Fatalf("%s: %v", strings.Join(cmd.Args, " "), err)
	}
}

// startEtcd starts etcd with whatever it knew before.
func (w *cluster) startEtcd() {
	w.t.Helper()
	// it has no peers, but wants an address for them: one of the kernel's choice
	w.etcd = exec.Command(w.etcdProgram, append([]string{"--data-dir", w.path("etcd"), "--log-level", "error",
		"--listen-client-urls", w.etcdURL, "--advertise-client-urls", w.etcdURL,
		"--listen-peer-urls", "http://127.0.0.1:0"}, w.secure.server(w.at)...)...)
	w.etcd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.logged(w.etcd, "etcd.log")
}

// end kills a process and waits until it is gone.
func end(cmd *exec.Cmd) {
	if cmd != nil && cmd.ProcessState == nil {
		cmd.Process.Kill() // gone already: so be it
		cmd.Wait()
	}
}

// start starts the node's agent.
func (n *node) start() {
	n.w.t.Helper()
	// hosts of one machine know nothing of each other's ranks, which would share its first processor
	argv := append(slices.Clone(n.under), "taskset", "--cpu-list", n.cpus, "env", "TMPDIR="+n.tmp, n.w.weir, "agent",
		"--etcd", n.w.etcdURL, "--node", n.name, "--state", n.w.path("state-"+n.name), "--cluster", n.w.path("cluster"))
	argv = append(argv, append(n.w.secure.client(), n.w.agentFlags...)...)
	if n.host != nil {
		n.host.PowerOn()
		n.cmd = n.host.Command(argv...)
	} else {
		n.cmd = exec.Command(argv[0], argv[1:]...)
		n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	n.w.logged(n.cmd, n.name+".log")
}

// stop kills the agent, whatever state it is in.
func (n *node) stop() {
	if pid := n.pid(); pid > 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	end(n.cmd)
	n.cmd = nil
}

// pid is the agent's process as this machine sees it, whatever stands between; 0: none.
func (n *node) pid() int {
	return outermost(processesOf(n.w.weir), func(p proc) bool {
		return p.verb() == "agent" && p.has(n.w.path("state-"+n.name))
	})
}

// outermost is the process that fits and has a parent that does not, 0 if there is none. A forked child counts as its
// parent until it executes another program.
func outermost(all []proc, fits func(proc) bool) int {
	fit := map[int]bool{}
	for _, p := range all {
		fit[p.pid] = fits(p)
	}
	for _, p := range all {
		if fit[p.pid] && !fit[p.parent] {
			return p.pid
		}
	}
	return 0
}

// A fork of an agent, which may come first in the order of names, is not the agent.
func TestOutermost(t *testing.T) {
	all := []proc{
		{10234, 8177, []string{"weir", "agent"}}, {8177, 8176, []string{"weir", "agent"}},
		{9, 8177, []string{"weir", "rank"}},
	}
	agent := func(p proc) bool { return p.verb() == "agent" }
	if got := outermost(all, agent); got != 8177 {
		t.Errorf("%d", got)
	}
	if got := outermost(all[2:], agent); got != 0 {
		t.Errorf("%d of none", got)
	}
}

// own are the processes of weir that belong to the world, but for its agents.
func (w *cluster) own() (all []proc) {
	agents := map[int]bool{}
	for _, n := range w.nodes {
		agents[n.pid()] = true
	}
	for _, p := range processesOf(w.weir) {
		if !agents[p.pid] && (agents[p.parent] || bytes.Contains(p.environ(), []byte("TMPDIR="+w.dir))) {
			all = append(all, p)
		}
	}
	return all
}

// ranks are the processes of the world's ranks.
func (w *cluster) ranks() (pids []int) {
	for _, p := range w.own() {
		if p.verb() == "rank" {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// eventually waits until something is, and says whether it came to that.
func eventually(within time.Duration, is func() bool) bool {
	return eventuallyEach(20*time.Millisecond, within, is)
}

func eventuallyEach(pause, within time.Duration, is func() bool) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(pause) {
		if is() {
			return true
		}
	}
	return is()
}

// tail is the end of one of the world's logs.
func (w *cluster) tail(name string) string {
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%s:\n  %s", name, strings.Join(lines[max(0, len(lines)-12):], "\n  "))
}
