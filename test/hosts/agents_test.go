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

	"weir/executor/cluster"
	"weir/results"
)

// world is an etcd and a cluster whose agents are processes of this host.
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
	server, err := cluster.StartServer(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w := &world{t: t, dir: t.TempDir(), etcd: server.Endpoint()}
	w.tool("cluster", "init", w.path("ca"))
	w.tool("cluster", "token", "--dir", w.path("ca"), "--out", w.path("token"))
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
	p := w.joins(node, "token", more...)
	p.hears("waits for sessions")
	return p
}

func (w *world) joins(node, token string, more ...string) *process {
	w.t.Helper()
	args := []string{
		"agent", "--etcd", w.etcd, "--node", node, "--state", w.path("state-" + node), "--join", w.path(token),
	}
	return start(w.t, w.command(append(args, more...)...))
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
	for i := range 2 { // the second time they have a certificate already
		p, out := w.run(short("cluster: {nodes: 2, labels: {rail: \"3\"}}"))
		p.ends(0)
		if got := strings.Join(nodesOf(document(t, out)), " "); got != "a b" {
			t.Errorf("session %d ran on %q", i, got)
		}
		for _, file := range []string{"logs/a/0/0.log", "logs/a/0/1.log", "samples/a/0/0.bin", "samples/a/1/0.bin"} {
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Errorf("session %d: %v", i, err)
			}
		}
	}
	for _, p := range []*process{a, b} {
		if n := strings.Count(p.said(), "has joined the cluster"); n != 1 {
			t.Errorf("an agent joined %d times:\n%s", n, p.said())
		}
		await(t, "two sessions are over", 20*time.Second,
			func() bool { return strings.Count(p.said(), " is over\n") == 2 }, p.said)
	}
	for _, k := range []struct{ name, top, want string }{
		{"a label that nobody has", `cluster: {nodes: 2, labels: {rail: "4"}}`,
			"it has no label rail=4, which the scenario asks for"},
		{"commands are not allowed", "cluster: {nodes: 2}\nsetup: [[touch, " + w.path("forbidden") + "]]",
			"start it with --allow-commands"},
		{"one host", "cluster: {nodes: 2, distinct_hosts: true}",
			"it is on the same host as node a, and the scenario asks for distinct ones"},
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
	p, _ := w.run(short("cluster: {nodes: 2}"), "--cluster", w.path("foreign"), "--wait", "2s")
	p.ends(6)
	if a.hears("refused: reading an invitation"); !strings.Contains(p.said(),
		"node a was invited and did not come: it says: refused: reading an invitation") {
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
	w.tool("cluster", "token", "--dir", w.path("ca"), "--ttl", "1s", "--out", w.path("late"))
	time.Sleep(1100 * time.Millisecond)
	p := w.joins("b", "late")
	p.ends(4)
	if !strings.Contains(p.said(), "make a new one with `weir cluster token`") {
		t.Errorf("of a token whose time is over it says %s", p.said())
	}
	p = w.joins("a", "token")
	p.ends(4)
	if !strings.Contains(p.said(), "another agent's that runs now") {
		t.Errorf("of a state directory in use it says %s", p.said())
	}
	p = w.joins("a", "token", "--state", w.path("elsewhere"))
	p.hears("waiting whether its lease runs out")
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
	a := w.command("agent", "--etcd", w.etcd, "--node", "a", "--state", w.path("state-a"), "--join", w.path("token"))
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

// TestARevokedNode has no part in sessions any more, and whoever has an old token neither,
// until it joins with a new one.
func TestARevokedNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a")
	b := w.agent("b")
	p, _ := w.run(short("cluster: {nodes: 2}"))
	p.ends(0)
	w.tool("cluster", "revoke", "--dir", w.path("ca"), "b")
	c := w.agent("c")
	p, out := w.run(short("cluster: {nodes: 2}"), "--wait", "8s")
	p.ends(6)
	for _, words := range []string{
		"node b was invited and did not come: it says: ", "the coordinator refuses this agent's certificate",
		"node c was invited and did not come: it says: joining the cluster: enrolling node c: the coordinator refuses: enrolling a node: the join token ",
		"was revoked with all",
	} {
		if !strings.Contains(p.said(), words) {
			t.Errorf("it does not say %q:\n%s", words, p.said())
		}
	}
	if got := nodesOf(document(t, out)); len(got) > 0 {
		t.Errorf("it ran on %q", got)
	}
	for _, agent := range []*process{b, c} {
		agent.signal(syscall.SIGTERM)
		agent.ends(143)
	}
	w.tool("cluster", "token", "--dir", w.path("ca"), "--out", w.path("again"))
	w.joins("b", "again", "--state", w.path("state-again")).hears("waits for sessions")
	p, out = w.run(short("cluster: {nodes: 2}"))
	p.ends(0)
	if got := strings.Join(nodesOf(document(t, out)), " "); got != "a b" {
		t.Errorf("it ran on %q", got)
	}
	w.clean()
}
