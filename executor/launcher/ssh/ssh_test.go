package ssh

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/lab"
)

// field is some hosts with sshd and a launcher that may log in there.
type field struct {
	*lab.Lab
	*coordinator
	ssh      lab.SSH
	launcher *Launcher
}

func newField(t *testing.T, hosts ...string) *field {
	t.Helper()
	l := lab.New(t, hosts...)
	s := l.SSH()
	c, err := newCoordinator()
	if err != nil {
		t.Fatal(err)
	}
	return &field{l, c, s, &Launcher{Hosts: hosts, Config: s.Config, ConnectTimeout: 3 * time.Second}}
}

func (f *field) start(t *testing.T) launcher.Handle {
	t.Helper()
	h, err := f.launcher.Start(t.Context(), f.request())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(context.Background(), time.Second) }) // stopped already: so be it
	return h
}

// left are the agents that run on a host.
func (f *field) left(host string) string {
	out, _ := f.Host(host).Command("pgrep", "-af", "agent --bootstrap").Output() // fails if there is none
	return string(out)
}

func (f *field) nothingIsLeft(t *testing.T, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		if !eventually(func() bool { return f.left(h) == "" }) {
			t.Errorf("%s still has %s", h, f.left(h))
		}
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

func eventually(is func() bool) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

func TestAgentsStartAndStop(t *testing.T) {
	f := newField(t, "a", "b", "c")
	for _, copies := range []int{3, 0} { // the second time the hosts have it
		f.said, f.agents = nil, map[string]*attached{}
		h := f.start(t)
		if got := f.printed("copying weir"); got != copies {
			t.Errorf("%d hosts got a copy, want %d", got, copies)
		}
		for _, name := range f.launcher.Hosts {
			a := f.agent(t, name)
			g := a.greeting
			if g.Host != name || g.Bootstrap.Session != session || g.Secret != "it's $HOME; a b" ||
				strings.Join(g.Bootstrap.Coordinator, " ") != "stdio" ||
				strings.Join(g.Arguments, " ") != "--bootstrap - --allow-commands" {
				t.Errorf("the agent of %s says %+v", name, g)
			}
			if a.conn.RemoteAddr().String() != name {
				t.Errorf("the connection to %s is to %s", name, a.conn.RemoteAddr())
			}
			if seen := f.Host(name).Run("ps", "-e", "-o", "args="); strings.Contains(seen, "a b") ||
				strings.Contains(seen, "PRIVATE") {
				t.Errorf("everybody on %s sees secrets:\n%s", name, seen)
			}
		}
		for name, w := range workers(t, h) {
			if w.State != launcher.Running || !slices.Contains(w.Log, "agent of "+name+" is up") {
				t.Errorf("%+v", w)
			}
		}
		if err := h.Stop(t.Context(), 10*time.Second); err != nil {
			t.Error(err)
		}
		for _, w := range workers(t, h) {
			if w.State != launcher.Exited || w.Code != 0 || w.Reason != "" || !slices.Contains(w.Log, "bye") {
				t.Errorf("%+v", w)
			}
		}
		f.nothingIsLeft(t, f.launcher.Hosts...)
	}
}

// Bytes of any kind and number pass in both directions.
func TestTheConnectionIsOne(t *testing.T) {
	f := newField(t, "a")
	f.start(t)
	// 600 kB, and what ssh at a terminal would take for an order
	line := strings.Repeat("0123456789abcdef\x00\xff\x1b~.", 30000) + "\n"
	for range 4 {
		if f.agent(t, "a").ask(t, line) != line {
			t.Fatal("the agent's echo is not what was sent")
		}
	}
}

func TestAHostThatIsDownIsNamed(t *testing.T) {
	f := newField(t, "a", "b", "c")
	f.Host("b").PowerOff()
	begin := time.Now()
	_, err := f.launcher.Start(t.Context(), f.request())
	if err == nil || !strings.Contains(err.Error(), "b: logging in: ssh says") ||
		!strings.Contains(err.Error(), "down or cut off") ||
		strings.Contains(err.Error(), "a: ") || strings.Contains(err.Error(), "c: ") {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("it took %v, with a timeout of 3s", took)
	}
	if f.printed("b: ") != 1 {
		t.Errorf("the user read %q", f.said)
	}
	f.nothingIsLeft(t, "a", "c")

	r := f.request()
	for nodes, unused := range map[int]string{1: ": b, c", 2: ""} { // c in b's place
		r.Nodes, f.said = nodes, nil
		h, err := f.launcher.Start(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if n := f.printed("only in place of others"); n != len(unused)/len(": b, c") || f.printed(unused) == 0 {
			t.Errorf("of hosts that %d nodes leave over the user read %q", nodes, f.said)
		}
		if err := h.Stop(t.Context(), lots); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatSSHSaysIsExplained(t *testing.T) {
	f := newField(t, "a")
	other := f.Write("ssh/other", 0o600, "")
	os.Remove(other)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
		other).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	public, err := os.ReadFile(other + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	empty := f.Write("ssh/empty", 0o600, "")
	changed := f.Write("ssh/changed", 0o600, f.Host("a").Address+" "+string(public))
	for name, c := range map[string]struct {
		options []string
		host    string
		want    []string
	}{
		"another key too": {[]string{"IdentityFile=" + other}, "a", nil}, // the right one is in the configuration too
		"no key": {[]string{"IdentityFile=none", "IdentitiesOnly=no", "PubkeyAuthentication=no"}, "a",
			[]string{"Permission denied", "ssh-copy-id a"}},
		"unknown host key": {[]string{"UserKnownHostsFile=" + empty}, "a",
			[]string{"Host key verification failed", "ssh a"}},
		"changed host key": {[]string{"UserKnownHostsFile=" + changed}, "a",
			[]string{"HAS CHANGED", "ssh-keygen -R a"}},
		"no sshd":      {[]string{"Port=23"}, "a", []string{"Connection refused", "no sshd listens"}},
		"unknown name": {nil, "nowhere.invalid", []string{"Could not resolve", "spelling"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Launcher{
				Hosts: []string{c.host}, Config: f.ssh.Config, ConnectTimeout: 3 * time.Second, Options: c.options,
			}
			h, err := l.Start(t.Context(), f.request())
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				if err := h.Stop(t.Context(), 10*time.Second); err != nil {
					t.Error(err)
				}
				return
			}
			for _, want := range append(c.want, c.host+": logging in") {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: must say %q", err, want)
				}
			}
		})
	}
}

func TestAgentsThatEndAreTold(t *testing.T) {
	f := newField(t, "a", "b")
	h := f.start(t)
	f.agent(t, "a").conn.Write([]byte("exit 3\n"))
	f.agent(t, "b").conn.Write([]byte("die\n"))
	state := func(node string) launcher.Worker { return workers(t, h)[node] }
	if !eventually(func() bool {
		return state("a").State != launcher.Running && state("b").State != launcher.Running
	}) {
		t.Fatal("they seem to run on")
	}
	if a := state("a"); a.State != launcher.Exited || a.Code != 3 || !strings.Contains(a.Reason, "cannot go on") {
		t.Errorf("%+v", a)
	}
	if b := state("b"); b.State != launcher.Lost || !strings.Contains(b.Reason, "lost, or the agent was killed") {
		t.Errorf("%+v", b)
	}
}

// Agents that have ended are replaced on hosts that were spare, and where there is none, or
// it is down, on their own again.
func TestAgentsAreReplaced(t *testing.T) {
	f := newField(t, "a", "b", "c", "d")
	r := f.request()
	r.Nodes = 2
	h, err := f.launcher.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop(context.Background(), lots)
	replace := func(node string, n, want int, running string) {
		t.Helper()
		f.agent(t, node).conn.Write([]byte("die\n"))
		if !eventually(func() bool { return workers(t, h)[node].State != launcher.Running }) {
			t.Fatal("it seems to run on")
		}
		if got := h.(launcher.Replacer).Replace(t.Context(), n); got != want {
			t.Errorf("%d have begun, want %d", got, want)
		}
		var names []string
		for name, w := range workers(t, h) {
			if w.State != launcher.Running {
				t.Errorf("%+v", w)
			}
			names = append(names, name)
		}
		if slices.Sort(names); strings.Join(names, " ") != running {
			t.Errorf("on %v run agents, want %s", names, running)
		}
	}
	f.Host("c").PowerOff()
	replace("b", 1, 1, "a d") // c is down
	if f.printed("c: ") == 0 {
		t.Error("nobody says that c is down")
	}
	replace("a", 2, 2, "a b d") // b has had none since
}

// A host that is cut off is lost after some seconds; what runs there is ended later.
func TestALostHostIsReaped(t *testing.T) {
	f := newField(t, "a", "b")
	h := f.start(t)
	f.agent(t, "a").ask(t, "be deaf\n") // or it would end with its connection
	f.agent(t, "b")
	f.Host("a").Cut(lab.Silent)
	if !eventually(func() bool { return workers(t, h)["a"].State == launcher.Lost }) {
		t.Fatalf("%+v", workers(t, h)["a"])
	}
	if w := workers(t, h); !strings.Contains(w["a"].Reason, "not responding") || w["b"].State != launcher.Running {
		t.Errorf("%+v", w)
	}
	f.Host("a").Heal()
	if f.left("a") == "" {
		t.Fatal("the agent should have been left")
	}
	if err := f.launcher.Reap(t.Context(), session+"0"); err != nil { // another session
		t.Fatal(err)
	}
	if f.left("a") == "" || workers(t, h)["b"].State != launcher.Running {
		t.Fatal("another session's end has ended these agents")
	}
	if err := f.launcher.Reap(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	f.nothingIsLeft(t, "a", "b")
}

func TestADeafAgentIsNamedWhenItIsStopped(t *testing.T) {
	f := newField(t, "a")
	h := f.start(t)
	f.agent(t, "a").ask(t, "be deaf\n")
	if err := h.Stop(t.Context(), 300*time.Millisecond); err == nil ||
		!strings.Contains(err.Error(), "a: the agent did not end within 300ms") {
		t.Errorf("stopping says %v", err)
	}
	if w := workers(t, h)["a"]; w.State != launcher.Lost {
		t.Errorf("%+v", w)
	}
}

// Agents end with a coordinator that is killed, as their input does.
func TestAgentsDoNotOutliveTheirCoordinator(t *testing.T) {
	f := newField(t, "a", "b")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "WEIR_TEST_COORDINATOR="+f.ssh.Config+" a b")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatal(line, err)
	}
	if f.left("a") == "" || f.left("b") == "" {
		t.Fatal("the agents do not run")
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	f.nothingIsLeft(t, "a", "b")
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	f := newField(t, "a", "b")
	f.start(t).Stop(t.Context(), 10*time.Second) // weir is there now
	f.Host("b").Cut(lab.Silent)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := f.launcher.Start(ctx, f.request()); err == nil ||
		!strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v to give up", took)
	}
	f.nothingIsLeft(t, "a")
}
