package hosts

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// overSSH runs a scenario on hosts of a lab.
func overSSH(t *testing.T, s lab.SSH, scenario, hosts string, more ...string) (*process, string) {
	t.Helper()
	out := t.TempDir() + "/out"
	args := []string{
		"run", write(t, "scenario.yaml", scenario), "--hosts", hosts, "--launcher-config", sshConfig(t, s),
		"--out", out,
	}
	return start(t, exec.Command(weir(t), append(args, more...)...)), out
}

// sshConfig is a file for --launcher-config by which ssh finds the hosts of a lab.
func sshConfig(t *testing.T, s lab.SSH) string {
	t.Helper()
	return write(t, "ssh.yaml", fmt.Sprintf("ssh: {config: %q, connect_timeout: 3s}", s.Config))
}

// leaves holds a host to having nothing of a session: no process, no file.
func leaves(t *testing.T, h *lab.Host) {
	t.Helper()
	left := func() string {
		const look = "pgrep -af 'weir[ ]|weir-' | grep -v pgrep; ls -A /dev/shm; find ~ -type f -not -path '*/.cache/weir/*'"
		out, _ := h.Command("sh", "-c", look).CombinedOutput()
		return strings.TrimSpace(string(out)) // of grep without a line it is an error
	}
	await(t, h.Name+" is left as it was", 15*time.Second, func() bool { return left() == "" }, left)
}

// TestOneCommandForTwoHosts is the first step of a user with two hosts and ssh: no file is written for it.
// Other fabrics are left out to save time.
func TestOneCommandForTwoHosts(t *testing.T) {
	t.Parallel()
	l := lab.New(t, "gpu01", "gpu02")
	out := t.TempDir() + "/out"
	p := start(t, exec.Command(weir(t), "run", "catalog:hosts", "--hosts", "gpu[01-02]", "--launcher-config",
		sshConfig(t, l.SSH()), "--out", out,
		"--launches", "1", "--only", "bandwidth[*fabric=tcp]"))
	<-p.done
	// 1: bandwidth of a busy machine
	if code := p.cmd.ProcessState.ExitCode(); code != 0 && code != 1 && !disturbed(p.said()) {
		t.Fatalf("exit code %d:\n%s", code, p.said())
	}
	doc := document(t, out)
	measured := 0
	for _, c := range doc.Cases {
		if c.Status == results.Skipped { // by --only
			continue
		}
		if measured++; c.Status != results.OK || strings.Join(c.Launches[0].Nodes, " ") != "gpu01 gpu02" ||
			c.Launches[0].Metrics.At("latency.p50") <= 0 || c.Launches[0].Metrics.At("clock.bound") <= 0 {
			t.Errorf("%s: %s %+v", c.Key, c.Status, c.Launches)
		}
	}
	if measured != 4 {
		t.Errorf("%d cases were measured, want 4", measured)
	}
	for _, n := range doc.Environment.Nodes {
		// both have this machine's clock
		if o := n.ClockOffset; o.Bound <= 0 || o.Bound > 10 || math.Abs(o.Value) > o.Bound {
			t.Errorf("of the clock of node %s it says %+v", n.Name, o)
		}
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}

// TestFromOneOfTwoHosts: a user on one of them needs a login on the other only.
func TestFromOneOfTwoHosts(t *testing.T) {
	t.Parallel()
	l := lab.New(t, "other")
	s := l.SSH()
	out := t.TempDir() + "/out"
	cmd := exec.Command(weir(t), "run", write(t, "scenario.yaml", short("cluster: {nodes: 2, distinct_hosts: true}")),
		"--hosts", "localhost,other", "--launcher-config", sshConfig(t, s), "--out", out)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	p := start(t, cmd)
	p.ends(0)
	if got := strings.Join(nodesOf(document(t, out)), " "); got != "localhost other" {
		t.Errorf("it ran on %q", got)
	}
	leaves(t, l.Host("other"))
}

func TestSSH(t *testing.T) {
	phase.Rest(t)
	l := lab.New(t, "h1", "h2", "h3")
	s := l.SSH()

	t.Run("a result of two hosts", func(t *testing.T) {
		p, out := overSSH(t, s, short(`cluster: {nodes: 2, distinct_hosts: true}
setup: [[sh, -c, 'echo "set up on $(hostname)"; touch /run/weir-was-here']]
artifacts: {mark: {command: [hostname]}}
`), "h1,h2")
		p.ends(0)
		doc := document(t, out)
		if got := strings.Join(nodesOf(doc), " "); got != "h1 h2" {
			t.Errorf("it ran on %q", got)
		}
		if got := strings.Join(artefacts(t, out), " "); got != "h1 h2" {
			t.Errorf("the artefacts say %q", got)
		}
		for _, file := range []string{"logs/a/0/0.log", "logs/a/0/1.log", "samples/a/0/0.bin"} {
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"h1", "h2"} {
			l.Host(name).Run("test", "-e", "/run/weir-was-here")
			leaves(t, l.Host(name))
		}
	})

	t.Run("interrupted", func(t *testing.T) {
		p, out := overSSH(t, s, long, "h1,h2")
		events(t, p, out, `"case_progress"`, 20*time.Second)
		p.signal(syscall.SIGINT)
		p.ends(130)
		leaves(t, l.Host("h1"))
		leaves(t, l.Host("h2"))
	})

	t.Run("the coordinator is killed", func(t *testing.T) {
		p, out := overSSH(t, s, long, "h1,h2")
		events(t, p, out, `"launch_finished"`, 30*time.Second)
		p.signal(syscall.SIGKILL)
		p.ends(-1)
		leaves(t, l.Host("h1"))
		leaves(t, l.Host("h2"))
		again := start(t, exec.Command(weir(t), "run", "--resume", out, "--hosts", "h1,h2", "--launcher-config",
			sshConfig(t, s)))
		again.ends(0)
		if n := len(document(t, out).Cases[0].Launches); n != 3 {
			t.Errorf("the resumed session has %d launches, want 3", n)
		}
	})

	for name, how := range map[string]lab.Cut{"silently": lab.Silent, "loudly": lab.Loud} {
		t.Run("a host is cut off "+name, func(t *testing.T) {
			p, out := overSSH(t, s, long, "h1,h2")
			events(t, p, out, `"case_progress"`, 20*time.Second)
			t.Cleanup(l.Host("h2").Heal)
			l.Host("h2").Cut(how)
			t.Logf("known after %v", events(t, p, out, `"node_lost"`, 10*time.Second))
			p.ends(6) // no other host has an agent
			l.Host("h2").Heal()
			failed := 0
			doc := document(t, out)
			for _, launch := range doc.Cases[0].Launches {
				if f := launch.Failure; f != nil {
					failed++
					if f.Node != "h2" || !strings.Contains(f.Cause, "the node's agent is gone") {
						t.Errorf("the launch failed with %+v", f)
					}
				}
			}
			if failed != 1 {
				t.Errorf("%d launches failed, want 1", failed)
			}
			for _, h := range l.Hosts {
				leaves(t, h)
			}
		})
	}

	// The next host that is named takes its place, and where there is none the same again.
	for name, c := range map[string]struct {
		hosts  string
		strike func(h *lab.Host)
		after  string // the nodes of the last launch
	}{
		"a host is lost": {"h1,h2,h3", func(h *lab.Host) { h.Cut(lab.Loud) }, "h1 h3"},
		"an agent is killed": {"h1,h2", func(h *lab.Host) { h.Run("pkill", "-KILL", "-f", "agent --bootstrap") },
			"h1 h2"},
	} {
		t.Run(name+", another takes its place", func(t *testing.T) {
			p, out := overSSH(t, s, long, c.hosts)
			events(t, p, out, `"case_progress"`, 20*time.Second)
			t.Cleanup(l.Host("h2").Heal)
			c.strike(l.Host("h2"))
			p.ends(0)
			l.Host("h2").Heal()
			all := document(t, out).Cases[0].Launches
			good := slices.DeleteFunc(slices.Clone(all), func(l *results.Launch) bool { return l.Status != results.OK })
			if len(good) != 3 || len(all) != 4 {
				t.Errorf("%d launches, %d of them good, want 4 and 3:\n%s", len(all), len(good), p.said())
			}
			if got := strings.Join(all[len(all)-1].Nodes, " "); got != c.after {
				t.Errorf("the last launch ran on %q, want %q:\n%s", got, c.after, p.said())
			}
			for _, h := range l.Hosts {
				leaves(t, h)
			}
		})
	}

	t.Run("labels", func(t *testing.T) {
		// a machine that is busy with other tests may be silent for longer than a node may
		again := strings.Replace(short(`cluster: {nodes: 1, labels: {rail: "4"}}`), "launches: 2",
			"launches: 2\n    retry: 2", 1)
		p, out := overSSH(t, s, again, "h[1-3]", "--node-label", "h2:rail=4", "--node-label", "zone=a")
		p.ends(0)
		doc := document(t, out)
		if got := strings.Join(nodesOf(doc), " "); got != "h2" {
			t.Errorf("it ran on %q", got)
		}
		if got := doc.Environment.Nodes[0].Labels; got["rail"] != "4" || got["zone"] != "a" {
			t.Errorf("the document says %v", got)
		}
		p, _ = overSSH(t, s, short(`cluster: {nodes: 1, labels: {rail: "5"}}`), "h[1-3]", "--node-label", "h2:rail=4")
		p.ends(4)
	})

	t.Run("one host twice", func(t *testing.T) {
		alias := strings.ReplaceAll(read(t, s.Config), "Host h1\n", "Host h1 other\n")
		config := lab.SSH{Config: write(t, "config", alias)}
		p, _ := overSSH(t, config, short("cluster: {nodes: 2, distinct_hosts: true}"), "h1,other")
		p.ends(6)
		if !strings.Contains(p.said(), "h1, other are one host") {
			t.Errorf("it says\n%s", p.said())
		}
	})

	t.Run("a host is down", func(t *testing.T) {
		l.Host("h1").PowerOff()
		p, out := overSSH(t, s, short("cluster: {nodes: 2}"), "h1,h2,h3")
		p.ends(0)
		if got := strings.Join(nodesOf(document(t, out)), " "); got != "h2 h3" {
			t.Errorf("it ran on %q:\n%s", got, p.said())
		}
		p, _ = overSSH(t, s, short("cluster: {nodes: 2}"), "h1,h2")
		p.ends(6)
		if !strings.Contains(p.said(), "starting agents over ssh: h1: logging in: ") {
			t.Errorf("it says\n%s", p.said())
		}
		leaves(t, l.Host("h2"))
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// artefacts are the texts of a session's artefacts.
func artefacts(t *testing.T, out string) (texts []string) {
	t.Helper()
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "artifacts") {
			texts = append(texts, strings.TrimSpace(read(t, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
