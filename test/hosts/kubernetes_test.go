package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/test/phase"
)

// pods is what a cluster has of sessions.
func pods(c *kube.Cluster) string {
	out, err := c.Try("get", "jobs,pods,services,secrets", "--selector", "weir.dev/session", "--output", "name")
	if err != nil {
		return err.Error()
	}
	return out
}

// gone holds a cluster and its machines to having nothing of sessions.
func gone(t *testing.T, c *kube.Cluster, l *lab.Lab) {
	t.Helper()
	if left := pods(c); left != "" { // the session waited for it before it returned
		t.Errorf("the cluster still has %s", left)
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}

// podProcesses are the processes of this machine that are the agent of a pod.
func podProcesses(pod string) (found []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(environ), "WEIR_NODE="+pod+"\x00") {
			continue // it has ended, or is another's
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && strings.Contains(string(command), "weir\x00agent\x00") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// TestKubernetes has the real program make pods of a real control plane, in which the
// real program is the agent.
func TestKubernetes(t *testing.T) {
	phase.Rest(t)
	l := lab.New(t, "k1", "k2", "k3")
	var nodes []kube.Node
	for _, h := range l.Hosts {
		nodes = append(nodes, kube.Node{Name: h.Name, Address: h.Address, Machine: h.Process()})
	}
	c := kube.New(t, nodes)
	run := func(t *testing.T, scenario string, settings ...string) (*process, string) {
		t.Helper()
		out := t.TempDir() + "/out"
		config := fmt.Sprintf("kubernetes: {command: %q, kubectl: %q%s}", weir(t), c.Kubectl,
			strings.Join(settings, ""))
		args := []string{"run", write(t, "scenario.yaml", scenario), "--kube-image", "weir:lab", "--launcher-config",
			write(t, "kube.yaml", config), "--out", out}
		return start(t, exec.Command(weir(t), args...)), out
	}

	t.Run("a result of two pods", func(t *testing.T) {
		p, out := run(t, short(`cluster: {nodes: 2, distinct_hosts: true}
artifacts: {mark: {command: [hostname]}}
`))
		p.ends(0)
		gone(t, c, l)
		doc := document(t, out)
		names := nodesOf(doc)
		if len(names) != 2 || !strings.HasPrefix(names[0], "weir-") || !strings.HasSuffix(names[0], "-0") ||
			!strings.HasSuffix(names[1], "-1") {
			t.Errorf("it ran on %q", names)
		}
		for _, file := range []string{"logs/a/0/0.log", "logs/a/0/1.log", "samples/a/0/0.bin", "samples/a/1/0.bin"} {
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Error(err)
			}
		}
		for _, name := range names {
			if log := read(t, filepath.Join(out, name+".log")); strings.Contains(log, "error") {
				t.Errorf("the agent of %s said\n%s", name, log)
			}
		}
		if got := strings.Join(artefacts(t, out), " "); got != strings.Join(names, " ") {
			t.Errorf("the artefacts say %q", got)
		}
	})

	t.Run("interrupted", func(t *testing.T) {
		p, out := run(t, long)
		events(t, p, out, `"case_progress"`, 60*time.Second)
		p.signal(syscall.SIGINT)
		p.ends(130)
		gone(t, c, l)
	})

	t.Run("interrupted while it waits for machines", func(t *testing.T) {
		p, _ := run(t, short("cluster: {nodes: 4}"))
		p.hears("Unschedulable: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules")
		p.signal(syscall.SIGINT)
		p.ends(130)
		gone(t, c, l)
	})

	t.Run("fewer machines than nodes", func(t *testing.T) {
		p, _ := run(t, short("cluster: {nodes: 4}"), ", wait: 5s")
		p.ends(6)
		for _, words := range []string{
			"Unschedulable: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules",
			"each agent needs a machine of its own", "the setting kubernetes.wait allows more",
		} {
			if !strings.Contains(p.said(), words) {
				t.Errorf("it does not say %q:\n%s", words, p.said())
			}
		}
		gone(t, c, l)
	})

	for name, how := range map[string]struct {
		kill func(t *testing.T, pod string)
		want string // in the cause
		told string // to the user
	}{
		"killed": {func(t *testing.T, pod string) {
			for _, pid := range podProcesses(pod) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}, "the node's agent is gone", " ended with exit code 137"},
		"deleted": {func(t *testing.T, pod string) {
			c.Ask("delete", "pod", "--selector", "batch.kubernetes.io/job-completion-index=1", "--wait=false")
		}, "agent", "somebody "}, // its last word, or that it left
	} {
		t.Run("a pod is "+name, func(t *testing.T) {
			p, out := run(t, long)
			events(t, p, out, `"case_progress"`, 60*time.Second)
			var pod string
			for _, line := range strings.Fields(pods(c)) {
				if name, ok := strings.CutPrefix(line, "job.batch/"); ok {
					pod = name + "-1"
				}
			}
			how.kill(t, pod)
			t.Logf("known after %v", events(t, p, out, `"node_lost"`, 10*time.Second))
			p.ends(6) // no other node has an agent
			if !strings.Contains(p.said(), "the agent on node "+pod) || !strings.Contains(p.said(), how.told) {
				t.Errorf("it says\n%s", p.said())
			}
			failed := 0
			for _, launch := range document(t, out).Cases[0].Launches {
				if f := launch.Failure; f != nil {
					failed++
					if f.Node != pod || f.Kind != results.NodeLost || !strings.Contains(f.Cause, how.want) {
						t.Errorf("the launch failed with %+v", f)
					}
				}
			}
			if failed != 1 {
				t.Errorf("%d launches failed, want 1:\n%s", failed, p.said())
			}
			gone(t, c, l)
		})
	}
}
