package hosts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/results"
)

// world is an etcd and a cluster of agents that are processes of this host.
type world struct {
	t    *testing.T
	dir  string
	etcd string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "et") // the test's own directory has too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := registry.StartServer(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w := &world{t: t, dir: t.TempDir(), etcd: server.Endpoint()}
	w.tool("cluster", "init", w.path("ca"), "--node", "a,b,c,n1")
	if err := os.Mkdir(w.path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(weir(w.t), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+w.path("tmp"), "XDG_CONFIG_HOME="+w.dir)
	return cmd
}

func (w *world) tool(args ...string) string {
	w.t.Helper()
	p := start(w.t, w.command(args...))
	p.ends(0)
	return p.said()
}

func (w *world) run(scenario string, more ...string) (*process, string) {
	w.t.Helper()
	out := w.t.TempDir() + "/out"
	args := []string{
		"run", write(w.t, "scenario.yaml", scenario), "--etcd", w.etcd, "--cluster", w.path("ca"), "--out", out,
		"--wait", "20s",
	}
	return start(w.t, w.command(append(args, more...)...)), out
}

// agent starts one and waits until it is registered.
func (w *world) agent(node string, more ...string) *process {
	w.t.Helper()
	p := w.starts(node, more...)
	p.hears("waits for sessions")
	return p
}

// starts starts an agent.
func (w *world) starts(node string, more ...string) *process {
	w.t.Helper()
	return start(w.t, w.command(append(w.agentOf(node), more...)...))
}

// agentOf are the words that start a node's agent.
func (w *world) agentOf(node string) []string {
	return []string{
		"agent", "--etcd", w.etcd, "--node", node, "--state", w.path("state-" + node), "--cluster", w.path("ca"),
	}
}

// clean says whether sessions have left nothing: no key, no rank, no file.
func (w *world) clean(ended ...*process) {
	w.t.Helper()
	for _, p := range ended {
		<-p.done
	}
	status := ""
	await(w.t, "no session is left in etcd", 20*time.Second, func() bool {
		status = w.tool("cluster", "status", "--etcd", w.etcd)
		return strings.HasPrefix(status, "no sessions")
	}, func() string { return status })
	await(w.t, "no file is left", 10*time.Second, func() bool {
		left, err := os.ReadDir(w.path("tmp"))
		return err == nil && len(left) == 0
	}, func() string { left, _ := os.ReadDir(w.path("tmp")); return fmt.Sprint(left) })
	await(w.t, "no rank is left", 10*time.Second, func() bool { return len(w.ranks()) == 0 },
		func() string { return strings.Join(w.ranks(), "\n") })
}

// ranks are the rank processes of this test.
func (w *world) ranks() []string {
	var list []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		command, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(command), "weir\x00rank") {
			continue // it has ended
		}
		environ, err := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		if err == nil && strings.Contains(string(environ), w.dir) {
			list = append(list, file)
		}
	}
	return list
}

func nodesOf(doc *results.Document) (names []string) {
	for _, n := range doc.Environment.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func TestRegisteredAgentsServeSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.agent("a", "--label", "rail=3"), w.agent("b", "--label", "rail=3")
	if status := w.tool("cluster", "status", "--etcd",
		w.etcd); !regexp.MustCompile(`(?m)^b +.* [1-9][0-9]* +[0-9]+ +rail=3 +no`).MatchString(status) {
		t.Errorf("of what agents offer the status says\n%s", status)
	}
	for i := range 2 {
		p, out := w.run(short("cluster: {nodes: 2, labels: {rail: \"3\"}}"))
		p.ends(0)
		if got := strings.Join(nodesOf(document(t, out)), " "); got != "a b" {
			t.Errorf("session %d ran on %q", i, got)
		}
		if !strings.Contains(p.said(), "nodes a and b are one host: nothing between them crosses a network (1 case)") {
			t.Errorf("session %d does not say that its nodes are one host:\n%s", i, p.said())
		}
		for _, file := range []string{"logs/a/0/0.log", "logs/a/0/1.log", "samples/a/0/0.bin", "samples/a/1/0.bin"} {
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Errorf("session %d: %v", i, err)
			}
		}
	}
	for _, p := range []*process{a, b} {
		await(t, "two sessions are over", 20*time.Second,
			func() bool { return strings.Count(p.said(), " is over\n") == 2 }, p.said)
	}
	for _, k := range []struct{ name, top, want string }{
		{"a label that nobody has", `cluster: {nodes: 2, labels: {rail: "4"}}`,
			"it has no label rail=4, which the scenario needs"},
		{"commands are not allowed", "cluster: {nodes: 2}\nsetup: [[touch, " + w.path("forbidden") + "]]",
			"start it with --allow-commands"},
		{"one host", "cluster: {nodes: 2, distinct_hosts: true}",
			"it is on the same host as node a, and the scenario needs distinct hosts"},
	} {
		p, _ := w.run(short(k.top), "--wait", "1500ms")
		p.ends(6)
		if !strings.Contains(p.said(), k.want) || !strings.Contains(p.said(), "of 2 nodes came") {
			t.Errorf("%s: it says\n%s", k.name, p.said())
		}
	}
	if _, err := os.Stat(w.path("forbidden")); err == nil {
		t.Error("an agent without --allow-commands ran one")
	}
	w.tool("cluster", "init", w.path("foreign"))
	p, _ := w.run(short("cluster: {nodes: 2}"), "--cluster", w.path("foreign"), "--wait", "4s")
	p.ends(6)
	a.hears("this is not the coordinator")
	if !strings.Contains(p.said(), "node a was invited and did not come: no link to the coordinator: ") ||
		!strings.Contains(p.said(), "this is not the coordinator: ") {
		t.Errorf("a coordinator of another cluster is told\n%s", p.said())
	}
	w.clean()
	a.signal(syscall.SIGTERM)
	a.ends(143)
}

func TestAgentsThatCannotRegister(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a")
	p := w.starts("a")
	p.ends(4)
	if !strings.Contains(p.said(), "in use by another agent") {
		t.Errorf("of a state directory in use it says %s", p.said())
	}
	p = w.starts("a", "--state", w.path("elsewhere"))
	p.hears("waiting for its lease to expire")
	p.ends(6)
	if !strings.Contains(p.said(), "give this one another --node") {
		t.Errorf("of a name in use it says %s", p.said())
	}
}

// TestAnAgentOutlivesItsReader: a pipe that nobody reads any more, as after a login that
// was cut off, is no reason to end without cleaning up.
func TestAnAgentOutlivesItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	a := w.command(w.agentOf("a")...)
	a.Stdout, a.Stderr = write, write
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	p, _ := w.run(short(""))
	p.ends(0)
	if err := a.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(); a.ProcessState.ExitCode() != 143 {
		t.Errorf("it ends with %v", err)
	}
	w.clean()
}

func TestSessionsShareNodesOrDoNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent("a")
	w.agent("b")
	first, out := w.run(long, "--exclusive")
	events(t, first, out, `"case_progress"`, 20*time.Second)
	second, _ := w.run(short("cluster: {nodes: 2}"), "--wait", "1s")
	second.ends(6)
	if !strings.Contains(second.said(), "-long-") || !strings.Contains(second.said(), "has all of node a") {
		t.Errorf("beside an exclusive session another is told\n%s", second.said())
	}
	first.signal(syscall.SIGINT)
	first.ends(130)
	w.clean()
	if strings.Contains(a.said(), "trying again") {
		t.Errorf("an interrupted session is a loss to its agent:\n%s", a.said())
	}
}

// TestAnAgentIsLostDuringALaunch: with a spare agent the session goes on.
func TestAnAgentIsLostDuringALaunch(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		signal syscall.Signal
		cause  string
	}{"told": {syscall.SIGTERM, "agent"}, "killed": {syscall.SIGKILL, "agent is gone"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.agent("a")
			b := w.agent("b")
			w.agent("c")
			p, out := w.run(long)
			events(t, p, out, `"case_progress"`, 20*time.Second)
			b.signal(k.signal)
			t.Logf("known after %v", events(t, p, out, `"node_lost"`, 10*time.Second))
			<-b.done
			p.ends(0)
			doc := document(t, out)
			failed := 0
			for _, l := range doc.Cases[0].Launches {
				if l.Failure == nil {
					continue
				}
				failed++
				if f := l.Failure; f.Node != "b" || f.Kind != results.NodeLost || !strings.Contains(f.Cause, k.cause) {
					t.Errorf("the launch failed with %+v", f)
				}
			}
			if failed != 1 || len(doc.Cases[0].Launches) != 4 {
				t.Errorf("%d of %d launches failed, want 1 of 4", failed, len(doc.Cases[0].Launches))
			}
			w.agent("b") // a name is free again, at once or when the lease has run out
			w.clean(p)
		})
	}
}

// TestTheCoordinatorIsKilled: its agents end their ranks, and what was finished is not
// lost.
func TestTheCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a")
	w.agent("b")
	p, out := w.run(long)
	events(t, p, out, `"launch_finished"`, 20*time.Second)
	p.signal(syscall.SIGKILL)
	p.ends(-1)
	t.Logf("ranks ended after %v", await(t, "ranks end", 10*time.Second, func() bool { return len(w.ranks()) == 0 },
		func() string { return "" }))
	again := start(t, w.command("run", "--resume", out, "--etcd", w.etcd, "--cluster", w.path("ca"), "--wait", "20s"))
	again.ends(0)
	doc := document(t, out)
	if n := len(doc.Cases[0].Launches); n != 3 || doc.Cases[0].Launches[0].Status != results.OK {
		t.Errorf("the resumed session has %d launches, want 3", n)
	}
	journal, err := os.ReadFile(filepath.Join(out, "events.ndjson"))
	if err != nil || strings.Count(string(journal), `"session_started"`) == 0 {
		t.Errorf("events of the resumed session: %v", err)
	}
	w.clean()
}

// TestCertificatesOfNodes: an agent with a certificate of another authority has no part in sessions
// until its files are replaced, which are read for each session.
func TestCertificatesOfNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("cluster", "init", w.path("old"), "--node", "b")
	w.agent("a")
	own := w.path("own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	copied := func(from string) {
		for _, file := range []string{"ca.pem", "b.pem", "b.key"} {
			text, err := os.ReadFile(filepath.Join(w.path(from), file))
			if err == nil {
				err = os.WriteFile(filepath.Join(own, file), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	copied("old")
	b := w.starts("b", "--cluster", own)
	b.hears("waits for sessions")
	p, out := w.run(short("cluster: {nodes: 2}"), "--wait", "8s")
	p.ends(6)
	if !strings.Contains(p.said(), "node b was invited and did not come: no link to the coordinator: ") {
		t.Errorf("it does not say why:\n%s", p.said())
	}
	if got := nodesOf(document(t, out)); len(got) > 0 {
		t.Errorf("it ran on %q", got)
	}
	copied("ca")
	p, out = w.run(short("cluster: {nodes: 2}"))
	p.ends(0)
	if got := strings.Join(nodesOf(document(t, out)), " "); got != "a b" {
		t.Errorf("it ran on %q", got)
	}
	w.clean()
}
